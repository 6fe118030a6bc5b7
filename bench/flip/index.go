package flip

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/bench/texts"
	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
)

// sorts lists the kinds of indexes with the flags that make them, and those that fill them.
var sorts = []struct {
	name        string
	made, flags []string
}{
	{"table", []string{"--no-key", "--docs=20"}, []string{"--limit=full=warn", "--memtable-keys=120", "--checkpoint-bytes=2k"}},
	{"keyed", []string{"--key", "--docs=20"}, []string{"--limit=full=warn", "--memtable-keys=120", "--checkpoint-bytes=2k"}},
	{"filter-only", []string{"--docs=200", "--filter-only"}, nil},
}

// documents is the number of documents in an index.
const documents = 150

// sentences returns the documents of the index and some new ones. They are short, for a small
// index.
func sentences() [][]string {
	t := texts.New(3)
	var docs [][]string
	for range documents + 20 {
		doc := t.Next()
		docs = append(docs, doc[:min(len(doc), 5)])
	}
	return docs
}

// build makes an index in dir with the program.
func build(ctx context.Context, program, dir string, made, flags []string) error {
	create := exec.CommandContext(ctx, program, append([]string{"index", "create", dir}, made...)...)
	if out, err := create.CombinedOutput(); err != nil {
		return fmt.Errorf("making the index %s: %w\n%s", dir, err, out)
	}
	var input strings.Builder
	for i, doc := range sentences()[:documents] {
		input.WriteString(texts.Line(fmt.Sprintf("d%d", i), doc))
	}
	args := append([]string{"dedup", "-q", "--index", dir}, flags...)
	cmd := exec.CommandContext(ctx, program, append(args, "-")...)
	cmd.Stdin = strings.NewReader(input.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("filling the index %s: %w\n%s", dir, err, out)
	}
	return nil
}

// An asker queries an index about all documents.
type asker struct {
	dir       string
	key       []byte // of the undamaged index
	scheme    feature.Scheme
	extracted []feature.Set
}

func newAsker(dir string) (*asker, error) {
	a := &asker{dir: dir}
	var err error
	if a.key, err = index.ReadKey(dir); err != nil {
		return nil, err
	}
	r, err := index.OpenReader(context.Background(), dir, a.key)
	if err != nil {
		return nil, err
	}
	a.scheme = r.Scheme
	if err := r.Close(); err != nil {
		return nil, err
	}
	a.extracted, err = extract(a.scheme)
	return a, err
}

// extract returns the features of each document, whole and without its last sentence. The latter
// takes more than a look-up of the whole text.
func extract(scheme feature.Scheme) ([]feature.Set, error) {
	x, err := feature.NewExtractor(scheme)
	if err != nil {
		return nil, err
	}
	var sets []feature.Set
	for _, doc := range sentences() {
		for _, part := range [][]string{doc, doc[:len(doc)-1]} {
			sets = append(sets, feature.Set{})
			x.Extract(&sets[len(sets)-1], []byte(strings.Join(part, " ")))
		}
	}
	return sets, nil
}

// read opens the index for queries and returns a hash of all answers.
func (a *asker) read() (sum uint64, err error) {
	key, err := index.ReadKey(a.dir)
	if err != nil {
		return 0, err
	}
	r, err := index.OpenReader(context.Background(), a.dir, key)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Deduper(dedup.Rules{})
	if err != nil {
		return 0, err
	}
	sets := a.extracted
	if r.Scheme.Name() != a.scheme.Name() || string(key) != string(a.key) {
		if sets, err = extract(r.Scheme); err != nil {
			return 0, err
		}
	}
	return answers(d, sets)
}

// write opens the index as a run does, with its filter, and returns a hash of all answers. It may
// change the folder.
func (a *asker) write() (sum uint64, err error) {
	filterOnly := false
	if _, err := os.Stat(filepath.Join(a.dir, index.TableFile)); errors.Is(err, os.ErrNotExist) {
		filterOnly = true
	}
	x, err := index.Open(context.Background(), a.dir, index.Options{Key: index.KeyAsIs, Scheme: a.scheme, FilterOnly: filterOnly, Shape: bloomstore.Shape{}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	cfg := dedup.Config{Scheme: a.scheme, Filter: x.Filter()}
	if x.Table() != nil {
		cfg.Table = x.Table()
	}
	d, err := dedup.New(cfg)
	if err != nil {
		return 0, err
	}
	return answers(d, a.extracted)
}

// answers checks every document, storing none, and hashes the answers.
func answers(d *dedup.Deduper, sets []feature.Set) (uint64, error) {
	h := fnv.New64a()
	for i := range sets {
		r, err := d.Check("asked", &sets[i])
		if err != nil {
			return 0, err
		}
		sumResult(h, &r)
	}
	return h.Sum64(), nil
}

func sumResult(h hash.Hash64, r *dedup.Result) {
	put := func(numbers ...uint64) {
		var b [8]byte
		for _, n := range numbers {
			binary.LittleEndian.PutUint64(b[:], n)
			h.Write(b[:])
		}
	}
	flag := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	put(uint64(r.Verdict), flag(r.Kept), flag(r.Exact), flag(r.SameID), math.Float64bits(r.Score), math.Float64bits(r.Seen))
	put(uint64(r.Segments), uint64(r.OfSegments), uint64(len(r.Also)), uint64(len(r.SharedSegments)))
	for _, s := range append(r.Also, r.Of) {
		put(uint64(s.Num), uint64(s.Shared), s.Weight)
		h.Write([]byte(s.ID))
	}
}
