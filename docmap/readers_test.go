package docmap

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// states are the contents of a table's checkpoints, by the number that each stores.
type states struct {
	sync.Mutex
	at map[string]*takenOracle
}

func (s *states) put(n int, o *takenOracle) {
	s.Lock()
	defer s.Unlock()
	s.at[strconv.Itoa(n)] = o
}

func (s *states) get(n []byte) *takenOracle {
	s.Lock()
	defer s.Unlock()
	return s.at[string(n)]
}

// Readers start at any moment while a table is written, stay for any number of transactions, and
// leave in order or abruptly. Each finds one whole checkpoint.
func TestReadersBesideAWriter(t *testing.T) {
	if !canShare || initialMapping() == 0 {
		t.Skip("who writes a table is alone with it on this system")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "table")
	opt := smallOptions
	opt.MemtableKeys, opt.sizes = 60, smallSizes["many bins"]
	table := mustOpen(t, path, opt)
	all := &states{at: map[string]*takenOracle{}}
	all.put(0, newTakenOracle())
	must(t, table.Checkpoint(map[string][]byte{"n": []byte("0")}))
	done := make(chan struct{})
	var group errgroup.Group
	seen := make([]map[string]bool, 3)
	for i := range seen {
		seen[i] = map[string]bool{}
		group.Go(func() error { return readBeside(path, all, done, rand.New(rand.NewPCG(uint64(i), 9)), seen[i]) })
	}
	rounds := 100 // bench readers asks for many minutes
	if testing.Short() {
		rounds = 60
	}
	writeBeside(t, table, all, rounds)
	close(done)
	must(t, group.Wait())
	n := 0
	for i := range seen {
		n += len(seen[i])
	}
	if n < rounds/10 {
		t.Errorf("readers saw %d checkpoints: too few to mean anything", n)
	}
	must(t, table.Close())
	// A process that another test starts has the locks of readers until it runs its program,
	// so the desk can outlast one writer, and not the next.
	must(t, mustOpen(t, path, opt).Close())
	if _, err := os.Stat(path + readersSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the desk is left: %v", err)
	}
}

func writeBeside(t *testing.T, table *Table, all *states, rounds int) {
	r := rand.New(rand.NewPCG(1, 9))
	want := newTakenOracle()
	for n := 1; n <= rounds; n++ {
		for range r.IntN(12) {
			d, keys := randomDoc(r, len(want.docs)), fewKeys(r, 400)
			want.add(d, keys)
			_, err := table.addDoc(d, keys)
			must(t, err)
		}
		if r.IntN(3) == 0 {
			forgetSome(t, table, want, r)
		}
		all.put(n, want.clone())
		must(t, table.Checkpoint(map[string][]byte{"n": []byte(strconv.Itoa(n))}))
	}
}

// A failure is the result of a comparison in another goroutine than the test's.
type failure struct{ text string }

func (f *failure) Helper() {}
func (f *failure) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	panic(f)
}

// readBeside opens the table repeatedly and compares it with the checkpoint that it names.
func readBeside(path string, all *states, done chan struct{}, r *rand.Rand, seen map[string]bool) error {
	var open []*Table
	defer func() {
		for _, t := range open {
			_ = t.Close()
		}
	}()
	for last := false; ; {
		table, err := Open(path, Options{ReadOnly: true, sizes: smallSizes["many bins"], MemtableKeys: 60})
		if err != nil {
			return err
		}
		open = append(open, table)
		for range r.IntN(3) {
			i := r.IntN(len(open))
			if err := compareBeside(open[i], all, seen); err != nil {
				return err
			}
		}
		if len(open) > 3 || last {
			i := r.IntN(len(open))
			if r.IntN(4) == 0 { // killed
				open[i].signedIn.Close()
				open[i].signedIn = nil
			}
			if err := open[i].Close(); err != nil {
				return err
			}
			open = append(open[:i], open[i+1:]...)
		}
		if last {
			return nil
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
}

func compareBeside(table *Table, all *states, seen map[string]bool) (err error) {
	defer func() {
		if f, ok := recover().(*failure); ok {
			err = errors.New(f.text)
		}
	}()
	if err := table.Share(2, together); table.signedIn != nil && !errors.Is(err, ErrLocked) {
		return fmt.Errorf("several readers of one that is written: %v", err)
	}
	n, err := table.State("n")
	if err != nil || n == nil {
		return err
	}
	seen[string(n)] = true
	all.get(n).equal(&failure{}, table)
	return nil
}

// A starting writer finds the readers, in the state that it would continue from or in an earlier
// one.
func TestWriterFindsReaders(t *testing.T) {
	if !canShare || initialMapping() == 0 {
		t.Skip("who writes a table is alone with it on this system")
	}
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	must(t, table.Checkpoint(nil))
	early := mustOpen(t, path, Options{ReadOnly: true})
	must(t, table.Checkpoint(nil))
	late := mustOpen(t, path, Options{ReadOnly: true})
	if a, b := early.Generation().Sequence, late.Generation().Sequence; a != 1 || b != 2 {
		t.Fatalf("sequences %d and %d", a, b)
	}
	if _, err := Open(path, smallOptions); !errors.Is(err, ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	must(t, table.Close())
	if _, err := Open(path, smallOptions); !errors.Is(err, ErrLocked) {
		t.Errorf("while somebody reads an earlier state: %v", err)
	}
	must(t, early.Close())
	table = mustOpen(t, path, smallOptions)
	must(t, table.Checkpoint(nil))
	must(t, late.Close())
	must(t, table.Close())
	if _, err := os.Stat(path + readersSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the desk is left: %v", err)
	}
}

// TestLongStayMustReopen: a reader beside a writer must open the table again after too long a
// time, or too much growth, and then finds the newest state.
func TestLongStayMustReopen(t *testing.T) {
	if !canShare || initialMapping() == 0 {
		t.Skip("who writes a table is alone with it on this system")
	}
	defer func(d time.Duration, n int64) { mostTime, mostSize = d, n }(mostTime, mostSize)
	path := filepath.Join(t.TempDir(), "table")
	table := mustOpen(t, path, smallOptions)
	for i, limit := range []func(){
		func() { mostTime = -1 },
		func() { mostTime, mostSize = time.Hour, 256<<10 },
	} {
		must(t, table.Checkpoint(nil))
		mostTime, mostSize = time.Hour, 1<<30
		ro := mustOpen(t, path, Options{ReadOnly: true})
		if _, err := ro.ByID("x"); err != nil {
			t.Fatal(err)
		}
		limit()
		var p postings
		for n := 0; n < 2000 && !errors.Is(ro.ask([]uint64{1}, &p), ErrReopen); n++ {
			_, err := table.addDoc(Doc{ID: fmt.Sprint("new ", i, n), Data: make([]byte, 1000)}, nil)
			must(t, errors.Join(err, table.Checkpoint(nil)))
		}
		if _, err := ro.ByID("x"); !errors.Is(err, ErrReopen) {
			t.Fatalf("limit %d: %v", i, err)
		}
		must(t, ro.Close())
		mostTime, mostSize = time.Hour, 1<<30
		ro = mustOpen(t, path, Options{ReadOnly: true})
		if ro.Documents() != table.Documents() {
			t.Errorf("limit %d: %d documents, want %d", i, ro.Documents(), table.Documents())
		}
		must(t, ro.ask([]uint64{1}, &p))
		must(t, ro.Close())
	}
}
