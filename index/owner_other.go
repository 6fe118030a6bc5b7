//go:build !windows

package index

// lockedForAll: a locked file can be read and written all the same.
const lockedForAll = false
