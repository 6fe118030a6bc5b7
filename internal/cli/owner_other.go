//go:build !unix

package cli

import "io/fs"

// ours is true: temporary files are in a folder of the user's own.
func ours(fs.FileInfo) bool { return true }
