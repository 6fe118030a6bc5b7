package docmap

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs all tests twice: as they are, and with a mapping of the file that
// is as short as can be, so that bbolt maps it anew whenever it grows. That is how
// it is on Windows, where address space is short, and for very large tables.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, once := range []string{"test.bench", "test.fuzz", "test.list"} {
		if flag.Lookup(once).Value.String() != "" {
			os.Exit(code)
		}
	}
	if code == 0 {
		initialMapping = func() int { return 0 }
		code = m.Run()
	}
	os.Exit(code)
}
