package feature

import "unicode/utf8"

const (
	// maxWidth is the widest segment, in columns, that is kept in one piece:
	// wider than nearly all sentences.
	maxWidth = 400

	// A wider one is cut into pieces of minPiece to maxPiece columns (one more
	// if the last character is wide). The mean is about 64 above the minimum.
	minPiece = 64
	maxPiece = 256
)

// A cutPiece is a piece of the canonical form of an overlong segment:
// bytes from and to of it, and the bytes of the text they come from.
type cutPiece struct {
	from, to   int
	width      int
	units      int
	key, order uint64
	start, end int
}

// cut cuts the piece under way, which comes from text[start:end], and adds the
// pieces. Boundaries depend on the 64 bytes before them alone, so that an edit
// moves the nearest few and no others.
func (e *Extractor) cut(text []byte, start, end int) {
	e.cuts = e.cuts[:0]
	form := e.buf[e.seg:e.w]
	from, width := 0, 0
	var words wordCounter
	var h uint64
	for i := 0; i < len(form); {
		r, size := utf8.DecodeRune(form[i:])
		for _, b := range form[i : i+size] {
			h = h<<1 + gear[b]
		}
		c := e.tables.of(r).standing()
		columns := c.width()
		width += columns
		words.add(r, c)
		i += size
		// A wide character is as likely as two narrow ones to end a piece: one
		// column in 64 is a boundary, in any script.
		if width >= minPiece && (int(h>>58) < columns || width >= maxPiece) {
			e.addCut(form, from, i, width, words.n)
			from, width, words = i, 0, wordCounter{}
		}
	}
	e.addCut(form, from, len(form), width, words.n)
	if len(e.cuts) > 0 {
		e.locate(text, start, end)
	}
	for _, c := range e.cuts {
		e.chosen.add(Feature{
			Key: c.key, Order: c.order, Width: uint32(c.width), Units: uint32(c.units),
			Start: offset(c.start), End: offset(c.end),
		})
	}
}

// addCut notes form[from:to] if it may be chosen.
func (e *Extractor) addCut(form []byte, from, to, width, units int) {
	if from < to && form[from] == ' ' {
		from++
		width--
	}
	if from < to && form[to-1] == ' ' {
		to--
		width--
	}
	switch {
	case width < e.scheme.MinWidth:
		e.shorter(width, units)
	case e.chosen.wants(width):
		form := form[from:to]
		if order := order(form); e.chosen.wantsOrder(width, order) {
			e.cuts = append(e.cuts, cutPiece{
				from: from, to: to, width: width, units: units,
				key: e.hash.segment(form, order), order: order,
			})
		}
	}
}

// locate finds where in text[start:end] the noted pieces come from, by writing
// the canonical form again, in the same place, one cluster at a time. A piece
// begins where the cluster of its first rune does and ends where that of its
// last does.
func (e *Extractor) locate(text []byte, start, end int) {
	w := e.w
	e.w, e.wider = e.seg, 0
	next, open := 0, false
	for i := start; i < end && next < len(e.cuts); {
		r, _ := utf8.DecodeRune(text[i:])
		blank := e.tables.of(r).blank()
		to := e.cluster(text, i, end)
		for !blank && next < len(e.cuts) {
			c := &e.cuts[next]
			if !open && e.w-e.seg > c.from {
				c.start, open = i, true
			}
			if !open || e.w-e.seg < c.to {
				break
			}
			c.end, open = to, false
			next++
		}
		i = to
	}
	e.w = w
}

// gear holds the random numbers of the boundary hash: splitmix64, counted from
// the ASCII of "boundary".
var gear = func() (g [256]uint64) {
	x := uint64(0x626F756E64617279)
	for i := range g {
		x += 0x9E3779B97F4A7C15
		z := (x ^ x>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		g[i] = z ^ z>>31
	}
	return g
}()
