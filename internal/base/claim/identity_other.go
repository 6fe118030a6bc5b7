//go:build !linux && !darwin

package claim

import "os"

// Identify returns the zero ID: this system has no identities.
func Identify(*os.File) ID { return ID{} }
