package jsonl

import (
	"golang.org/x/sys/cpu"

	"github.com/firstseen/firstseen/internal/base/packing"
)

// maxBlock is the number of bytes the processor can decode at once: 64 by decodeAVX512, 32 by
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

// decodeAVX512 decodes the content of a string at src while 64 of its n bytes are left. It stops at
// a closing quote, a control character or a long escape, and up to 64 bytes before invalid UTF-8.
// If it stops inside a character, the bytes before are valid so far. It may read 3 bytes before
// src, and write 64 bytes after the result.
//
//go:noescape
func decodeAVX512(dst, src *byte, n int, escapes *[128]byte) (read, written int)

// decodeAVX2 does the same in blocks of 32 bytes, while 32 bytes are left.
//
//go:noescape
func decodeAVX2(dst, src *byte, n int, escapes *[128]byte) (read, written int)

// packed replaces the compress instruction of AVX-512 in decodeAVX2.
//
//lint:ignore U1000 it is for assembly
var packed = packing.Shuffles()
