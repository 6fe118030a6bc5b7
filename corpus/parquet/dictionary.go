package parquet

import "encoding/binary"

const (
	// maxDictionary bounds the bytes of a dictionary that is written.
	maxDictionary = 256 << 10
	// maxDistinct bounds the values in all dictionaries of a row group: each takes about 80 bytes.
	maxDistinct = 1 << 18
	// sampled is of how many values more than half have to be repetitions.
	sampled = 1024
)

// A dictionaryWriter collects the distinct values of a column while that pays.
type dictionaryWriter struct {
	index map[string]uint32
	plain []byte   // the values, plainly
	page  []uint32 // those of the page
	room  *int     // how many more values there may be in the row group
	given int      // values so far
	off   bool     // a page did not pay
	used  bool     // a page refers to it
}

func (d *dictionaryWriter) reset() {
	clear(d.index)
	*d = dictionaryWriter{index: d.index, plain: d.plain[:0], page: d.page[:0], room: d.room}
}

// add adds a value, given plainly.
func (d *dictionaryWriter) add(value []byte) {
	if d.off {
		return
	}
	if d.given++; d.given == sampled && 2*len(d.index) > sampled {
		d.off = true
		return
	}
	i, known := d.index[string(value)]
	if !known {
		if len(d.plain)+len(value) > maxDictionary || *d.room == 0 {
			d.off = true
			return
		}
		if d.index == nil {
			d.index = map[string]uint32{}
		}
		i = uint32(len(d.index))
		d.index[string(value)] = i
		d.plain = append(d.plain, value...)
		*d.room--
	}
	d.page = append(d.page, i)
}

// appendPage appends the page's values as indices, if they take less than plain bytes.
func (d *dictionaryWriter) appendPage(dst []byte, plain int) (_ []byte, ok bool) {
	defer func() { d.page = d.page[:0] }()
	if d.off || len(d.page) == 0 {
		return dst, false
	}
	at, width := len(dst), bitsFor(len(d.index)-1)
	dst = appendHybrid(append(dst, byte(width)), d.page, width)
	size := len(dst) - at
	if !d.used {
		size += len(d.plain)
	}
	if size >= plain {
		d.off = true
		return dst[:at], false
	}
	d.used = true
	return dst, true
}

// appendHybrid appends numbers of width bits in runs of eight and more equal ones and in packed
// groups of eight (Encodings.md, "RLE / Bit-Packing Hybrid").
func appendHybrid(dst []byte, numbers []uint32, width uint) []byte {
	packed := 0 // numbers[packed:i] are to be packed
	for i := 0; i < len(numbers); {
		n := 1
		for i+n < len(numbers) && numbers[i+n] == numbers[i] {
			n++
		}
		if fill := (8 - (i-packed)%8) % 8; n >= fill+8 { // a group is filled up from the run
			dst = appendPacked(dst, numbers[packed:i+fill], width)
			dst = binary.AppendUvarint(dst, uint64(n-fill)<<1)
			for bit := uint(0); bit < width; bit += 8 {
				dst = append(dst, byte(numbers[i]>>bit))
			}
			packed = i + n
		}
		i += n
	}
	return appendPacked(dst, numbers[packed:], width)
}

// appendPacked appends numbers in groups of eight, the last filled up with zeros.
func appendPacked(dst []byte, numbers []uint32, width uint) []byte {
	groups := (len(numbers) + 7) / 8
	if groups == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	held, bits := uint64(0), uint(0)
	for i := range 8 * groups {
		if i < len(numbers) {
			held |= uint64(numbers[i]) << bits
		}
		for bits += width; bits >= 8; bits -= 8 {
			dst = append(dst, byte(held))
			held >>= 8
		}
	}
	return dst
}
