//go:build !unix

package cli

// ignoreFileSizeSignal does nothing on systems without that signal.
func ignoreFileSizeSignal() {}
