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

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
)

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

// check checks the flags. All its errors are mistakes of usage, but for inputs
// that cannot be read.
func (f *options) check(args []string) error {
	f.Args, f.Temporary = args, f.index == ""
	if err := f.asMade(); err != nil {
		return err
	}
	if err := f.checkFlags(f.checkMethod, f.checkReading, f.checkConflicts, f.checkVerify, f.checkKey, f.checkFilter, f.checkPolicy); err != nil {
		return err
	}
	f.Spans = f.Spans || f.derived.attributes != ""
	f.Format, f.MaxRecord = f.formats.String(), f.source.MaxRecord
	for _, look := range []func() error{
		f.expand, f.checkRereads, f.recognize, f.checkTimes, f.planTree, f.enclose, f.lead, f.checkDerived, f.checkPolicyInputs,
	} {
		if err := look(); err != nil {
			return err
		}
	}
	return nil
}

// checkFlags does checks that look at no input.
func (f *options) checkFlags(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// expand finds the inputs, and refuses outputs that would write over them.
func (f *options) expand() (err error) {
	if f.Inputs, f.passed, err = f.formats.expand(f.Args, f.source); err != nil {
		return err
	}
	return output.CheckOutputs(f.Inputs, f.index, f.Out, f.Report, f.Rejects, f.summary)
}

// recognize finds the format of the inputs, and refuses options that it does not support.
func (f *options) recognize() (err error) {
	f.formats.columns, f.formats.arrays = f.Annotate, f.outDir != "" || isArrayName(f.Out)
	if f.Out != "" {
		f.formats.accept = func(format corpus.Format) error { return checkOut(f.Out, format) }
	}
	f.formats.parquet.Rows = f.Out != "" || f.outDir != ""
	f.found, err = f.formats.check(f.Inputs, f.source, f.Out, f.Annotate)
	return err
}

// checkReading checks the flags one by one.
func (f *options) checkReading() (err error) {
	if !slices.Contains([]string{"", "keep", "replace"}, f.sameID) {
		return fmt.Errorf("--same-id %q: want one of keep, replace", f.sameID)
	}
	f.ReplaceSameID = f.sameID == "replace"
	f.Window.Told = f.formats.jsonl.Fields.Time != ""
	if f.every < 0 {
		return fmt.Errorf("--limit checkpoint=%v: want a time such as 1s, or 0 for checkpoints by bytes only", f.every)
	}
	if f.Now, err = clock(os.Getenv(epochVariable)); err != nil {
		return err
	}
	if err := f.formats.complete(f.source); err != nil {
		return err
	}
	return cmp.Or(f.Scheme.Validate(), f.checkEndings())
}

func (f *options) checkFilter() (err error) {
	switch {
	case f.docs != "":
		var docs uint64
		if docs, err = parseCount(f.docs); err != nil {
			return fmt.Errorf("--docs: %w", err)
		}
		f.shape = index.ShapeFor(docs, f.Scheme, f.filterOnly)
	case f.memory != "":
		if f.shape, err = filterOf(f.memory, index.KeysPerDoc(f.Scheme, f.filterOnly)); err != nil {
			return err
		}
	}
	if err := fitsMachine(f.shape); err != nil {
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

// checkKey reads --key and --no-key. A run that can be repeated byte for byte has
// no secret unless it is demanded.
func (f *options) checkKey() error {
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
func (f *options) openIndex() (_ *index.Index, remove func() error, err error) {
	dir, remove := f.index, func() error { return nil }
	if dir == "" {
		if dir, err = makeTempIndex(); err != nil {
			return nil, nil, err
		}
		remove = func() error { return os.RemoveAll(dir) }
	}
	if f.index == "" && f.further == nil && (f.key == index.KeyNew || f.key == index.KeyRequired) {
		f.Scheme.Key = index.DrawKey() // for this run alone; no user has to know it
	}
	var secret []byte // of the further indexes, which a new one takes over
	if f.further != nil {
		secret = f.further.Scheme().Key
	}
	x, err := index.Open(dir, index.Options{
		Scheme: f.Scheme, Key: f.key, Shape: f.filterShape(), FilterOnly: f.filterOnly,
		UUID: tableID(os.Getenv(epochVariable), f.Scheme), MemtableKeys: f.memtableKeys,
		Temporary: f.index == "", Secret: secret, Serve: f.serve, Follow: f.follow,
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
	f.Scheme, f.openedIn = x.Scheme(), dir
	return x, remove, nil
}

// writeSummary writes the summary to its file, which gets its name.
func writeSummary(w *output.Writer, s *report.Summary) error {
	if err := encodeIndented(recordWriter{w}, s); err != nil {
		return err
	}
	return w.Close()
}
