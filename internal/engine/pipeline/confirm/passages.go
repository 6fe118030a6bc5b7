package confirm

import (
	"cmp"
	"slices"
	"sync"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature/passages"
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
	found, err := f.Finder.Find(doc.Text, doc.Sketch.PickList, f.candidates, texts)
	for i := range found.Passages {
		found.Passages[i].Of = string(texts.of(found.Passages[i].Document).ID)
	}
	r.Passages, r.PassageUnits, r.Covered, r.Left, r.Consumed = found.Passages, doc.Sketch.Words, found.Covered, found.Left, found.Consumed
	return err
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
