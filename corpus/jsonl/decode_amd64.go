package jsonl

import "golang.org/x/sys/cpu"

// hasDecode is whether the processor can do what decodeAVX512 does.
var hasDecode = cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI &&
	cpu.X86.HasAVX512VBMI2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// decodeAVX512 decodes what is inside a string, at src, as long as there are 64 of the
// n bytes left, up to what it cannot do: the closing quote, a control character, an
// escape that is no short one, UTF-8 that is not valid, for which it stops anywhere in
// the 64 bytes before. Where it stops within a character, what is before is valid so far. Three
// bytes before src can be read, and of dst 64 behind those that are written.
//
//go:noescape
func decodeAVX512(dst, src *byte, n int, escapes *[128]byte) (read, written int)
