//go:build !amd64

package jsonl

const maxBlock = 0

func decodeAVX512(dst, src *byte, n int, escapes *[128]byte) (read, written int) {
	panic("not on this processor")
}

func decodeAVX2(dst, src *byte, n int, escapes *[128]byte) (read, written int) {
	panic("not on this processor")
}
