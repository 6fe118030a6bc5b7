package jsonl

import (
	"golang.org/x/sys/cpu"

	"github.com/firstseen/firstseen/internal/packing"
)

// maxBlock is how many bytes the processor can decode together: 64 by decodeAVX512, 32 by
// decodeAVX2, or 0.
var maxBlock = func() int {
	switch x := cpu.X86; {
	case !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasPOPCNT:
		return 0
	case x.HasAVX512BW && x.HasAVX512VL && x.HasAVX512VBMI && x.HasAVX512VBMI2:
		return 64
	}
	return 32
}()

// decodeAVX512 decodes the inside of a string at src while 64 of the n bytes are left. It stops at
// the closing quote, at a control character, at a long escape, and at invalid UTF-8, anywhere in the
// 64 bytes before. If it stops within a character, the bytes before are valid so far. It may read
// three bytes before src, and write 64 bytes of dst behind the result.
//
//go:noescape
func decodeAVX512(dst, src *byte, n int, escapes *[128]byte) (read, written int)

// decodeAVX2 is the same for 32 bytes, and reads on as long as there are so many.
//
//go:noescape
func decodeAVX2(dst, src *byte, n int, escapes *[128]byte) (read, written int)

// packed is what decodeAVX2 has in the place of compression.
//
//lint:ignore U1000 it is for assembly
var packed = packing.Shuffles()
