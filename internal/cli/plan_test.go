//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/pipeline/forecast"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// pages returns n documents with a common menu of menu segments and ten segments of their own.
// Nearly all words of those are unique, so that runs make no page a copy.
func pages(n, menu int) string {
	var b strings.Builder
	rng := rand.New(rand.NewPCG(uint64(n), uint64(menu)))
	for i := range n {
		fmt.Fprintf(&b, `{"id":"page %d","text":"`, i)
		for m := range menu {
			fmt.Fprintf(&b, "Menu entry %d. ", m)
		}
		for own := range 10 {
			for range 14 {
				fmt.Fprintf(&b, "%x ", rng.Uint32())
			}
			fmt.Fprintf(&b, "says sentence %d. ", own)
		}
		b.WriteString("\"}\n")
	}
	return b.String()
}

// TestPlannedDisk checks that a side table takes no more disk than planned, and not far less.
func TestPlannedDisk(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	for _, menu := range []int{0, 40} {
		for _, n := range []int{10, 300, 3000} {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "in.jsonl"), pages(n, menu))
			said, _ := runProgram(t, dir, exitDone, "plan", "--json", "in.jsonl")
			var plan forecast.Forecast
			indextest.Must(t, json.Unmarshal([]byte(said), &plan))
			if plan.Documents != uint64(n) {
				t.Errorf("%d documents planned, of %d", plan.Documents, n)
			}
			runProgram(t, dir, exitDone, "dedup", "-q", "--docs", fmt.Sprint(plan.Documents), "--index", "index", "in.jsonl")
			disk := uint64(0)
			for _, name := range []string{index.TableFile, index.FilterFile} {
				info, err := os.Stat(filepath.Join(dir, "index", name))
				indextest.Must(t, err)
				if disk += uint64(info.Size()); name == index.TableFile {
					holdPlan(t, fmt.Sprintf("%d pages with a menu of %d", n, menu), disk, plan.TableBytes, 1<<20)
				}
			}
			holdPlan(t, fmt.Sprintf("%d pages with a menu of %d, with the filter", n, menu), disk, plan.DiskBytes, 1<<20)
		}
	}
}

func holdPlan(t *testing.T, what string, took, planned, slack uint64) {
	t.Helper()
	if took > planned || planned > 3*took+slack {
		t.Errorf("%s: %d bytes taken, %d planned", what, took, planned)
	}
}

// TestTableDiskOfRuns checks the forecast when keys become runs and runs are merged.
func TestTableDiskOfRuns(t *testing.T) {
	t.Parallel()
	takesSeconds(t)
	const memtable = 10_000
	for _, menu := range []int{0, 40} {
		for _, n := range []int{200, 900, 1000, 2120, 2400, 5000} {
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "in.jsonl"), pages(n, menu))
			runProgram(t, dir, exitDone, "dedup", "-q", "--docs", "50k", "--memtable-keys", fmt.Sprint(memtable),
				"--summary", "sum.json", "--index", "index", "in.jsonl")
			var sum struct {
				Kept  float64
				Table index.TableStats
			}
			indextest.Must(t, json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "sum.json"))), &sum))
			if sum.Kept != float64(n) {
				t.Fatalf("%v of %d pages kept", sum.Kept, n)
			}
			// Ten segments, the menu, run keys in the remaining places, and the whole text.
			keys := min(10+menu+8, 50) + 1
			planned := forecast.TableDisk(sum.Kept, sum.Kept*float64(keys), float64(sum.Table.Entries), 10, memtable)
			holdPlan(t, fmt.Sprintf("%d pages with a menu of %d, in runs %v", n, menu, sum.Table.Runs), uint64(sum.Table.Bytes), planned, 1<<18)
			t.Logf("%d pages, menu %d: runs %v, %d of %d", n, menu, sum.Table.Runs, sum.Table.Bytes, planned)
		}
	}
}
