package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// expressions returns those of the dashboard.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, "dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		if panel.Title == "" || len(panel.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	return all
}

// TestMetricsExist checks that dashboard and alerts use metrics of the manual, whose table a test of
// the server compares to /metrics, and that the dashboard shows all of them.
func TestMetricsExist(t *testing.T) {
	inManual := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(firstseen_[a-z]+(?:_[a-z]+)*)` \\|").FindAllStringSubmatch(read(t, "../../docs/manual.md"), -1) {
		inManual[m[1]] = true
	}
	shown, used := strings.Join(expressions(t), "\n"), regexp.MustCompile(`\bfirstseen_[a-z_]+\b`)
	for _, name := range used.FindAllString(shown+read(t, "alerts.yaml"), -1) {
		if !inManual[strings.TrimSuffix(name, "_bucket")] {
			t.Errorf("the manual has no metric %s", name)
		}
	}
	for name := range inManual {
		if !strings.Contains(shown, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// TestPromtool loads the alerts, lets each of them fire, and parses the queries of the dashboard.
func TestPromtool(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("no promtool to load the rules with")
	}
	rules := "groups:\n- name: dashboard\n  rules:\n"
	for i, e := range expressions(t) {
		e = strings.ReplaceAll(e, "$__rate_interval", "5m")
		rules += fmt.Sprintf("  - {record: 'panel%d', expr: '%s'}\n", i, e)
	}
	panels := filepath.Join(t.TempDir(), "panels.yaml")
	if err := os.WriteFile(panels, []byte(rules), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml", panels}, {"test", "rules", "alerts_test.yaml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}

// TestUnitsGoOn checks that systemd starts each service again, however often it ends, and waits for
// its start however long a broker or a journal takes.
func TestUnitsGoOn(t *testing.T) {
	units, err := filepath.Glob("../systemd/*.service")
	if err != nil || len(units) < 2 {
		t.Fatal(units, err)
	}
	for _, path := range units {
		unit, service, _ := strings.Cut(read(t, path), "\n[Service]\n")
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
