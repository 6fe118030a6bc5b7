package feature

import (
	"encoding/binary"
	"unicode/utf8"
)

const (
	// maxRun is the longest stretch of text without a separator, in bytes, that
	// is one segment; a longer one ends at the first character past it. It
	// bounds the memory for a text without punctuation. Being far longer than
	// the pieces a segment is cut into, it costs about one of 400 of them.
	maxRun = 64 << 10

	// maxGrowth is how many bytes of canonical form one byte of text can have:
	// U+FDFA, three bytes, is written out as 33.
	maxGrowth = 11

	// flushAt is the length of canonical text that is hashed in one go. Longer
	// texts are hashed in parts.
	flushAt = 64 << 10

	// slack lets the scanner store eight bytes where it has fewer to add.
	slack = 64

	// maxSymbol is how many bytes of a symbol and the marks upon it count.
	maxSymbol = 64
)

// An Extractor computes Sets. It is not for concurrent use: have one for each
// worker. It owns about 900 KiB of buffers, of which ordinary documents touch
// as much as they are long.
type Extractor struct {
	scheme Scheme
	hash   hasher
	tables *tables
	folder *folder
	cache  formCache
	chosen chooser
	cuts   []cutPiece

	// buf[1:w] is the canonical text not yet hashed, pieces joined by spaces;
	// buf[0] is a space, so that the byte before a piece always is one. The
	// piece under way starts at seg. Its width is its bytes plus wider.
	buf    []byte
	w      int
	seg    int
	wider  int
	cjk    int    // CJK characters in it
	spaces int    // spaces in it
	loose  bool   // there may be marks in it that stand alone
	short  length // of the pieces too short to be segments
}

// NewExtractor returns an Extractor for the scheme, or the error of Validate.
func NewExtractor(s Scheme) (*Extractor, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s = s.filled()
	t := unicodeTables()
	return &Extractor{
		scheme: s,
		hash:   newHasher(s.Key),
		tables: t,
		folder: newFolder(t),
		chosen: newChooser(s.Segments),
		buf:    make([]byte, 1+flushAt+maxRun*maxGrowth+slack),
	}, nil
}

// Extract overwrites dst with what is known of text. It keeps no reference to
// either. Any bytes will do: those that are not UTF-8 separate segments.
func (e *Extractor) Extract(dst *Set, text []byte) {
	e.buf[0] = ' '
	e.begin(1)
	e.short = length{}
	e.chosen.reset()
	e.hash.reset()
	for i := e.gap(text, 0); i < len(text); {
		end, separated := e.scan(text, i)
		e.finish(text, i, end)
		i = end
		if separated {
			i = e.gap(text, end)
		}
	}
	e.chosen.result(dst)
	for i := range dst.Features {
		f := &dst.Features[i]
		f.Start, f.End = e.trim(text, f.Start, f.End)
		dst.Width += uint64(f.Width)
		dst.Units += uint64(f.Units)
	}
	dst.Width += e.short.columns
	dst.Units += e.short.units
	dst.Whole = e.hash.text(e.buf[1:max(e.w-1, 1)])
}

// finish ends the piece under way, which comes from text[start:end].
func (e *Extractor) finish(text []byte, start, end int) {
	e.dropSpace()
	if e.w == e.seg { // nothing but white space, after a segment that was too long
		return
	}
	width := e.w - e.seg + e.wider
	switch {
	case width < e.scheme.MinWidth:
		e.shorter(width, e.units(width))
	case width > maxWidth:
		e.cut(text, start, end)
	case e.chosen.wants(width):
		form := e.buf[e.seg:e.w]
		if order := order(form); e.chosen.wantsOrder(width, order) {
			e.chosen.add(Feature{
				Key: e.hash.segment(form, order), Order: order,
				Width: uint32(width), Units: uint32(e.units(width)),
				Start: offset(start), End: offset(end),
			})
		}
	}
	e.join()
}

// length is a length in both measures.
type length struct{ columns, units uint64 }

// shorter counts a piece too short to be a segment.
func (e *Extractor) shorter(width, units int) {
	e.short.columns += uint64(width)
	e.short.units += uint64(units)
}

// trim takes the white space and the invisible characters off a byte range.
func (e *Extractor) trim(text []byte, start, end uint32) (uint32, uint32) {
	for start < end && !isHanByte(text[start]) {
		r, size := utf8.DecodeRune(text[start:end])
		if !e.tables.of(r).blank() {
			break
		}
		start += uint32(size)
	}
	for end > start && !(end-start >= 3 && isHanByte(text[end-3])) {
		r, size := utf8.DecodeLastRune(text[start:end])
		if !e.tables.of(r).blank() {
			break
		}
		end -= uint32(size)
	}
	return start, end
}

// offset is a position in the text, as far as 32 bits can tell it.
func offset(i int) uint32 {
	return uint32(min(uint64(i), 1<<32-1))
}

// gap goes past the separators at text[i:] and all else that cannot begin a
// segment: white space, ignorable runes, marks, which belong to the separator
// before them as they do in its precomposed form (U+2260 is "=" and U+0338).
// Symbols become pieces of the whole-text fingerprint.
func (e *Extractor) gap(text []byte, i int) int {
	for i < len(text) {
		if b := text[i]; b < utf8.RuneSelf {
			if e.tables.ascii[b].gap == content {
				return i
			}
			i = e.gapASCII(text, i)
			continue
		}
		if i+4 <= len(text) && isHan(binary.LittleEndian.Uint32(text[i:])) {
			return i
		}
		switch c, size := e.tables.at(text, i); {
		case c.kind() == symbol:
			end := e.skipMarks(text, i+size)
			e.symbol(text[i:min(end, i+maxSymbol)])
			i = end
		case c.separates() || c.blank() || c.isMark():
			i += size
		default:
			return i
		}
	}
	return i
}

// gapASCII is gap as far as ASCII goes. In code every third byte comes here; one
// branch, whether there is another, is hard to foresee.
func (e *Extractor) gapASCII(text []byte, i int) int {
	w, from := e.w, i
	for i < len(text) {
		a := e.tables.ascii[text[i]]
		if a.gap == content {
			break
		}
		e.buf[w], e.buf[w+1] = text[i], ' '
		w, i = w+int(a.gap), i+1
		if w > flushAt {
			break
		}
	}
	e.begin(w)
	if i > from && e.tables.ascii[text[i-1]].gap == gapSymbol {
		if end := e.skipMarks(text, i); end > i { // the symbol has marks
			e.begin(w - gapSymbol)
			e.symbol(text[i-1 : min(end, i-1+maxSymbol)])
			i = end
		}
	}
	if e.w > flushAt {
		e.flush()
	}
	return i
}

// symbol adds a symbol with its marks, in canonical form, to the canonical text.
func (e *Extractor) symbol(text []byte) {
	if r, size := utf8.DecodeRune(text); size == len(text) {
		e.writeRune(text, r)
	} else {
		for !utf8.Valid(text) { // the limit is within a mark
			text = text[:len(text)-1]
		}
		e.write(e.form(text))
	}
	e.dropSpace()
	if e.w > e.seg {
		e.join()
	}
	e.begin(e.seg)
}

// skipMarks goes past marks and ignorable runes.
func (e *Extractor) skipMarks(text []byte, i int) int {
	for i < len(text) && text[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(text[i:])
		if c := e.tables.of(r); !c.isMark() && c.kind() != ignorable {
			break
		}
		i += size
	}
	return i
}

// join makes ready for the next piece.
func (e *Extractor) join() {
	e.buf[e.w] = ' '
	e.begin(e.w + 1)
	if e.w > flushAt {
		e.flush()
	}
}

// flush hashes what there is of the canonical text, which ends in a space.
func (e *Extractor) flush() {
	e.hash.part(e.buf[1 : e.w-1])
	e.begin(1)
}

// begin starts a piece at buf[w].
func (e *Extractor) begin(w int) {
	e.w, e.seg, e.wider, e.cjk, e.spaces, e.loose = w, w, 0, 0, 0, false
}
