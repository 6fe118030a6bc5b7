package letters

import "golang.org/x/sys/cpu"

// hasAVX2 reports whether the CPU can run the loops in vectors: Intel since 2013, AMD since 2015.
var hasAVX2 = cpu.X86.HasAVX2

//go:noescape
func hashRunsAVX2(hashes, masks *uint32, letters *byte, blocks int, limit uint32)

//go:noescape
func markKeyRunsAVX2(masks, hashes *uint32, blocks int, limit uint32)
