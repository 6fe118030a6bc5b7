package vector

import "golang.org/x/sys/cpu"

// hasWords is whether the processor can do what hashWordsAVX2 does: of Intel those since
// 2013, of AMD since 2015.
var hasWords = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// CanCopy is whether the processor can do what Copy does: of Intel's servers those since
// 2021, of AMD since 2022.
var CanCopy = hasWords && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
	cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2 && cpu.X86.HasPOPCNT

//go:noescape
func hashWordsAVX2(dst *uint64, text *byte, size int, begins *[256]uint8) (n int)

//go:noescape
func copyAVX512(c *Classes, dst, text *byte, size int, starts *Start) (read, written, starting, wide int, separated bool)
