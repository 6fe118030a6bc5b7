package docmap

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/firstseen/firstseen/docmap/sorted"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// childEnv makes the test program work on a table instead of running tests.
const childEnv = "DOCMAP_TEST_CHILD"

// mappingEnv makes the child map its file as in the second run of the tests.
const mappingEnv = "DOCMAP_TEST_NO_MAPPING"

// unmapped reports whether this is the second run.
var unmapped bool

func remap() {
	unmapped = true
	initialMapping = func() int { return 0 }
}

func childEnviron(what string) []string {
	env := append(os.Environ(), childEnv+"="+what)
	if unmapped {
		env = append(env, mappingEnv+"=1")
	}
	return env
}

// TestMain runs all tests twice: normally, and with the shortest possible mapping, so that bbolt
// remaps a growing file. It does so on Windows, with little address space, and for large tables.
func TestMain(m *testing.M) {
	if what := os.Getenv(childEnv); what != "" {
		if os.Getenv(mappingEnv) != "" {
			remap()
		}
		runtime.LockOSThread() // strace counts the calls of each thread
		if err := children[what](os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	indextest.ShortInMemory()
	code := m.Run()
	for _, once := range []string{"test.bench", "test.fuzz", "test.list"} {
		if flag.Lookup(once).Value.String() != "" {
			os.Exit(code)
		}
	}
	if code == 0 && !testing.Short() {
		remap()
		// A few documents suffice to show a mapping that moves.
		if err := flag.Set("test.short", "true"); err != nil {
			panic(err)
		}
		code = m.Run()
	}
	os.Exit(code)
}

var children = map[string]func(path string) error{
	"create": childCreates,
	"write":  childWrites,
}

func childCreates(path string) error {
	table, err := Open(path, childOptions)
	if err != nil {
		return err
	}
	return table.Close()
}

var childOptions = Options{
	Scheme: "test", MemtableKeys: 60, UUID: [16]byte{1},
	sizes: sizes{division: sorted.Division{BlockBits: 3, MaxSubBits: 1}, low: 2, high: 2, sliceBytes: 300},
}

const (
	childDocs = 48
	childStep = 6 // documents per checkpoint
)

// childDoc returns document i of the child's table.
func childDoc(i int) (Doc, []uint64) {
	r := rand.New(rand.NewPCG(11, uint64(i)))
	return randomDoc(r, i), docKeys(r, 10)
}

// childWrites fills a table. Each checkpoint stores the number of its documents and is reported on
// standard output. After a failed checkpoint it tries again, or reopens the table once.
func childWrites(path string) error {
	err := childFills(path)
	if err == nil {
		return nil
	}
	fmt.Println("failed:", err)
	return childFills(path)
}

func childFills(path string) (err error) {
	table, err := Open(path, childOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	if err := table.Share(3, together); err != nil {
		return err
	}
	v, err := table.State("docs")
	if err != nil {
		return err
	}
	at, _ := strconv.Atoi(string(v)) // 0 without a value
	for i := at; i < childDocs; i++ {
		d, keys := childDoc(i)
		if num, err := table.addDoc(d, keys); err != nil || int(num) != i+1 {
			return fmt.Errorf("document %d has number %d: %w", i+1, num, err)
		}
		if (i+1)%childStep != 0 {
			continue
		}
		state := map[string][]byte{"docs": fmt.Append(nil, i+1)}
		if err := table.Checkpoint(state); err != nil {
			fmt.Println("failed:", err)
			if again := table.Checkpoint(state); again != nil {
				return again
			}
			fmt.Println("tried again")
		}
		fmt.Println("made", i+1)
	}
	return nil
}
