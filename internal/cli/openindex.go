package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/hugemem"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// asMade takes the properties that the command line leaves out from an existing index.
func (f *options) asMade() error {
	if f.index == "" {
		return nil
	}
	made, err := index.ReadMade(f.index)
	if made == nil || err != nil {
		return nil // opening it reports the reason
	}
	if now := f.Window.Seconds; now > 0 && made.Window > 0 && now != made.Window {
		return usageError{fmt.Errorf("--window: index %s was made with a window of %v, and keeps it: leave --window out, or make another index with firstseen index create DIR --window %v", f.index, time.Duration(made.Window)*time.Second, time.Duration(now)*time.Second)}
	}
	if p, has := f.Scheme.Passages, made.Scheme.Passages; p > 0 && p != has {
		without := "without --passages"
		if has > 0 {
			without = fmt.Sprintf("with --passages=%d", has)
		}
		return usageError{fmt.Errorf("--passages: index %s was made %s, and keeps that: leave --passages out, or make another index with firstseen index create DIR --passages=%d", f.index, without, p)}
	}
	f.filterOnly = f.filterOnly || made.FilterOnly
	f.Window.Seconds = cmp.Or(f.Window.Seconds, made.Window)
	f.method.asMade(&f.Scheme, made.Scheme)
	return nil
}

// checkIndex chooses the size of the filter, the clock, and whether keys have a secret. A
// reproducible run has none unless it is demanded.
func (f *options) checkIndex() (err error) {
	switch {
	case f.docs != "":
		docs, err := parseCount(f.docs)
		if err != nil {
			return fmt.Errorf("--docs: %w", err)
		}
		f.shape = index.ShapeFor(docs, f.Scheme, f.filterOnly)
	case f.memory != "":
		if f.shape, err = filterOf(f.memory, f.Scheme.KeysPerDoc(f.filterOnly)); err != nil {
			return err
		}
	}
	if has := hugemem.Machine(); has > 0 && f.shape.Bytes() > has { // 0 is unknown
		return fmt.Errorf("a filter of %s is more than the %s of memory that this machine has: give less with --memory or --docs; firstseen plan --docs N shows what N documents need",
			sizeText(f.shape.Bytes()), sizeText(has))
	}
	if f.OnFull == onFullDefault {
		f.OnFull = index.OnFullGrow
		if f.filterOnly {
			f.OnFull = index.OnFullWarn
		}
	}
	switch {
	case f.keyed:
		f.key = index.KeyRequired
	case f.unkeyed:
		f.key = index.KeyRefused
	case os.Getenv(epochVariable) != "":
		f.key = index.KeyAsIs
	default:
		f.key = index.KeyNew
	}
	f.Now, err = clock()
	return err
}

// leastFilter is the size of the smallest permitted filter, in bytes.
const leastFilter = 64 << 10

// filterOf returns the filter for --memory, for perDoc keys a document.
func filterOf(memory string, perDoc uint64) (bloomstore.Shape, error) {
	bytes, err := parseSize(memory)
	if err != nil {
		return bloomstore.Shape{}, fmt.Errorf("--memory: %w", err)
	}
	docs := func(bytes uint64) string { return countText(float64(bloomstore.ForMemory(bytes).Capacity() / perDoc)) }
	if bytes < leastFilter {
		return bloomstore.Shape{}, fmt.Errorf("--memory %s is %s, and a filter needs at least %s, for %s documents: 1GiB is for %s, and firstseen plan --docs N shows what N need",
			memory, sizeText(bytes), sizeText(leastFilter), docs(leastFilter), docs(1<<30))
	}
	return bloomstore.ForMemory(bytes), nil
}

// openIndex opens the index, or a temporary one that remove removes. It sets the scheme's key.
func (f *options) openIndex(ctx context.Context) (_ *index.Index, remove func() error, err error) {
	dir, remove := f.index, func() error { return nil }
	if dir == "" {
		if dir, remove, err = makeTemp("index"); err != nil {
			return nil, nil, err
		}
	}
	o := index.Options{
		Key: f.key, Shape: f.filterShape(), FilterOnly: f.filterOnly, MemtableKeys: f.memtableKeys,
		Temporary: f.index == "", Serve: f.serve, Follow: f.follow,
	}
	if f.further != nil {
		o.Secret = f.further.Scheme().Key // which a new index takes over
	} else if f.index == "" && (f.key == index.KeyNew || f.key == index.KeyRequired) {
		f.Scheme.Key = index.DrawKey() // for this run alone; users need not know it
	}
	if epoch := os.Getenv(epochVariable); epoch != "" { // the filter must be the same byte for byte
		sum := sha256.Sum256([]byte("firstseen table " + f.Scheme.Name() + " " + epoch))
		o.UUID = [16]byte(sum[:])
	}
	o.Scheme = f.Scheme
	x, err := index.Open(ctx, dir, o)
	switch {
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w while the index was opened: it is as before, run the same command again", errInterrupted)
	case errors.Is(err, index.ErrUnkeyed):
		err = usageError{fmt.Errorf("index %s was made without a key, and keeps its fingerprints; leave out --key, or give another --index", dir)}
	case errors.Is(err, index.ErrKeyed):
		err = usageError{fmt.Errorf("index %s is keyed with a secret, so its fingerprints match only those of indexes with the same secret; leave out --no-key, or give another --index", dir)}
	}
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	f.Scheme, f.openedIn = x.Scheme(), dir
	return x, remove, nil
}

// openAgainst opens the further indexes, and refuses meaningless combinations.
func (f *options) openAgainst(ctx context.Context) (err error) {
	if len(f.against) == 0 {
		return nil
	}
	if f.further, err = index.OpenAgainst(ctx, f.against, pipeline.CheckCompleted); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(usageError{err}, f.further.Close())
		}
	}()
	secret := f.further.Scheme().Key
	switch {
	case f.index != "" && f.further.Has(f.index):
		return fmt.Errorf("%s is given as --index and as --against: leave out --against, since the documents of --index count as earlier anyway", f.index)
	case secret == nil && f.key == index.KeyRequired:
		return errors.New("the indexes of --against were made without a key, and keyed fingerprints match none of theirs; leave out --key")
	case secret != nil && f.key == index.KeyRefused:
		return errors.New("the indexes of --against are keyed with a secret, which a new --index takes over; leave out --no-key")
	}
	for _, dir := range f.against {
		if err := output.CheckOutputs(nil, dir, f.outputs()...); err != nil {
			return err
		}
	}
	if f.key == index.KeyNew || f.key == index.KeyAsIs { // a new index must be comparable with them
		key := index.KeyAsIs
		if secret != nil {
			key = index.KeyNew
		}
		f.key = key
	}
	f.Against = f.further.IDs()
	if f.Temporary {
		f.Scheme.Key = secret
	}
	return nil
}

// tempPrefix begins the names of temporary folders. No lasting index has such a name by chance.
const tempPrefix = "firstseen-temporary-"

// tempVariable returns the environment variable that names the folder of temporary files.
func tempVariable() string {
	if runtime.GOOS == "windows" {
		return "TMP"
	}
	return "TMPDIR"
}

// makeTemp makes a folder for a temporary index or report. remove removes its lock last, since a
// folder without one is never swept.
func makeTemp(what string) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", tempPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("making a temporary %s (set %s to have it elsewhere): %w", what, tempVariable(), err)
	}
	return dir, func() error {
		_, _ = index.RemoveLeftIndex(dir)
		return os.RemoveAll(dir)
	}, nil
}

// filterShape returns the size of the filter, or zero for the usual one. A temporary index that may
// grow gets a smaller one if the inputs cannot have that many keys, because all of it is zeroed. A
// text has at most one key in 16 bytes and is packed to an eighth at best. So the disk holds at
// most one key in two bytes. For more, the filter grows.
func (f *options) filterShape() bloomstore.Shape {
	if f.index != "" || f.filterOnly || f.OnFull != index.OnFullGrow || f.shape != (bloomstore.Shape{}) || f.ReadsPipe() {
		return f.shape
	}
	bytes, _ := input.TotalSize(f.Inputs)
	usual := index.ShapeFor(index.DefaultDocs, f.Scheme, false)
	return bloomstore.ForItems(min(max(uint64(bytes)/2, leastTempKeys), usual.Capacity()))
}

// leastTempKeys is the number of keys for a filter of 128 KiB.
const leastTempKeys = 1 << 16

// sweepTempIndexes removes the temporary indexes and reports that killed runs left in dir. A folder
// that cannot be removed, or may not be such a one, stays: cleaning up must not fail a run.
func sweepTempIndexes(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && ours(info) {
			_, _ = index.RemoveLeftIndex(filepath.Join(dir, e.Name()))
		}
	}
}
