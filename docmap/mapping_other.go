//go:build !(unix && (amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x))

package docmap

// addressSpace is 0 on systems with little address space, and on Windows, where bbolt would make
// the file that long at once.
func addressSpace() int { return 0 }
