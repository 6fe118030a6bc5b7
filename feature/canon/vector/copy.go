// Package vector has loops over text in vector instructions, 64 bytes at a time. They cover nearly
// all of most texts: ASCII letters, digits and punctuation, and Han with its punctuation. Package
// canon processes the rest, character by character. Both must give equal results.
package vector

import "unsafe"

// Classes classify ASCII bytes and some other characters. ASCII bytes without a class separate;
// Copy stops before any other character without one. Han from U+4E00 to U+9FFF needs no class.
type Classes struct {
	Class [128]uint8

	General [64]uint8 // of U+2000 to U+203F
	CJK     [64]uint8 // of U+3000 to U+303F
	Full    [64]uint8 // of U+FF00 to U+FF3F
}

// Classes of characters.
const (
	Letter    uint8 = 1 << iota // ASCII only, A to Z and a to z; written in lower case
	Digit                       // ASCII only
	Blank                       // white space within a line
	Symbol                      // separates and is written; ASCII only
	Dot                         // joins digits; separates elsewhere
	Comma                       // may join digits; separates elsewhere
	Quote                       // joins letters, like an apostrophe; separates elsewhere
	Separator                   // any other separator outside ASCII
)

// A Start is the start of a piece or symbol in output and text, and the number of Han before it.
type Start struct{ Out, In, Han uint32 }

// Copied is the result of Copy.
type Copied struct {
	Read, Written int
	Starts        int
	Han           int  // number of characters
	Separated     bool // the next rune starts a new piece
}

// Copy writes the canonical form of text, which follows a separator, to dst: pieces and symbols,
// separated by single spaces. The byte before dst must be a space. Copy writes the start of each
// piece and symbol to starts. A space follows the last one if a separator other than a symbol was
// read after it. Trailing blanks leave a space, except after a Han character.
//
// Copy stops at the end of text, or earlier if the next byte depends on others. Such are a
// character without a class, a byte before one that may affect it, a comma between digits, and
// white space before Han.
//
// If more text follows, text must end in a letter, a digit, Han, or a character that always
// separates.
//
// dst needs room for twice the text and two blocks, and starts one entry per byte of text. Call
// Copy only if CanCopy is true.
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
