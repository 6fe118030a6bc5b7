package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/base/hugemem"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/temporary"
)

// indexFlags are the flags about an index to make, or to open and add to.
type indexFlags struct {
	methodFlags
	dir            string
	docs, memory   string
	keyed, unkeyed bool
	filterOnly     bool
	window         uint32 // seconds; 0 for none
	onFull         index.OnFull

	// Set by the checks and by opening.
	shape    bloomstore.Shape
	key      index.KeyPolicy
	now      func() time.Time
	openedIn string // folder of the index, which may be temporary
}

// registerNew registers the flags about a new index, after those about its size.
func (f *indexFlags) registerNew(fs *pflag.FlagSet) {
	f.registerSize(fs, "1M; it grows when full")
	flags.Seconds(fs, &f.window, "window", "documents count for this long, such as 48h or 2d, and no longer")
	fs.BoolVar(&f.keyed, "key", false, "fingerprints keyed with a random secret, stored in the index: the default, unless SOURCE_DATE_EPOCH is set")
	fs.BoolVar(&f.unkeyed, "no-key", false, "fingerprints without a secret, for indexes that are to be compared; an author of the input can then have chosen documents removed")
}

func (f *indexFlags) registerSize(fs *pflag.FlagSet, usual string) {
	fs.StringVar(&f.docs, "docs", "", "size the filter for this `number` of documents, such as 10M (default "+usual+")")
	fs.StringVar(&f.memory, "memory", "", "size the filter by memory in `bytes`, such as 1GiB (10.5 million documents)")
}

// conflicts are those of any command that opens an index.
func (f *indexFlags) conflicts() []conflict {
	return []conflict{
		{f.window > 0 && f.filterOnly, "--window needs the side table, and --filter-only has none: a filter cannot forget"},
		{f.scheme.Passages > 0 && f.filterOnly, "--passages names the earlier document, and --filter-only does not know it"},
		{f.keyed && f.unkeyed, "--key and --no-key are opposites: give one"},
		{f.docs != "" && f.memory != "", "--docs and --memory both size the filter: give one"},
		{f.onFull == index.OnFullGrow && f.filterOnly, "--limit full=grow needs the side table to grow from; with --filter-only use stop or warn"},
	}
}

// limitFull ends the help of --limit, for commands that write an index.
const limitFull = ", full=grow (if the filter is full: grow, stop or warn)"

// onFullDefault stands for the default of --limit full, which depends on --filter-only.
const onFullDefault index.OnFull = 255

// limitFull gives --limit what to do about a full filter.
func (f *indexFlags) limitFull(limit *flags.Refined) {
	limit.Add("", "full", flags.Word(&f.onFull, []string{"grow", "stop", "warn"}, index.OnFullGrow, index.OnFullStop, index.OnFullWarn))
	f.onFull = onFullDefault
}

// asMade takes the properties that the command line leaves out from an existing index.
func (f *indexFlags) asMade() error {
	if f.dir == "" {
		return nil
	}
	made, err := index.ReadMade(f.dir)
	if made == nil || err != nil {
		return nil // opening it reports the reason
	}
	if now := f.window; now > 0 && made.Window > 0 && now != made.Window {
		return usageError{fmt.Errorf("--window: index %s was made with a window of %v, and keeps it: leave --window out, or make another index with firstseen index create DIR --window %v", f.dir, time.Duration(made.Window)*time.Second, time.Duration(now)*time.Second)}
	}
	if p, has := f.scheme.Passages, made.Scheme.Passages; p > 0 && p != has {
		without := "without --passages"
		if has > 0 {
			without = fmt.Sprintf("with --passages=%d", has)
		}
		return usageError{fmt.Errorf("--passages: index %s was made %s, and keeps that: leave --passages out, or make another index with firstseen index create DIR --passages=%d", f.dir, without, p)}
	}
	f.filterOnly = f.filterOnly || made.FilterOnly
	f.window = cmp.Or(f.window, made.Window)
	f.takeMade(made.Scheme)
	return nil
}

// checkIndex checks the flags for a new index or an existing one, with further conflicts.
func (f *indexFlags) checkIndex(more ...conflict) error {
	return usage(inTurn(
		func() error { return f.checkMethod(f.dir, f.filterOnly) },
		func() error { return meaning(append(more, f.conflicts()...)...) },
		f.chooseIndex,
	))
}

// chooseIndex chooses the size of the filter, the clock, and whether keys have a secret. A
// reproducible run has none unless it is demanded.
func (f *indexFlags) chooseIndex() (err error) {
	switch {
	case f.docs != "":
		docs, err := amount.ParseCount(f.docs)
		if err != nil {
			return fmt.Errorf("--docs: %w", err)
		}
		f.shape = index.ShapeFor(docs, f.scheme, f.filterOnly)
	case f.memory != "":
		if f.shape, err = filterOf(f.memory, f.scheme.KeysPerDoc(f.filterOnly)); err != nil {
			return err
		}
	}
	if has := hugemem.Machine(); has > 0 && f.shape.Bytes() > has { // 0 is unknown
		return fmt.Errorf("a filter of %s is more than the %s of memory that this machine has: give less with --memory or --docs; firstseen plan --docs N shows what N documents need",
			amount.Size(f.shape.Bytes()), amount.Size(has))
	}
	if f.onFull == onFullDefault {
		f.onFull = index.OnFullGrow
		if f.filterOnly {
			f.onFull = index.OnFullWarn
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
	f.now, err = clock()
	return err
}

// leastFilter is the size of the smallest permitted filter, in bytes.
const leastFilter = 64 << 10

// filterOf returns the filter for --memory, for perDoc keys a document.
func filterOf(memory string, perDoc uint64) (bloomstore.Shape, error) {
	bytes, err := amount.ParseSize(memory)
	if err != nil {
		return bloomstore.Shape{}, fmt.Errorf("--memory: %w", err)
	}
	docs := func(bytes uint64) string {
		return amount.Count(float64(bloomstore.ForMemory(bytes).Capacity() / perDoc))
	}
	if bytes < leastFilter {
		return bloomstore.Shape{}, fmt.Errorf("--memory %s is %s, and a filter needs at least %s, for %s documents: 1GiB is for %s, and firstseen plan --docs N shows what N need",
			memory, amount.Size(bytes), amount.Size(leastFilter), docs(leastFilter), docs(1<<30))
	}
	return bloomstore.ForMemory(bytes), nil
}

// openIndex opens the index, or a temporary one that remove removes. It sets the scheme's key. o has
// further options.
func (f *indexFlags) openIndex(ctx context.Context, o index.Options) (_ *index.Index, remove func() error, err error) {
	dir, remove := f.dir, func() error { return nil }
	if dir == "" {
		if dir, remove, err = temporary.New("index"); err != nil {
			return nil, nil, err
		}
	}
	o.Key, o.Shape, o.FilterOnly, o.Temporary = f.key, f.shape, f.filterOnly, f.dir == ""
	if o.Secret == nil && f.dir == "" && (f.key == index.KeyNew || f.key == index.KeyRequired) {
		f.scheme.Key = index.DrawKey() // for this run alone; users need not know it
	}
	if epoch := os.Getenv(epochVariable); epoch != "" { // the filter must be the same byte for byte
		sum := sha256.Sum256([]byte("firstseen table " + f.scheme.Name() + " " + epoch))
		o.UUID = [16]byte(sum[:])
	}
	o.Scheme = f.scheme
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
	f.scheme, f.openedIn = x.Scheme(), dir
	return x, remove, nil
}

// openAgainst opens the further indexes, and refuses meaningless combinations.
func (f *dedupOptions) openAgainst(ctx context.Context) (err error) {
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
	if f.dir != "" && f.further.Has(f.dir) {
		return fmt.Errorf("%s is given as --index and as --against: leave out --against, since the documents of --index count as earlier anyway", f.dir)
	}
	for _, dir := range f.against {
		if err := output.CheckOutputs(nil, dir, f.outputs()...); err != nil {
			return err
		}
	}
	if f.key == index.KeyNew || f.key == index.KeyAsIs { // a new index must be comparable with them
		if f.key = index.KeyAsIs; secret != nil {
			f.key = index.KeyNew
		}
	}
	f.Against = f.further.IDs()
	if f.dir == "" {
		f.scheme.Key = secret
	}
	return nil
}

// filterShape returns the size of the filter, or zero for the usual one. A temporary index that may
// grow gets a smaller one if the inputs cannot have that many keys, because all of it is zeroed. A
// text has at most one key in 16 bytes and is packed to an eighth at best. So the disk holds at
// most one key in two bytes. For more, the filter grows.
func (f *dedupOptions) filterShape() bloomstore.Shape {
	if f.dir != "" || f.filterOnly || f.onFull != index.OnFullGrow || f.shape != (bloomstore.Shape{}) || f.readsPipe() {
		return f.shape
	}
	bytes, _ := input.TotalSize(f.inputs)
	usual := index.ShapeFor(index.DefaultDocs, f.scheme, false)
	return bloomstore.ForItems(min(max(uint64(bytes)/2, leastTempKeys), usual.Capacity()))
}

// leastTempKeys is the number of keys for a filter of 128 KiB.
const leastTempKeys = 1 << 16

// epochVariable holds the time that a reproducible run gives its documents, in seconds since 1970.
// See reproducible-builds.org/specs/source-date-epoch.
const epochVariable = "SOURCE_DATE_EPOCH"

// clock returns the clock that stamps documents: the real one, or SOURCE_DATE_EPOCH if given.
func clock() (func() time.Time, error) {
	epoch := os.Getenv(epochVariable)
	if epoch == "" {
		return time.Now, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 36) // until the year 3058; JSON has no times after 9999
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s is %q: want whole seconds since 1970, or unset it", epochVariable, epoch)
	}
	t := time.Unix(seconds, 0)
	return func() time.Time { return t }, nil
}
