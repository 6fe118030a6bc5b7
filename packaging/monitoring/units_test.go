package monitoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnitsGoOn checks that systemd starts each service again, however often it ends, and waits for
// its start however long a broker or a journal takes.
func TestUnitsGoOn(t *testing.T) {
	units, err := filepath.Glob("../systemd/*.service")
	if err != nil || len(units) < 2 {
		t.Fatal(units, err)
	}
	for _, path := range units {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		unit, service, _ := strings.Cut(string(text), "\n[Service]\n")
		if !strings.Contains(unit, "\nStartLimitIntervalSec=0\n") {
			t.Errorf("%s: systemd gives up after five starts in ten seconds", path)
		}
		for _, line := range []string{"Type=notify", "TimeoutStartSec=infinity", "Restart=on-failure", "RestartSec=5"} {
			if !strings.Contains(service, line+"\n") {
				t.Errorf("%s lacks %s", path, line)
			}
		}
	}
}
