//go:build !amd64

package letters

const hasAVX2 = false

func hashRunsAVX2(hashes, masks *uint32, letters *byte, blocks int, limit uint32) {
	panic("not on this processor")
}

func markKeyRunsAVX2(masks, hashes *uint32, blocks int, limit uint32) {
	panic("not on this processor")
}
