// Package confirm compares the texts of copies before one is removed. It rereads the earlier text.
//
// [Place.Append] stores the place of every kept document. [Inputs] reads texts again, whatever
// their format and compression. A [Confirmer] checks that the text is the one judged, and compares.
package confirm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"
	"syscall"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// Reasons why a copy was not confirmed, if the texts were not compared. A report gives them.
const (
	WhyNoPlace = "it is not known where the earlier text stands: it was kept by a run without --verify"
	WhyGone    = "the input of the earlier text is gone"
	WhyRead    = "the input of the earlier text cannot be read again"
	WhyChanged = "the earlier text is no longer at its place: its input has changed"
	WhyLong    = "the texts are too long and too different to be compared"
)

// large is the size of a pair of texts, in bytes, above which pairs are compared one at a time. A
// comparison takes several times as much memory.
const large = 4 << 20

// A Confirmer checks whether a condition holds for copies. It is safe for concurrent use.
type Confirmer struct {
	Condition similarity.Condition
	inputs    *Inputs
	workers   sync.Pool // of *worker
	one       sync.Mutex
}

type worker struct {
	extractor *feature.Extractor
	judge     method.Judge
	sketch    feature.Sketch
	text      []byte
	record    []byte
}

// New returns a Confirmer for documents of a scheme. inputs reads their texts again.
func New(scheme feature.Scheme, inputs *Inputs) (*Confirmer, error) {
	scheme.Passages = 0 // the record of a document is the same
	m, err := scheme.New()
	f := &Confirmer{inputs: inputs}
	f.workers.New = func() any {
		return &worker{extractor: &feature.Extractor{Extractor: m.NewExtractor()}, judge: m.NewJudge(method.Rules{Threshold: 1})}
	}
	return f, err
}

func (f *Confirmer) Confirm(text, id []byte, record *dedup.Record) (dedup.Confirmation, error) {
	w := f.workers.Get().(*worker)
	defer f.workers.Put(w)
	earlier, why, err := f.readAt(w.text[:0], id, record)
	w.text = earlier
	if why == "" && err == nil && !w.knows(earlier, record) {
		why = WhyChanged
	}
	if why != "" || err != nil {
		return dedup.Confirmation{Why: why}, err
	}
	if len(text)+len(earlier) > large {
		f.one.Lock()
		defer f.one.Unlock()
	}
	value, holds, ok := f.Condition.Measure(text, earlier)
	if !ok {
		return dedup.Confirmation{Why: WhyLong}, nil
	}
	return dedup.Confirmation{OK: holds, Value: value}, nil
}

// readAt reads the text at the place of the record into buf, if its document has the id.
func (f *Confirmer) readAt(buf, id []byte, record *dedup.Record) (text []byte, why string, err error) {
	place, known, err := PlaceOf(record)
	switch {
	case err != nil:
		return buf, "", fmt.Errorf("reading the earlier text: %w", err)
	case !known:
		return buf, WhyNoPlace, nil
	}
	found, text, err := f.inputs.Text(place, buf)
	switch {
	case err != nil && f.inputs.Lost() != nil:
		return buf, "", f.inputs.Lost()
	case errors.Is(err, errNotThere):
		return buf, WhyChanged, nil
	case errors.Is(err, fs.ErrNotExist):
		return buf, WhyGone, nil
	case passing(err):
		return buf, "", fmt.Errorf("reading the earlier text again: %w", err)
	case err != nil:
		return buf, WhyRead, nil
	case found != string(id):
		return text, WhyChanged, nil
	}
	return text, "", nil
}

// passing reports whether an error of the system may be temporary. Such an error ends the run,
// because a continued run would decide otherwise.
func passing(err error) bool {
	return slices.ContainsFunc([]error{syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM}, func(of error) bool { return errors.Is(err, of) })
}

// knows reports whether a text is that of the stored record, by its usual or its exact-only sketch.
func (w *worker) knows(text []byte, record *dedup.Record) bool {
	for _, exact := range []bool{false, true} {
		w.extractor.ExtractFor(&w.sketch, text, exact)
		w.judge.Load(&w.sketch)
		if w.record = w.judge.Record(w.record[:0]); bytes.Equal(w.record, record.Sketch) {
			return true
		}
	}
	return false
}

// Tag marks the field that holds a document's place; see docs/format.md, "Data of a document".
const Tag = 2

// maxFile is the longest input name stored. Documents of inputs with longer names have no place.
const maxFile = 768

// A Place is the place of a document in its input.
type Place struct {
	File string // the input, as named to the run
	At   corpus.Place
}

// Append appends the field to the others of a document.
func (p Place) Append(added []byte) []byte {
	if len(p.File) > maxFile {
		return added
	}
	value := binary.AppendUvarint(make([]byte, 0, 2*binary.MaxVarintLen64+len(p.File)), uint64(p.At.Part))
	value = binary.AppendUvarint(value, uint64(p.At.Record))
	return fields.Append(added, Tag, append(value, p.File...))
}

var errPlace = errors.New("the stored place of a document cannot be read: the table is damaged, or from another program")

// PlaceOf returns the place of a document; ok is false if none is stored.
func PlaceOf(r *dedup.Record) (p Place, ok bool, err error) {
	value, ok, err := r.Field(Tag)
	if !ok || err != nil {
		return p, false, err
	}
	in := fields.Reader{Rest: value}
	part, record := in.Uvarint(), in.Uvarint()
	if in.Short || max(part, record) > math.MaxInt64 || len(in.Rest) == 0 {
		return p, false, errPlace
	}
	p.At = corpus.Place{Part: int64(part), Record: int64(record)}
	p.File = string(in.Rest)
	return p, true, nil
}

// Passages finds the passages of documents in earlier ones. It is safe for concurrent use.
type Passages struct {
	reader *Confirmer
	finder sync.Pool // of *finder
}

type finder struct {
	*passages.Finder
	candidates []passages.Candidate
	key        []byte
}

// NewPassages returns Passages of at least that many words. reader reads the texts again.
func NewPassages(reader *Confirmer, words int) *Passages {
	p := &Passages{reader: reader}
	first := passages.NewFinder(words)
	p.finder.New = func() any { return &finder{Finder: first.Another()} }
	return p
}

func (p *Passages) Find(doc *dedup.Document, candidates []dedup.PassageCandidate, r *dedup.Result) error {
	f := p.finder.Get().(*finder)
	defer p.finder.Put(f)
	f.candidates = f.candidates[:0]
	for i := range candidates {
		list, _, err := candidates[i].Record.Field(fields.TagPicks)
		if err != nil {
			return err
		}
		f.candidates = append(f.candidates, passages.Candidate{Document: int(candidates[i].Num), List: list, Single: candidates[i].Single})
	}
	texts := earlierTexts{p.reader, candidates}
	text := &units.Outline{Text: doc.Text, Hashes: doc.Sketch.Hashes, Places: doc.Sketch.Places}
	found, err := f.Finder.Find(text, doc.Sketch.PickList, f.candidates, texts)
	for i := range found.Passages {
		found.Passages[i].Of = string(texts.of(found.Passages[i].Document).ID)
	}
	r.Passages, r.PassageUnits, r.Covered, r.Left, r.Consumed = found.Passages, doc.Sketch.Words, found.Covered, found.Left, found.Consumed
	if len(doc.Sketch.PickList) > 0 && len(doc.Text) <= keptText {
		f.key = appendKey(f.key[:0], []byte(doc.ID), &dedup.Record{Added: doc.Added})
		f.Finder.Keep(f.key, text)
	}
	return err
}

// keptText is the maximum length of a text, in bytes, that is kept before another has passages of it.
const keptText = 256 << 10

// appendKey appends the place of a document and its id to dst. It appends nothing without a place.
func appendKey(dst, id []byte, r *dedup.Record) []byte {
	place, ok, err := r.Field(Tag)
	if !ok || err != nil {
		return dst
	}
	return append(append(binary.AppendUvarint(dst, uint64(len(place))), place...), id...)
}

type earlierTexts struct {
	reader     *Confirmer
	candidates []dedup.PassageCandidate
}

// of returns the candidate with a number; they are in order of numbers.
func (t earlierTexts) of(num int) *dedup.PassageCandidate {
	i, _ := slices.BinarySearchFunc(t.candidates, num, func(c dedup.PassageCandidate, num int) int { return cmp.Compare(int(c.Num), num) })
	return &t.candidates[i]
}

func (t earlierTexts) Key(num int, dst []byte) []byte {
	c := t.of(num)
	return appendKey(dst, c.ID, &c.Record)
}

func (t earlierTexts) Read(num int, buf []byte) (text []byte, ok bool, err error) {
	c := t.of(num)
	text, why, err := t.reader.readAt(buf, c.ID, &c.Record)
	return text, why == "", err
}

func (t earlierTexts) Same(num int, text []byte) bool {
	w := t.reader.workers.Get().(*worker)
	defer t.reader.workers.Put(w)
	return w.knows(text, &t.of(num).Record)
}
