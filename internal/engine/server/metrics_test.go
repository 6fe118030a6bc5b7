package server

import (
	"maps"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

var (
	describing = regexp.MustCompile(`^# (HELP|TYPE) ([a-z][a-z0-9_]*) (.+)\n$`)
	sampling   = regexp.MustCompile(`^([a-z][a-z0-9_]*)(?:\{([a-z]+)="([^"\\\n]*)"(?:,[a-z]+="[^"\\\n]*")*\})? (\S+)\n$`)
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

// metricsOf asks for the page of a service.
func metricsOf(t *testing.T, s *Service) (values map[string]float64, kinds map[string]string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler("").ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if kind := w.Header().Get("Content-Type"); kind != "text/plain; version=0.0.4; charset=utf-8" {
		t.Error(kind)
	}
	return scraped(t, w.Body.String())
}

func expectSeries(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for series, value := range want {
		if have, ok := got[series]; !ok || have != value {
			t.Errorf("%s is %v (there: %v), want %v", series, have, ok, value)
		}
	}
}

// TestMetricsPage parses what /metrics answers.
func TestMetricsPage(t *testing.T) {
	s, web := served(t, func(c *Config) { c.Version = "v1.2.3" })
	for _, id := range []string{"a", "b", "a"} {
		if code, body := post(t, web.URL+"/v1/see", "", line(id, article)); code != 200 {
			t.Fatal(code, body)
		}
	}
	post(t, web.URL+"/v1/see", "", "{}\n")
	post(t, web.URL+"/v1/see?nothing=1", "", line("c", article))
	settle(t, s)
	for _, took := range []time.Duration{time.Millisecond, 1100 * time.Microsecond, 10 * time.Second, 11 * time.Second} {
		s.count.checkpoint.observe(took)
	}
	values, kinds := metricsOf(t, s)
	saved := values["firstseen_checkpoint_seconds_count/"] - 4
	state := s.cfg.Index.State()
	expectSeries(t, values, map[string]float64{
		"firstseen_build_info/v1.2.3":               1,
		"firstseen_ready/":                          1,
		"firstseen_requests_total/200":              4,
		"firstseen_requests_total/400":              1,
		"firstseen_request_duration_seconds_count/": 5,
		"firstseen_documents_total/unique":          1,
		"firstseen_documents_total/duplicate":       1,
		"firstseen_documents_total/mosaic":          0,
		"firstseen_documents_total/related":         0,
		"firstseen_documents_total/again":           1,
		"firstseen_documents_total/bad":             1,
		"firstseen_requests_waiting/":               0,
		"firstseen_index_documents/":                1,
		"firstseen_index_keys/":                     float64(s.cfg.Index.Table().Entries()),
		"firstseen_filter_load_ratio/":              float64(state.Items) / float64(state.Capacity),
		"firstseen_filter_false_positive_ratio/":    state.Rate,
		"firstseen_checkpoint_seconds_bucket/10":    saved + 3,
		"firstseen_checkpoint_seconds_bucket/+Inf":  saved + 4,
	})
	if sum := values["firstseen_checkpoint_seconds_sum/"]; saved < 0 || sum < 21 || sum > 60 {
		t.Errorf("a sum of %v", sum)
	}
	if n := values["firstseen_checkpoint_seconds_bucket/0.0025"] - values["firstseen_checkpoint_seconds_bucket/0.001"]; n < 1 {
		t.Errorf("%v between 1 and 2.5 ms", n)
	}
	for series, least := range map[string]float64{"firstseen_journal_seconds_count/": 2, "firstseen_disk_used_bytes/": 1 << 16, "firstseen_disk_free_bytes/": 1 << 20, "firstseen_index_keys/": 1} {
		if values[series] < least {
			t.Errorf("%s is %v", series, values[series])
		}
	}
	kindsOfProcess := map[string]string{"process_start_time_seconds": "gauge", "go_goroutines": "gauge"}
	if runtime.GOOS == "linux" {
		kindsOfProcess["process_cpu_seconds_total"], kindsOfProcess["process_resident_memory_bytes"], kindsOfProcess["process_open_fds"] = "counter", "gauge", "gauge"
		if rss := values["process_resident_memory_bytes/"]; rss < 1<<20 || rss > 1<<36 || values["process_open_fds/"] < 3 {
			t.Errorf("resident %v, open files %v", rss, values["process_open_fds/"])
		}
	}
	checkManual(t, kinds, kindsOfProcess)
}

// checkManual compares the kinds of a page without a log, of one with a log and a window, and of that
// of a standby to the table of the manual.
func checkManual(t *testing.T, alone, process map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	x, err := index.Open(t.Context(), dir, index.Options{Follow: true})
	indextest.Must(t, err)
	defer x.Close()
	indextest.Must(t, x.Begin(index.Policy{Window: 3600}))
	s, err := Open(Config{Index: x, Dir: dir, Log: &later{}, room: 1})
	indextest.Must(t, err)
	values, byLog := metricsOf(t, s)
	expectSeries(t, values, map[string]float64{
		"firstseen_log_up/": 1, "firstseen_log_next_offset/": 7, "firstseen_log_lag_records/": 3, "firstseen_log_lag_seconds/": 1.5,
		"firstseen_log_ahead_documents_total/": 2, "firstseen_window_edge_timestamp_seconds/": 0,
	})
	manual, err := os.ReadFile("../../../docs/manual.md")
	indextest.Must(t, err)
	primary := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	give(t, primary.s, texts(30))
	b := mustStandby(t, primary, filepath.Join(t.TempDir(), "copy"))
	defer b.Close()
	whole(t, b, 30)
	values, standby := metricsOf(t, b.service)
	expectSeries(t, values, map[string]float64{"firstseen_ready/": 0, "firstseen_standby_up/": 1, "firstseen_standby_lag_entries/": 0, "firstseen_documents_total/unique": 0})
	if lag := values["firstseen_standby_lag_seconds/"]; lag > 10 {
		t.Errorf("a standby with all is %v s behind", lag)
	}
	values, _ = metricsOf(t, primary.s)
	expectSeries(t, values, map[string]float64{"firstseen_standbys/": 1})
	got, want := maps.Clone(process), maps.Clone(process)
	for _, m := range regexp.MustCompile("(?m)^\\| `(firstseen_[a-z]+(?:_[a-z]+)*)` \\| ([a-z]+) \\| (.*) \\|$").FindAllStringSubmatch(string(manual), -1) {
		want[m[1]] = m[2]
		waits := strings.HasPrefix(m[1], "firstseen_standby_")
		not, only := waits || strings.Contains(m[3], "not with a log"), waits || strings.HasPrefix(m[1], "firstseen_log_") || strings.Contains(m[3], "with a window")
		if (alone[m[1]] != "") == only || (byLog[m[1]] != "") == not || (standby[m[1]] != "") == (only && !waits || m[1] == "firstseen_standbys") {
			t.Errorf("%s: without a log %q, with a log and a window %q, of a standby %q; the manual says %s", m[1], alone[m[1]], byLog[m[1]], standby[m[1]], m[3])
		}
	}
	maps.Copy(got, alone)
	maps.Copy(got, byLog)
	maps.Copy(got, standby)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the manual and the page: %s", diff)
	}
}
