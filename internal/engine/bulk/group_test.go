package bulk

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// decidedBy returns the reports and the table of a decision by a number of goroutines.
func decidedBy(t *testing.T, set []*Manifest, marks string, jobs int, d Decision) (reports string, table *table) {
	t.Helper()
	var b strings.Builder
	d.Set, d.Marks, d.Jobs = set, marks, jobs
	d.Begin = func(m *Manifest) error {
		fmt.Fprintln(&b, "shard", m.Shard)
		return nil
	}
	d.Line = func(line []byte) error {
		b.Write(line)
		return nil
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%+v, %d marks", d.Tally, d.Marked)
	return b.String(), d.table
}

// TestGroupsEqualOneByOne checks that a decision by any number of goroutines writes the same reports
// and leaves the same table, over frames of any size, of one document and of a few.
func TestGroupsEqualOneByOne(t *testing.T) {
	defer func(size int) { frameBytes = size }(frameBytes)
	w := newWorld(8)
	passage := func(sentences int) (text string) {
		for range sentences {
			text += fmt.Sprintf("w%d w%d w%d w%d w%d w%d w%d w%d. ", w.IntN(1e6), w.IntN(1e6), w.IntN(1e6), w.IntN(1e6), w.IntN(1e6), w.IntN(1e6), w.IntN(1e6), w.IntN(1e6))
		}
		return text
	}
	var texts []string
	frame := passage(40)
	for i, text := range w.texts(288) {
		if i%24 == 0 { // of the removed ones some count
			texts = append(texts, frame+passage(11))
		}
		texts = append(texts, text)
	}
	marks := filepath.Join(t.TempDir(), "marks")
	prefer := func(file string, made time.Time) (string, int64) { return file[:3], -made.Unix() }
	for name, d := range map[string]Decision{"first": {}, "mosaics": {Rules: dedup.Rules{RemoveMosaics: true}}, "preferred": {Prefer: prefer}} {
		want := ""
		for _, size := range []int{1, 64 << 10} {
			frameBytes = size
			dir := t.TempDir()
			write(t, dir, feature.Scheme{}, texts, 0, 120, 1, 179)
			set := readSet(t, dir)
			if err := os.WriteFile(marks, []byte(reduce(t, rowsOf(t, set))), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, jobs := range []int{1, 2, 8, 64} {
				got, table := decidedBy(t, set, marks, jobs, d)
				got += fmt.Sprintf(", %d documents of %d bytes, %d links", len(table.docs), table.arena.used(), links(table))
				if !slices.ContainsFunc(table.docs, func(place uint64) bool { return place >= onlyCounts }) {
					t.Error("no document only counts")
				}
				if want == "" {
					want = got
				}
				if got != want || strings.Count(got, "\n") < 50 {
					t.Fatalf("%s: frames of %d bytes, %d goroutines:\n%.2000s\nwant\n%.2000s", name, size, jobs, got, want)
				}
			}
		}
	}
}

func links(t *table) (n int) {
	for i := range t.heads {
		n += t.heads[i].n + len(t.heads[i].postings)
	}
	return n
}

// writeAlike writes a shard of whole frames, of 1000 documents twice each.
func writeAlike(t *testing.T, frames int) (set []*Manifest, marks string) {
	t.Helper()
	scheme := feature.Scheme{Method: "exact"}
	const each = 2000
	e, err := feature.NewExtractor(scheme)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m := &Manifest{Shard: 1, Of: 1, Scheme: scheme.Name(), Inputs: []File{{Name: "in"}}}
	id := bytes.Repeat([]byte("i"), frameBytes/each)
	err = Write(dir, m, func(add func(*Frame) error) error {
		for range frames {
			var f Frame
			for n := range each {
				doc := Doc{ID: id}
				e.Extract(&doc.Sketch, fmt.Append(nil, "text ", n%(each/2)))
				f.Add(&doc, nil, false)
			}
			if err := add(&f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	set, marks = readSet(t, dir), filepath.Join(dir, "marks")
	if err := os.WriteFile(marks, []byte(reduce(t, rowsOf(t, set))), 0o600); err != nil {
		t.Fatal(err)
	}
	return set, marks
}

// TestWorkIsInGroups counts the rounds of tasks for 64 goroutines: a frame of 2000 documents takes few,
// and has work for all of them when documents are decided and when their results are passed on.
func TestWorkIsInGroups(t *testing.T) {
	const frames, workers = 4, 64
	set, marks := writeAlike(t, frames)
	var rounds []int
	pool := dedup.Pool{Size: workers, Run: func(tasks int, f func(worker, task int)) {
		rounds = append(rounds, tasks)
		for task := range tasks {
			f(task%workers, task)
		}
	}}
	d := Decision{Set: set, Marks: marks, Jobs: workers, Line: func([]byte) error { return nil }}
	if err := d.pass(t.Context(), pool, nil, nil); err != nil {
		t.Fatal(err)
	}
	wide := len(slices.DeleteFunc(slices.Clone(rounds), func(tasks int) bool { return tasks < workers }))
	if d.Tally.Documents != frames*2000 || d.Tally.Kept != 1000 || len(rounds) > 7*frames || wide < 2*frames {
		t.Errorf("%+v in rounds of %v tasks", d.Tally, rounds)
	}
}

// TestDecisionUsesJobs checks that documents are decided by all goroutines at the same time.
func TestDecisionUsesJobs(t *testing.T) {
	set, marks := writeAlike(t, 1)
	for _, jobs := range []int{1, 2, 64} {
		synctest.Test(t, func(t *testing.T) {
			waiting, open := make(chan struct{}, 10_000), make(chan struct{})
			pool := dedup.NewPool(jobs)
			run := pool.Run
			pool.Run = func(tasks int, f func(worker, task int)) {
				run(tasks, func(worker, task int) {
					waiting <- struct{}{}
					<-open
					f(worker, task)
				})
			}
			ended := make(chan error)
			d := Decision{Set: set, Marks: marks, Jobs: jobs}
			go func() { ended <- d.pass(t.Context(), pool, nil, nil) }()
			if synctest.Wait(); len(waiting) != jobs {
				t.Errorf("%d goroutines of %d", len(waiting), jobs)
			}
			close(open)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLeftOutIsNotShared checks that a key whose marks are left out counts for no document, whether the
// others are in its group or not.
func TestLeftOutIsNotShared(t *testing.T) {
	defer func(size int) { frameBytes = size }(frameBytes)
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("This is the menu of all pages here. Pages %d of a pair share this sentence. Only page %d says this, and its number is %d.", i/2, i, i*i))
	}
	for _, size := range []int{1, 1 << 20} {
		frameBytes = size
		dir := t.TempDir()
		write(t, dir, feature.Scheme{}, texts, len(texts))
		set := readSet(t, dir)
		rows := rowsOf(t, set)
		holders := map[string]int{}
		for _, row := range rows {
			holders[row[:16]]++
		}
		for most, want := range map[int]int{100: 2, 8: 1} {
			marks := reduce(t, slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return holders[row[:16]] >= most }))
			lines, err := decide(t, set, marks, &Decision{Jobs: 3})
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				if line.ID == "1" && line.Shared != want {
					t.Errorf("frames of %d bytes, marks of keys in less than %d documents: %d shared segments, want %d: %+v", size, most, line.Shared, want, line)
				}
			}
			if len(lines) == 0 {
				t.Error("no line")
			}
		}
	}
}
