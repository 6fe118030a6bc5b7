//go:build !((linux || darwin || freebsd || netbsd || openbsd) && (amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x))

package docmap

import "os"

// canShare: on these systems a writer has the table for itself, as bbolt does by default.
const canShare = false

func lockShared(*os.File) error      { return nil }
func lock(*os.File) error            { return nil }
func unlock(*os.File) error          { return nil }
func tryLock(*os.File) (bool, error) { return true, nil }
