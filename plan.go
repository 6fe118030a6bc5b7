package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/durable"
)

// dedupPlan is a checked command line: real values, no strings to parse.
type dedupPlan struct {
	args        []string
	inputs      []corpus.Input
	fields      corpus.Fields
	scheme      feature.Scheme
	rules       dedup.Rules
	shape       bloomstore.Shape
	onFull      dedup.OnFull
	index       string
	filterOnly  bool
	keyed       bool
	abandon     bool
	jobs        int
	maxBad      int64
	out, report string
	rejects     string
	summary     string
	annotate    bool
	quiet       bool
	checkpoint  int64 // bytes between checkpoints, 0 for the default
	memtable    int   // keys of the table in memory, 0 for the default
	now         func() time.Time
	chosen      choices // of a run that can be resumed
}

// plan checks the flags. All its errors are mistakes of usage, but for inputs
// that cannot be read.
func (f *dedupFlags) plan(args []string) (*dedupPlan, error) {
	p := &dedupPlan{
		args:   args,
		fields: corpus.Fields{Text: f.textField, ID: f.idField},
		scheme: feature.Scheme{Segments: f.segments, MinWidth: f.minWidth},
		index:  f.index, filterOnly: f.filterOnly, keyed: f.keyed, abandon: f.abandon,
		jobs: f.jobs, maxBad: f.maxBad, out: f.out, report: f.report, rejects: f.rejects,
		summary: f.summary, annotate: f.annotate, quiet: f.quiet, memtable: f.memtableKeys,
	}
	for _, check := range []func(*dedupPlan) error{
		f.planRules, f.planFilter, f.planOutputs,
	} {
		if err := check(p); err != nil {
			return nil, usageError{err}
		}
	}
	var err error
	if p.inputs, err = corpus.Expand(args); err != nil {
		return nil, err
	}
	if err := corpus.CheckOutputs(p.inputs, p.out, p.report, p.rejects, p.summary); err != nil {
		return nil, err
	}
	if p.resumable() {
		p.chosen, err = p.choices()
	}
	return p, err
}

// chooseRules checks the flags that say when a document is a duplicate.
func chooseRules(threshold float64, score string) (r dedup.Rules, err error) {
	if !(threshold >= 0 && threshold <= 1) {
		return r, fmt.Errorf("--threshold %v: want a share above 0 and at most 1", threshold)
	}
	r.Threshold = threshold
	r.Score, err = choose("--score", score, map[string]dedup.Score{"text": dedup.ScoreText, "segments": dedup.ScoreSegments})
	return r, err
}

func (f *dedupFlags) planRules(p *dedupPlan) (err error) {
	if p.rules, err = chooseRules(f.threshold, f.score); err != nil {
		return err
	}
	if p.rules.RemoveMosaics, err = choose("--mosaics", f.mosaics, map[string]bool{"keep": false, "remove": true}); err != nil {
		return err
	}
	if f.jobs < 1 {
		return fmt.Errorf("-j %d: want at least 1", f.jobs)
	}
	if f.checkpoint != "" {
		bytes, err := parseSize(f.checkpoint)
		if err != nil {
			return fmt.Errorf("--checkpoint-bytes: %w", err)
		}
		p.checkpoint = int64(bytes)
	}
	if p.now, err = clock(os.Getenv(epochVariable)); err != nil {
		return err
	}
	if _, err := corpus.NewParser(p.fields); err != nil {
		return err
	}
	return p.scheme.Validate()
}

func (f *dedupFlags) planFilter(p *dedupPlan) (err error) {
	if f.docs != "" && f.memory != "" {
		return errors.New("--docs and --memory both size the filter: give one")
	}
	switch {
	case f.docs != "":
		var docs uint64
		if docs, err = parseCount(f.docs); err != nil {
			return fmt.Errorf("--docs: %w", err)
		}
		p.shape = dedup.ShapeFor(docs, p.scheme, p.filterOnly)
	case f.memory != "":
		var bytes uint64
		if bytes, err = parseSize(f.memory); err != nil {
			return fmt.Errorf("--memory: %w", err)
		}
		p.shape = bloomstore.ForMemory(bytes)
	}
	onFull := f.onFull
	switch {
	case onFull == "" && f.filterOnly:
		onFull = "warn"
	case onFull == "":
		onFull = "grow"
	case onFull == "grow" && f.filterOnly:
		return errors.New("--on-full grow needs the side table to grow from; with --filter-only use stop or warn")
	}
	p.onFull, err = choose("--on-full", onFull, map[string]dedup.OnFull{
		"grow": dedup.OnFullGrow, "stop": dedup.OnFullStop, "warn": dedup.OnFullWarn,
	})
	return err
}

func (f *dedupFlags) planOutputs(p *dedupPlan) error {
	if f.annotate && f.out == "" {
		return errors.New("--annotate writes to --out: give that too")
	}
	direct := 0
	for _, name := range []string{p.out, p.report, p.rejects, p.summary} {
		if name == corpus.Stdin {
			direct++
		}
	}
	if direct > 1 {
		return errors.New("only one of --out, --report, --rejects and --summary can be standard output (-)")
	}
	return nil
}

// choose looks up the value of a flag that takes one of a few words.
func choose[T any](flag, word string, values map[string]T) (T, error) {
	v, ok := values[word]
	if !ok {
		var words []string
		for w := range values {
			words = append(words, w)
		}
		return v, fmt.Errorf("%s %q: want one of %s", flag, word, strings.Join(sorted(words), ", "))
	}
	return v, nil
}

// epochVariable holds the time, in seconds since 1970, that a reproducible run
// gives its documents. See reproducible-builds.org/specs/source-date-epoch.
const epochVariable = "SOURCE_DATE_EPOCH"

// tableID identifies a new table: derived from the scheme where the index must
// be reproducible byte for byte, else zero, for one drawn at random.
func tableID(epoch string, scheme feature.Scheme) (id [16]byte) {
	if epoch != "" {
		sum := sha256.Sum256([]byte("firstseen table " + scheme.Name() + " " + epoch))
		copy(id[:], sum[:])
	}
	return id
}

// clock returns what stamps documents: the time, or the one of SOURCE_DATE_EPOCH
// for runs whose index must be reproducible byte for byte.
func clock(epoch string) (func() time.Time, error) {
	if epoch == "" {
		return time.Now, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", epochVariable, err)
	}
	t := time.Unix(seconds, 0)
	return func() time.Time { return t }, nil
}

// openIndex opens the index, or a temporary one, which remove removes.
func (p *dedupPlan) openIndex() (_ *dedup.Index, remove func() error, err error) {
	dir, remove := p.index, func() error { return nil }
	if dir == "" {
		if dir, err = os.MkdirTemp("", "firstseen-"); err != nil {
			return nil, nil, fmt.Errorf("making a temporary index: %w", err)
		}
		remove = func() error { return os.RemoveAll(dir) }
	}
	if p.scheme.Key, err = schemeKey(dir, p.keyed); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	index, err := dedup.OpenIndex(dir, dedup.IndexOptions{
		Scheme: p.scheme, Shape: p.shape, FilterOnly: p.filterOnly,
		UUID: tableID(os.Getenv(epochVariable), p.scheme), MemtableKeys: p.memtable,
	})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return index, remove, nil
}

// keyFile holds the key of an index's fingerprints, 32 hexadecimal digits.
const keyFile = "key"

const keyBytes = 16

// schemeKey returns the key stored with an index, or makes one when a new index
// is to have one. Nil means none.
func schemeKey(dir string, wanted bool) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		key, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil || len(key) != keyBytes {
			return nil, fmt.Errorf("%s: not a key of %d hexadecimal digits; restore it from a backup, without it the index is useless", path, 2*keyBytes)
		}
		return key, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("reading the index's key: %w", err)
	case !wanted:
		return nil, nil
	}
	for _, name := range []string{dedup.TableFile, dedup.FilterFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return nil, usageError{fmt.Errorf("index %s was made without --key; leave it out, or give another --index", dir)}
		}
	}
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("making the index: %w", err)
	}
	err = durable.Replace(path, func(f *os.File) error {
		_, err := fmt.Fprintln(f, hex.EncodeToString(key))
		return errors.Join(err, f.Chmod(0o600))
	})
	return key, err
}

// openOutputs creates the outputs, or cuts those of an interrupted run back to
// its last checkpoint.
func (p *dedupPlan) openOutputs(resume *dedup.Progress) (o dedup.Outputs, err error) {
	o.Annotate = p.annotate
	for i, out := range []struct {
		name string
		to   **corpus.Writer
	}{{p.out, &o.Kept}, {p.report, &o.Report}, {p.rejects, &o.Rejects}} {
		if out.name == "" || resume != nil && resume.Ended && published(out.name) {
			continue
		}
		if resume == nil {
			*out.to, err = corpus.Create(out.name)
		} else {
			if *out.to, err = corpus.OpenAt(out.name, resume.Written[i]); err != nil {
				err = outputGone(err)
			}
		}
		if err != nil {
			return o, errors.Join(err, o.Abort())
		}
	}
	return o, nil
}

func writeSummary(path string, s *dedup.Summary) error {
	err := durable.Replace(path, func(f *os.File) error { return encodeSummary(f, s) })
	if err != nil {
		return fmt.Errorf("writing summary: %w", err)
	}
	return nil
}

func encodeSummary(w io.Writer, s *dedup.Summary) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(s)
}

func sorted(words []string) []string {
	slices.Sort(words)
	return words
}
