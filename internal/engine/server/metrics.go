package server

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/durable"
)

// counters counts for /metrics. Its methods are safe for concurrent use.
type counters struct {
	verdicts                          [dedup.Related + 1]atomic.Uint64
	again, bad                        atomic.Uint64
	codes                             [600]atomic.Uint64 // answers by status of HTTP
	answering, journaling, checkpoint histogram

	saved time.Duration // in checkpoints; of the deciding goroutine
}

func (c *counters) decided(r *dedup.Result) {
	if r.Again {
		c.again.Add(1)
	} else {
		c.verdicts[r.Verdict].Add(1)
	}
}

// noteSaving records the time of the last checkpoint, or of a piece of its work.
func (c *counters) noteSaving(x *index.Index) {
	if saving := x.Saving(); saving > c.saved {
		c.checkpoint.observe(saving - c.saved)
		c.saved = saving
	}
}

// coded passes on an answer, and remembers its status.
type coded struct {
	http.ResponseWriter
	code int
}

func (w *coded) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

func (w *coded) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answers counts the requests to next.
func (c *counters) answers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun, answer := time.Now(), &coded{w, http.StatusOK}
		next.ServeHTTP(answer, r)
		c.codes[answer.code%len(c.codes)].Add(1)
		if r.Pattern == seePattern {
			c.answering.observe(time.Since(begun))
		}
	})
}

// bounds are the upper bounds of a histogram's buckets, in seconds.
var bounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

type histogram struct {
	mu      sync.Mutex
	buckets [len(bounds) + 1]uint64 // the last one has no bound
	sum     float64
}

func (h *histogram) observe(d time.Duration) {
	seconds := d.Seconds()
	h.mu.Lock()
	defer h.mu.Unlock()
	i, _ := slices.BinarySearch(bounds[:], seconds)
	h.buckets[i]++
	h.sum += seconds
}

// page is a page in the text format of Prometheus, version 0.0.4.
type page struct{ bytes.Buffer }

// begin begins a metric of a kind: counter, gauge or histogram.
func (p *page) begin(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

func (p *page) sample(series string, value float64) {
	p.WriteString(series + " " + strconv.FormatFloat(value, 'f', -1, 64) + "\n")
}

func (p *page) one(name, kind, help string, value float64) {
	p.begin(name, kind, help)
	p.sample(name, value)
}

func (p *page) histogram(name, help string, h *histogram) {
	h.mu.Lock()
	buckets, sum := h.buckets, h.sum
	h.mu.Unlock()
	p.begin(name, "histogram", help)
	count := uint64(0)
	for i, n := range buckets {
		le := "+Inf"
		if i < len(bounds) {
			le = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		count += n
		p.sample(fmt.Sprintf("%s_bucket{le=%q}", name, le), float64(count))
	}
	p.sample(name+"_sum", sum)
	p.sample(name+"_count", float64(count))
}

// metrics returns the page of /metrics; docs/manual.md lists the names.
func (s *Service) metrics() *page {
	p, c := new(page), &s.count
	p.begin("firstseen_build_info", "gauge", "Always 1; the labels name the versions of firstseen and Go.")
	p.sample(fmt.Sprintf("firstseen_build_info{version=%q,goversion=%q}", s.cfg.Version, runtime.Version()), 1)
	ready := 1.
	if code, _ := s.unready(); code != 0 {
		ready = 0
	}
	p.one("firstseen_ready", "gauge", "1 if /readyz succeeds, else 0.", ready)
	p.begin("firstseen_requests_total", "counter", "Answers by HTTP, by status code.")
	for code := range c.codes {
		if n := c.codes[code].Load(); n > 0 || code == http.StatusOK {
			p.sample(fmt.Sprintf(`firstseen_requests_total{code="%d"}`, code), float64(n))
		}
	}
	p.histogram("firstseen_request_duration_seconds", "Time from the head of a POST /v1/see to the end of its answer.", &c.answering)
	p.begin("firstseen_documents_total", "counter", "Documents answered since the start, by verdict.")
	for v := range c.verdicts {
		p.sample(fmt.Sprintf("firstseen_documents_total{verdict=%q}", dedup.Verdict(v)), float64(c.verdicts[v].Load()))
	}
	p.sample(`firstseen_documents_total{verdict="again"}`, float64(c.again.Load()))
	p.sample(`firstseen_documents_total{verdict="bad"}`, float64(c.bad.Load()))
	p.histogram("firstseen_checkpoint_seconds", "Time for which a checkpoint, or a piece of its work, delayed decisions.", &c.checkpoint)
	if s.cfg.Log != nil {
		p.log(s.cfg.Log)
	} else {
		p.one("firstseen_requests_waiting", "gauge", "Requests that wait for a decision.", float64(s.own.loop.Waiting()))
		p.histogram("firstseen_journal_seconds", "Time to write a group of documents to the journal on disk.", &c.journaling)
	}
	switch {
	case s.cfg.standby.waits() != nil:
		p.standby(s.cfg.standby.behind())
	case s.own != nil:
		p.one("firstseen_standbys", "gauge", "Standbys that read what is decided.", float64(s.own.feed.standbys()))
	}
	s.sizes(p)
	p.process()
	return p
}

// log adds the metrics of a log.
func (p *page) log(log Log) {
	up := 1.
	if log.Away() {
		up = 0
	}
	records, seconds := log.Lag()
	p.one("firstseen_log_up", "gauge", "1 if a broker of the log answers, else 0.", up)
	p.one("firstseen_log_next_offset", "gauge", "Offset of the first record of the log that is not decided.", float64(log.Next()))
	p.one("firstseen_log_lag_records", "gauge", "Records of the log that are not decided.", float64(records))
	p.one("firstseen_log_lag_seconds", "gauge", "Time since the last decided record arrived, or since none was undecided.", seconds)
	p.one("firstseen_log_ahead_documents_total", "counter", "Documents whose time was ahead of the log's clock and did not count.", float64(log.Ahead()))
}

// standby adds the metrics of a standby.
func (p *page) standby(l lag, seconds float64) {
	up := 0.
	if l.up {
		up = 1
	}
	p.one("firstseen_standby_up", "gauge", "1 if the standby is connected to its primary, else 0.", up)
	p.one("firstseen_standby_lag_entries", "gauge", "Steps of the primary, as last told, that the copy lacks.", float64(max(l.wants, l.has)-l.has))
	p.one("firstseen_standby_lag_seconds", "gauge", "Time since the copy last had all steps of the primary.", seconds)
}

// sized is the state of the index between two steps.
type sized struct {
	filter       index.FilterState
	documents    uint32
	keys         uint64
	window, edge uint32 // in seconds, and Unix seconds
}

// sizes adds metrics of the index and its disk. While the index is busy they are those of the last time.
func (s *Service) sizes(p *page) {
	s.scraping.Lock()
	defer s.scraping.Unlock()
	_ = s.decider.Do(func() error { // one that has failed shows in firstseen_ready
		x, z := s.cfg.Index, &s.sized
		z.filter, z.documents, z.keys = x.State(), x.Table().Documents(), x.Table().Entries()
		z.window, _, z.edge = x.Table().Window()
		return nil
	})
	z := &s.sized
	p.one("firstseen_filter_load_ratio", "gauge", "Share of the filter's capacity that is used.", float64(z.filter.Items)/float64(max(z.filter.Capacity, 1)))
	p.one("firstseen_filter_false_positive_ratio", "gauge", "Share of new keys that the filter reports as seen.", z.filter.Rate)
	p.one("firstseen_index_documents", "gauge", "Documents kept since the index was made, even if forgotten or expired.", float64(z.documents))
	p.one("firstseen_index_keys", "gauge", "Pairs of a key and a document in the index.", float64(z.keys))
	if z.window > 0 {
		p.one("firstseen_window_edge_timestamp_seconds", "gauge", "Documents before this time do not count, in seconds since 1970.", float64(z.edge))
	}
	used := int64(0)
	files, _ := os.ReadDir(s.cfg.Dir)
	for _, file := range files {
		if info, err := file.Info(); err == nil { // else it is removed at this moment
			used += info.Size()
		}
	}
	free, _ := durable.Room(s.cfg.Dir)
	p.one("firstseen_disk_used_bytes", "gauge", "Size of the files of the index.", float64(used))
	p.one("firstseen_disk_free_bytes", "gauge", "Bytes that may still be written to the disk of the index.", float64(free))
}

var started = time.Now()

// process adds metrics of the process, most of them only on Linux.
func (p *page) process() {
	p.one("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.", float64(started.UnixMilli())/1000)
	p.one("go_goroutines", "gauge", "Goroutines that exist.", float64(runtime.NumGoroutine()))
	stat, _ := os.ReadFile("/proc/self/stat")
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // the name before may have spaces
	if len(fields) < 22 {
		return
	}
	number := func(i int) float64 {
		n, _ := strconv.ParseFloat(string(fields[i-3]), 64) // see proc(5)
		return n
	}
	p.one("process_cpu_seconds_total", "counter", "Processor time of the process.", (number(14)+number(15))/100)
	p.one("process_resident_memory_bytes", "gauge", "Memory of the process, including cached pages of the index.", number(24)*float64(os.Getpagesize()))
	files, _ := os.ReadDir("/proc/self/fd")
	p.one("process_open_fds", "gauge", "Open files and sockets.", float64(len(files)))
}

func (s *Service) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = s.metrics().WriteTo(w) // the client may be gone
}
