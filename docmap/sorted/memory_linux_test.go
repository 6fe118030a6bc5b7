package sorted

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestCacheOfALargeRun opens a run of 2^20 bins, of 8 billion entries. Its cache must lie outside
// the Go heap, take no memory before it is used and at most BinMemory a bin after, and be freed.
func TestCacheOfALargeRun(t *testing.T) {
	const bins = 1 << 20
	heap, resident := memory(t)
	r := NewRun(DefaultDivision.Shape(33, 1, 1<<27), 1, 1)
	if r.Bins() != bins {
		t.Fatalf("%d bins", r.Bins())
	}
	if h, m := memory(t); h > heap+1<<20 || m > resident+8<<20 {
		t.Errorf("opening takes %d bytes of heap, %d in all", h-heap, m-resident)
	}
	for bin := range uint64(bins) {
		r.Trust(bin)
	}
	if h, m := memory(t); h > heap+1<<20 || m > resident+int64(bins*BinMemory)+8<<20 {
		t.Errorf("%d bins take %d bytes of heap, %d in all", bins, h-heap, m-resident)
	}
	r = nil
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, m := memory(t); m < resident+int64(bins*BinMemory)/2 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the cache of a run that is gone was not freed")
		}
	}
}

// memory returns the bytes of objects in the heap and those of anonymous memory in use.
func memory(t *testing.T) (heap, resident int64) {
	t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "RssAnon:")
	if _, err := fmt.Sscan(after, &resident); err != nil {
		t.Fatal(err)
	}
	return int64(m.HeapAlloc), resident << 10
}
