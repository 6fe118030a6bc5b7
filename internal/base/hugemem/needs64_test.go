package hugemem

import (
	"go/build"
	"testing"
)

// TestNeeds64 checks that builds end with the reason where an int has 32 bits, and nowhere else.
func TestNeeds64(t *testing.T) {
	for arch, want := range map[string]bool{
		"386": true, "arm": true, "mips": true, "mipsle": true,
		"amd64": false, "arm64": false, "loong64": false, "mips64": false, "mips64le": false,
		"ppc64": false, "ppc64le": false, "riscv64": false, "s390x": false,
	} {
		system := build.Default
		system.GOARCH = arch
		if got, err := system.MatchFile(".", "needs64.go"); err != nil || got != want {
			t.Errorf("%s: the build ends: %v, error %v", arch, got, err)
		}
	}
}
