package vector

// Letters copies the lower-case letters and digits of text to dst, up to a block of 32 bytes that is
// not ASCII, or shorter. It returns the number of bytes read and written. dst must have room for
// eight bytes more than text. Where CanCopy is false, it reads nothing.
func Letters(dst, text []byte) (read, written int) {
	if !CanCopy || len(text) < 32 {
		return 0, 0
	}
	_ = dst[len(text)+7]
	return lettersAVX2(&dst[0], &text[0], len(text)/32)
}
