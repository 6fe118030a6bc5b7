package vector

import "encoding/binary"

// Feeds writes the positions of the line feeds of text to masks: a bit for each byte, the lowest
// first, a mask for each Block, the last filled up with zeros. It returns the number of bytes up to
// the end of the last Block that has a byte beyond ASCII, or 0.
func Feeds(masks []uint64, text []byte) (high int) {
	blocks := 0
	if hasWords && len(text) >= Block {
		blocks = len(text) / Block
		_ = masks[blocks-1]
		high = Block * feedsAVX2(&masks[0], &text[0], blocks)
	}
	if n := feedsIn(masks[blocks:], text[blocks*Block:]); n > 0 {
		high = blocks*Block + n
	}
	return high
}

func feedsIn(masks []uint64, text []byte) (high int) {
	const (
		ones   = 0x0101010101010101
		highs  = 0x80 * ones
		gather = 0x0102040810204080 // the lowest bit of each byte into the highest byte
	)
	for block := 0; block*Block < len(text); block++ {
		rest := text[block*Block:]
		rest = rest[:min(len(rest), Block)]
		var mask, beyond uint64
		for i := 0; i < len(rest); i += 8 {
			var x uint64
			if len(rest) >= i+8 {
				x = binary.LittleEndian.Uint64(rest[i:])
			} else {
				var last [8]byte
				copy(last[:], rest[i:])
				x = binary.LittleEndian.Uint64(last[:])
			}
			beyond |= x & highs
			y := x ^ '\n'*ones
			feed := ^((y&^highs + 0x7F*ones) | y) & highs
			mask |= (feed >> 7 * gather >> 56) << i
		}
		if masks[block] = mask; beyond != 0 {
			high = block*Block + len(rest)
		}
	}
	return high
}
