package gen

import "encoding/binary"

// writer appends clauses.
type writer struct {
	lang  *language
	seed  uint64
	start bool // the next clause begins a sentence
	last  int  // bytes of the last mark
}

// template returns the template of a clause of document n.
func (l *language) template(seed, n, slot uint64) *template {
	return &l.templates[mix((n<<slotBits|slot)^seed)%uint64(len(l.templates))]
}

// clause appends the clause slot of document n with the words of owner, and a punctuation mark.
func (w *writer) clause(dst []byte, n, owner, slot uint64) []byte {
	t := w.lang.template(w.seed, n, slot)
	at := len(dst)
	dst = append(dst, t.text[:t.size]...)
	if w.start {
		dst[at] = upper(dst[at])
	}
	x := scramble(owner<<slotBits|slot, w.seed)
	words := &w.lang.words
	for i, hole := range t.holes {
		word := words[x>>(12*i)&4095]
		b := dst[at+int(hole):]
		if t.short {
			binary.LittleEndian.PutUint32(b, uint32(word))
			binary.LittleEndian.PutUint16(b[4:], uint16(word>>32))
		} else {
			binary.LittleEndian.PutUint64(b, word)
		}
	}
	m := &w.lang.marks[x>>3&31^slot&31]
	w.start, w.last = m.ends, len(m.text)
	return append(dst, m.text...)
}

// end replaces the last mark by that of the end of a text.
func (w *writer) end(dst []byte) []byte {
	w.start = true
	return append(dst[:len(dst)-w.last], w.lang.stop...)
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

const (
	spelled     = docBits + slotBits // bits that the three words of a clause spell
	spelledMask = 1<<spelled - 1
)

// scramble permutes the numbers of spelled bits, so that neighbours have no words in common. It has
// two rounds of an odd factor and a shift, each of which can be undone.
func scramble(x, seed uint64) uint64 {
	x = (x ^ seed) & spelledMask
	x = x * 0x9e3779b97f4a7c15 & spelledMask
	x ^= x >> 17
	x = x * 0xd1342543de82ef95 & spelledMask
	return x ^ x>>19
}
