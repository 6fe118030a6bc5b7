package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// BenchmarkSee posts documents of 1 KB, one per operation. Each answer waits for the disk. The
// metrics are the times from a request to its answer.
func BenchmarkSee(b *testing.B) {
	for _, bench := range []struct{ clients, together int }{{1, 1}, {16, 1}, {8, 256}} {
		b.Run(fmt.Sprintf("clients=%d/together=%d", bench.clients, bench.together), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "index")
			x, err := index.Open(context.Background(), dir, index.Options{Shape: index.ShapeFor(1_000_000, feature.Scheme{}, false), Serve: true})
			indextest.Must(b, err)
			s, err := Open(Config{Index: x, Dir: dir})
			indextest.Must(b, err)
			web := httptest.NewServer(s.Handler(""))
			web.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = bench.clients
			var next atomic.Int64
			took := make([][]time.Duration, bench.clients)
			var all sync.WaitGroup
			b.ResetTimer()
			for c := range bench.clients {
				all.Go(func() {
					for {
						at := int(next.Add(int64(bench.together))) - bench.together
						if at >= b.N {
							return
						}
						var lines strings.Builder
						for n := at; n < min(at+bench.together, b.N); n++ {
							fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":\"%s %s\"}\n", n, indextest.Sentences(n), indextest.Sentences(-n-1))
						}
						begun := time.Now()
						r, err := web.Client().Post(web.URL+"/v1/see", "", strings.NewReader(lines.String()))
						if err != nil || r.StatusCode != 200 {
							b.Error(err, r)
							return
						}
						_ = r.Body.Close()
						took[c] = append(took[c], time.Since(begun))
					}
				})
			}
			all.Wait()
			b.StopTimer()
			every := slices.Sorted(slices.Values(slices.Concat(took...)))
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
			b.ReportMetric(float64(every[len(every)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(every[len(every)-1].Microseconds())/1000, "max-ms")
			b.ReportMetric(float64(x.Saving().Milliseconds()), "saving-ms")
			b.ReportMetric(1000*stalled(s, .99), "stall-p99-ms")
			b.ReportMetric(1000*stalled(s, 1), "stall-max-ms")
			web.Close()
			indextest.Must(b, s.Close())
			indextest.Must(b, x.Close())
		})
	}
}

// stalled returns the bound of a quantile of the seconds for which the deciding goroutine was busy
// with a checkpoint or a piece of its work.
func stalled(s *Service, quantile float64) float64 {
	h, count := &s.count.checkpoint, uint64(0)
	for _, n := range h.buckets {
		count += n
	}
	for i, left := 0, uint64(math.Ceil(quantile*float64(count))); i < len(bounds); i++ {
		if left <= h.buckets[i] {
			return bounds[i]
		}
		left -= h.buckets[i]
	}
	return math.Inf(1)
}
