package cli

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
)

// task is a checked run of dedup: its options, and the things made of them beside the job.
type task struct {
	*options
	passed     []input.Passed
	found      corpus.Format // of the files among the inputs; nil for none
	shape      bloomstore.Shape
	openedIn   string // the folder of the index, maybe temporary
	keyed      index.KeyPolicy
	serve      bool           // a server opens the index
	follow     bool           // a follower of a log does
	notice     string         // the gaps in knowledge left by an interrupted run, to be reported
	against    *index.Against // nil for none
	whole      bool           // the report is, so files can be derived from it
	names      []string       // of inputs in a tree of outputs, if there is one
	confirming confirming
	watch      func(*dedup.Result) // sees each decision, for --prefer and --remove-within; nil without
	watched    *report.Summary
}

// asMade takes the properties that the command line leaves out from the index, which has them
// since it was made.
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
	f.filterOnly = f.filterOnly || made.FilterOnly
	f.Window.Seconds = cmp.Or(f.Window.Seconds, made.Window)
	f.method.asMade(&f.Scheme, made.Scheme)
	return nil
}

// task checks the flags. All its errors are mistakes of usage, but for inputs
// that cannot be read.
func (f *options) task(args []string) (*task, error) {
	p := &task{options: f}
	f.Args, f.Temporary = args, f.index == ""
	if err := f.asMade(); err != nil {
		return nil, err
	}
	for _, check := range []func(*task) error{
		f.taskMethod, f.taskReading, f.taskMeaning, f.taskVerify, f.taskKey, f.taskFilter, f.taskPolicy,
	} {
		if err := check(p); err != nil {
			return nil, usageError{err}
		}
	}
	f.Spans = f.Spans || f.derived.attributes != ""
	p.Format, p.MaxRecord = p.formats.String(), p.source.MaxRecord
	for _, look := range []func() error{
		p.expand, p.checkConfirm, p.recognize, p.checkTimes, p.planTree, p.enclose, p.lead, p.checkDerived, p.checkPolicy,
	} {
		if err := look(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// expand finds the inputs, and refuses outputs that would write over them.
func (t *task) expand() (err error) {
	if t.Inputs, t.passed, err = t.formats.expand(t.Args, t.source); err != nil {
		return err
	}
	return output.CheckOutputs(t.Inputs, t.index, t.Out, t.Report, t.Rejects, t.summary)
}

// recognize finds the format of the inputs, and refuses options that it does not support.
func (t *task) recognize() (err error) {
	t.formats.columns, t.formats.arrays = t.Annotate, t.outDir != "" || isArrayName(t.Out)
	if t.Out != "" {
		t.formats.accept = func(format corpus.Format) error { return checkOut(t.Out, format) }
	}
	t.formats.parquet.Rows = t.Out != "" || t.outDir != ""
	t.found, err = t.formats.check(t.Inputs, t.source, t.Out, t.Annotate)
	return err
}

// taskReading checks the flags one by one.
func (f *options) taskReading(p *task) (err error) {
	if !slices.Contains([]string{"", "keep", "replace"}, f.sameID) {
		return fmt.Errorf("--same-id %q: want one of keep, replace", f.sameID)
	}
	f.ReplaceSameID = f.sameID == "replace"
	f.Window.Told = f.formats.jsonl.Fields.Time != ""
	if f.every < 0 {
		return fmt.Errorf("--limit checkpoint=%v: want a time such as 1s, or 0 for checkpoints by bytes only", f.every)
	}
	if p.Now, err = clock(os.Getenv(epochVariable)); err != nil {
		return err
	}
	if err := f.formats.complete(f.source); err != nil {
		return err
	}
	return cmp.Or(p.Scheme.Validate(), f.checkEndings())
}

func (f *options) taskFilter(p *task) (err error) {
	switch {
	case f.docs != "":
		var docs uint64
		if docs, err = parseCount(f.docs); err != nil {
			return fmt.Errorf("--docs: %w", err)
		}
		p.shape = index.ShapeFor(docs, p.Scheme, p.filterOnly)
	case f.memory != "":
		if p.shape, err = filterOf(f.memory, index.KeysPerDoc(p.Scheme, p.filterOnly)); err != nil {
			return err
		}
	}
	if err := fitsMachine(p.shape); err != nil {
		return err
	}
	if f.OnFull == onFullDefault {
		f.OnFull = index.OnFullGrow
		if f.filterOnly {
			f.OnFull = index.OnFullWarn
		}
	}
	return nil
}

// taskKey reads --key and --no-key. A run that can be repeated byte for byte has
// no secret unless it is demanded.
func (f *options) taskKey(p *task) error {
	switch {
	case f.keyed:
		p.keyed = index.KeyRequired
	case f.unkeyed:
		p.keyed = index.KeyRefused
	case os.Getenv(epochVariable) != "":
		p.keyed = index.KeyAsIs
	default:
		p.keyed = index.KeyNew
	}
	return nil
}

// epochVariable holds the time, in seconds since 1970, that a reproducible run
// gives its documents. See reproducible-builds.org/specs/source-date-epoch.
const epochVariable = "SOURCE_DATE_EPOCH"

// tableID identifies a new table. It is derived from the scheme if the filter must be reproducible
// byte for byte, else zero, for one drawn at random.
func tableID(epoch string, scheme feature.Scheme) (id [16]byte) {
	if epoch != "" {
		sum := sha256.Sum256([]byte("firstseen table " + scheme.Name() + " " + epoch))
		copy(id[:], sum[:])
	}
	return id
}

// clock returns the clock that stamps documents: the time, or the one of SOURCE_DATE_EPOCH for runs
// that must be reproducible.
func clock(epoch string) (func() time.Time, error) {
	if epoch == "" {
		return time.Now, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s is %q: want whole seconds since 1970, or unset it", epochVariable, epoch)
	}
	t := time.Unix(seconds, 0)
	return func() time.Time { return t }, nil
}

// openIndex opens the index, or a temporary one, which remove removes. The task's
// scheme gets the index's key.
func (t *task) openIndex() (_ *index.Index, remove func() error, err error) {
	dir, remove := t.index, func() error { return nil }
	if dir == "" {
		if dir, err = makeTempIndex(); err != nil {
			return nil, nil, err
		}
		remove = func() error { return os.RemoveAll(dir) }
	}
	if t.index == "" && t.against == nil && (t.keyed == index.KeyNew || t.keyed == index.KeyRequired) {
		t.Scheme.Key = index.DrawKey() // for this run alone; no user has to know it
	}
	var secret []byte // of the further indexes, which a new one takes over
	if t.against != nil {
		secret = t.against.Scheme().Key
	}
	x, err := index.Open(dir, index.Options{
		Scheme: t.Scheme, Key: t.keyed, Shape: t.filterShape(), FilterOnly: t.filterOnly,
		UUID: tableID(os.Getenv(epochVariable), t.Scheme), MemtableKeys: t.memtableKeys,
		Temporary: t.index == "", Secret: secret, Serve: t.serve, Follow: t.follow,
	})
	switch {
	case errors.Is(err, index.ErrUnkeyed):
		err = usageError{fmt.Errorf("index %s was made without a key, and keeps its fingerprints; leave out --key, or give another --index", dir)}
	case errors.Is(err, index.ErrKeyed):
		err = usageError{fmt.Errorf("index %s is keyed with a secret, so that its fingerprints compare with those of no other; leave out --no-key, or give another --index", dir)}
	}
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	t.Scheme, t.openedIn = x.Scheme(), dir
	return x, remove, nil
}

// writeSummary writes the summary to its file, which gets its name.
func writeSummary(w *output.Writer, s *report.Summary) error {
	if err := encodeIndented(recordWriter{w}, s); err != nil {
		return err
	}
	return w.Close()
}
