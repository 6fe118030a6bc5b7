//go:build unix && (amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x)

package docmap

// initialMapping is the length of address space bbolt takes for the file: it
// costs nothing, and a file that fits is never mapped anew while it grows.
const initialMapping = 1 << 36
