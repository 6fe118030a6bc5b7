package vector

import (
	"golang.org/x/sys/cpu"

	"github.com/firstseen/firstseen/internal/base/packing"
)

// hasWords reports whether the CPU can run hashWordsAVX2: Intel since 2013, AMD since 2015.
var hasWords = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// CanCopy reports whether the CPU can run Copy: Intel since 2013, AMD since 2015.
var CanCopy = hasWords && cpu.X86.HasPOPCNT

// hasAVX512 reports whether the CPU can run copyAVX512: Intel servers since 2021, AMD since 2022.
var hasAVX512 = CanCopy && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
	cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2

//go:noescape
func hashWordsAVX2(dst *uint64, text *byte, size int, begins *[256]uint8) (n int)

//go:noescape
func lettersAVX2(dst, text *byte, blocks int) (read, written int)

//go:noescape
func feedsAVX2(masks *uint64, text *byte, blocks int) (high int)

//go:noescape
func copyAVX512(c *Classes, dst, text *byte, size int, starts *Start) (read, written, starting, wide int, separated bool)

//go:noescape
func copyAVX2(c *Classes, dst, text *byte, size int, starts *Start) (read, written, starting, wide int, separated bool)

// shuffles replace the compress instructions in copyAVX2 and lettersAVX2.
//
//lint:ignore U1000 it is for assembly
var shuffles = newShuffles()

type shuffleTable struct {
	packed [256][8]byte
	// The shuffle for each mask. The low four bits select the bytes, of four, that follow a space.
	// The high four select the bytes that exist. Index 4 is a space.
	spaced [256][8]byte
}

func newShuffles() (t shuffleTable) {
	t.packed = packing.Shuffles()
	for mask := range t.spaced {
		spaced := t.spaced[mask][:0]
		for i := range 4 {
			if mask>>i&1 != 0 {
				spaced = append(spaced, 4)
			}
			if mask>>(4+i)&1 != 0 {
				spaced = append(spaced, byte(i))
			}
		}
	}
	return t
}
