//go:build !amd64

package vector

const (
	hasWords  = false
	hasAVX512 = false
	// CanCopy reports whether the CPU can run Copy.
	CanCopy = false
)

func hashWordsAVX2(*uint64, *byte, int, *[256]uint8) int { panic("not on this processor") }

func lettersAVX2(dst, text *byte, blocks int) (read, written int) { panic("not on this processor") }

func feedsAVX2(*uint64, *byte, int) int { panic("not on this processor") }

func copyAVX512(*Classes, *byte, *byte, int, *Start) (read, written, starting, wide int, separated bool) {
	panic("not on this processor")
}

func copyAVX2(*Classes, *byte, *byte, int, *Start) (read, written, starting, wide int, separated bool) {
	panic("not on this processor")
}
