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
)

// counters counts for /metrics. Its methods are safe for concurrent use.
type counters struct {
	kept, removed, again atomic.Uint64
	saving               histogram
}

func (c *counters) decided(r *dedup.Result) {
	switch {
	case r.Again:
		c.again.Add(1)
	case r.Kept:
		c.kept.Add(1)
	default:
		c.removed.Add(1)
	}
}

// bounds are the upper bounds of a histogram's buckets, in seconds.
var bounds = [...]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

type histogram struct {
	mu      sync.Mutex
	buckets [len(bounds) + 1]uint64 // the last one has no bound
	sum     float64
}

func (h *histogram) observe(seconds float64) {
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
	p.begin("firstseen_documents_total", "counter", "Documents decided since the start, except those sent again, by whether they were kept.")
	p.sample(`firstseen_documents_total{kept="true"}`, float64(c.kept.Load()))
	p.sample(`firstseen_documents_total{kept="false"}`, float64(c.removed.Load()))
	p.one("firstseen_documents_again_total", "counter", "Documents sent again after they were kept.", float64(c.again.Load()))
	if log := s.cfg.Log; log != nil {
		p.one("firstseen_log_next_offset", "gauge", "Offset of the first record of the log that is not decided.", float64(log.Next()))
		p.one("firstseen_log_ahead_documents_total", "counter", "Documents whose time was ahead of the log's clock and did not count.", float64(log.Ahead()))
	} else {
		p.one("firstseen_requests_waiting", "gauge", "Requests that wait for a decision.", float64(s.own.loop.Waiting()))
		p.histogram("firstseen_checkpoint_seconds", "Time for which a checkpoint, or a piece of its work, delayed decisions.", &c.saving)
	}
	p.process()
	return p
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
