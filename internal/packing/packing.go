// Package packing replaces the compression of bytes, a single instruction in AVX-512 only, for
// AVX2: it has a shuffle for every mask of eight bytes.
package packing

// Shuffles returns for each mask of eight bytes the positions of the bytes it takes, in order, in
// the form of a byte-shuffling instruction.
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
