//go:build !linux && !darwin

package claim

import "os"

func identify(*os.File) ID { return ID{} }
