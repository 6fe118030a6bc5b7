package server

import (
	"math"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

var (
	describing = regexp.MustCompile(`^# (HELP|TYPE) ([a-z][a-z0-9_]*) (.+)\n$`)
	sampling   = regexp.MustCompile(`^([a-z][a-z0-9_]*)(?:\{([a-z]+)="([^"\\\n]*)"\})? (\S+)\n$`)
)

// scraped parses the text format of Prometheus, and returns values by series and kinds by name. It
// checks the conventions: https://prometheus.io/docs/practices/naming/.
func scraped(t *testing.T, text string) (values map[string]float64, kinds map[string]string) {
	t.Helper()
	values, kinds = map[string]float64{}, map[string]string{}
	name, least := "", 0.
	for line := range strings.Lines(text) {
		if m := describing.FindStringSubmatch(line); m != nil {
			if m[1] == "TYPE" {
				if kinds[m[2]] != "" || m[2] != name || !slices.Contains([]string{"counter", "gauge", "histogram"}, m[3]) {
					t.Errorf("%q after %q", line, name)
				}
				kinds[name] = m[3]
			} else if name, least = m[2], 0; !strings.HasSuffix(m[3], ".") {
				t.Errorf("%q is no sentence", line)
			}
			continue
		}
		m := sampling.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("%q is no line of the format", line)
		}
		value, err := strconv.ParseFloat(m[4], 64)
		series := m[1] + "/" + m[3]
		if _, twice := values[series]; twice || err != nil || value < 0 || math.IsNaN(value) {
			t.Errorf("%q: twice %v, error %v", line, twice, err)
		}
		values[series] = value
		suffix, ok := strings.CutPrefix(m[1], name)
		switch kinds[name] {
		case "counter":
			ok = ok && suffix == "" && strings.HasSuffix(name, "_total")
		case "gauge":
			ok = ok && suffix == "" && !strings.HasSuffix(name, "_total")
		default:
			bucket := suffix == "_bucket" && m[2] == "le"
			ok = ok && strings.HasSuffix(name, "_seconds") && (bucket || suffix == "_sum" || suffix == "_count")
			if bucket && value < least {
				t.Errorf("%q: a bucket before has %v", line, least)
			} else if bucket {
				least = value
			}
		}
		if !ok {
			t.Errorf("%q is not of the %s %s", line, kinds[name], name)
		}
	}
	return values, kinds
}

// TestMetricsPage parses what /metrics answers.
func TestMetricsPage(t *testing.T) {
	s, web := served(t, nil)
	for _, id := range []string{"a", "b", "a"} {
		if code, body := post(t, web.URL+"/v1/see", "", line(id, article)); code != 200 {
			t.Fatal(code, body)
		}
	}
	settle(t, s)
	for _, seconds := range []float64{.001, .0011, 10, 11} {
		s.count.saving.observe(seconds)
	}
	w := httptest.NewRecorder()
	s.Handler("").ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if kind := w.Header().Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" {
		t.Error(kind)
	}
	values, kinds := scraped(t, w.Body.String())
	saved := values["firstseen_checkpoint_seconds_count/"] - 4
	for series, want := range map[string]float64{
		"firstseen_documents_total/true":           1,
		"firstseen_documents_total/false":          1,
		"firstseen_documents_again_total/":         1,
		"firstseen_requests_waiting/":              0,
		"firstseen_checkpoint_seconds_bucket/10":   saved + 3,
		"firstseen_checkpoint_seconds_bucket/+Inf": saved + 4,
	} {
		if got, ok := values[series]; !ok || got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	if sum := values["firstseen_checkpoint_seconds_sum/"]; saved < 0 || sum < 21 || sum > 60 {
		t.Errorf("a sum of %v", sum)
	}
	if n := values["firstseen_checkpoint_seconds_bucket/0.0025"] - values["firstseen_checkpoint_seconds_bucket/0.001"]; n < 1 {
		t.Errorf("%v between 1 and 2.5 ms", n)
	}
	want := map[string]string{
		"firstseen_documents_total": "counter", "firstseen_documents_again_total": "counter", "firstseen_requests_waiting": "gauge",
		"firstseen_checkpoint_seconds": "histogram", "process_start_time_seconds": "gauge", "go_goroutines": "gauge",
	}
	if runtime.GOOS == "linux" {
		want["process_cpu_seconds_total"], want["process_resident_memory_bytes"], want["process_open_fds"] = "counter", "gauge", "gauge"
		if rss := values["process_resident_memory_bytes/"]; rss < 1<<20 || rss > 1<<36 || values["process_open_fds/"] < 3 {
			t.Errorf("resident %v, open files %v", rss, values["process_open_fds/"])
		}
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	manual, err := os.ReadFile("../../../docs/manual.md")
	indextest.Must(t, err)
	for name, kind := range kinds {
		if strings.HasPrefix(name, "firstseen_") && !strings.Contains(string(manual), "| `"+name+"` | "+kind+" |") {
			t.Errorf("the manual lacks the %s %s", kind, name)
		}
	}
}
