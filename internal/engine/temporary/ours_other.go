//go:build !unix

package temporary

import "io/fs"

// ours returns true: temporary files are in the user's own folder.
func ours(fs.FileInfo) bool { return true }
