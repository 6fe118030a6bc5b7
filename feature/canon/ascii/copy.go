package ascii

// Classes say what the bytes of ASCII are, and what becomes of them. Those without a
// class separate.
type Classes struct {
	Class [128]uint8
	Form  [128]byte // what is written: of a letter the lower-case one, of what separates a space
}

// Classes of bytes.
const (
	Letter uint8 = 1 << iota
	Digit
	Blank  // white space within a line
	Symbol // separates, and is written
	Dot    // joins digits; separates elsewhere
	Comma  // may join digits; separates elsewhere
	Quote  // joins letters; separates elsewhere
)

// A Start is where a piece or a symbol starts, in what was written and in the text.
type Start struct{ Out, In uint32 }

// Copied says how far Copy came.
type Copied struct {
	Read, Written int
	Starts        int
	Separated     bool // what comes starts a new piece
}

// Copy writes the canonical form of text to dst, whose last byte before was a space,
// as one behind a separator: pieces and symbols, one space between each two, and one
// behind the last if something is there that tells where it ends. Of each it writes the
// start to starts.
//
// It stops at the end of the text, or before it where a byte depends on what is not
// ASCII, or a comma is between digits. If text goes on behind its end, it must not end
// in a symbol, dot, comma or quote, which depend on the next byte.
//
// dst has room for twice the text and two blocks, starts for as many as text has bytes.
// Only to be called where CanCopy is true.
func Copy(c *Classes, dst, text []byte, starts []Start) Copied {
	_ = dst[2*len(text)+2*Block-1]
	_ = starts[len(text)-1]
	var r Copied
	r.Read, r.Written, r.Starts, r.Separated = copyAVX512(c, &dst[0], &text[0], len(text), &starts[0])
	return r
}
