// Package packing has shuffles that compress bytes with AVX2; only AVX-512 has an instruction for
// it.
package packing

// Shuffles returns, for each mask of eight bytes, a shuffle that packs the selected bytes in order.
func Shuffles() (table [256][8]byte) {
	for mask := range table {
		taken := table[mask][:0]
		for i := range 8 {
			if mask>>i&1 != 0 {
				taken = append(taken, byte(i))
			}
		}
	}
	return table
}
