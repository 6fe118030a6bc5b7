//go:build 386 || arm || mips || mipsle

package hugemem

// Sizes of filters, tables and files are ints of 64 bits. Every package with such sizes imports this
// one, so the compiler ends here on other systems.
var _ = firstseen_needs_a_64_bit_system
