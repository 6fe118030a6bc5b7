// Package vector has the loops over text in vector instructions, 64 bytes at a time. They cover
// nearly all of nearly all texts: letters, digits and punctuation in ASCII, and Han with its
// punctuation. It leaves the rest to package canon, which can do everything, character by
// character. Its results must equal those of canon.
package vector

import "unsafe"

// Classes classify the bytes of ASCII and some other characters. An ASCII byte without a class
// separates; before any other character without a class, Copy stops. Han from U+4E00 to U+9FFF
// needs no class.
type Classes struct {
	Class [128]uint8

	General [64]uint8 // of U+2000 to U+203F
	CJK     [64]uint8 // of U+3000 to U+303F
	Full    [64]uint8 // of U+FF00 to U+FF3F
}

// Classes of characters.
const (
	Letter    uint8 = 1 << iota // in ASCII alone, A to Z and a to z; written in lower case
	Digit                       // in ASCII alone
	Blank                       // white space within a line
	Symbol                      // separates, and is written; in ASCII alone
	Dot                         // joins digits; separates elsewhere
	Comma                       // may join digits; separates elsewhere
	Quote                       // joins letters, as an apostrophe; separates elsewhere
	Separator                   // beyond ASCII
)

// A Start is the start of a piece or a symbol, in the output and in the text, and the number of Han
// characters before it.
type Start struct{ Out, In, Han uint32 }

// Copied says how far Copy came.
type Copied struct {
	Read, Written int
	Starts        int
	Han           int  // characters
	Separated     bool // the next rune starts a new piece
}

// Copy writes the canonical form of text to dst, whose last byte before was a space, as one behind
// a separator: pieces and symbols, with one space between each two. It writes the start of each to
// starts. Behind the last there is a space if something was read that separates, unless it is a
// symbol; blanks behind a Han character leave none, behind other words one.
//
// It stops at the end of the text, or before it at a byte that depends on others than these: a
// character without class, a byte before one that may depend on it, a comma between digits, white
// space before Han.
//
// If text goes on behind its end, it must end in a letter, a digit, a character that separates in
// any case, or Han.
//
// dst has room for twice the text and two blocks, starts for as many as text has bytes. Only to be
// called if CanCopy is true.
func Copy(c *Classes, dst, text []byte, starts []Start) Copied {
	return copyWith(hasAVX512, c, dst, text, starts)
}

func copyWith(avx512 bool, c *Classes, dst, text []byte, starts []Start) (r Copied) {
	_ = dst[2*len(text)+2*Block-1]
	_ = starts[len(text)-1]
	var starting int
	if avx512 {
		r.Read, r.Written, starting, r.Han, r.Separated = copyAVX512(c, &dst[0], &text[0], len(text), &starts[0])
	} else {
		r.Read, r.Written, starting, r.Han, r.Separated = copyAVX2(c, &dst[0], &text[0], len(text), &starts[0])
	}
	r.Starts = starting / int(unsafe.Sizeof(Start{}))
	return r
}
