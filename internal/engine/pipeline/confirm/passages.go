package confirm

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/passages"
	"github.com/firstseen/firstseen/feature/units"
	"github.com/firstseen/firstseen/internal/base/fields"
)

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
