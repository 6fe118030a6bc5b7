package confirm

import (
	"sync"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/passages"
)

// Passages finds the passages of documents in earlier ones, whose texts it reads again. It is for
// use by several goroutines.
type Passages struct {
	reader *Confirmer
	finder sync.Pool // of *finder
}

type finder struct {
	*passages.Finder
	candidates []passages.Candidate
}

// NewPassages returns Passages by the scheme of an index, whose texts inputs reads again.
func NewPassages(scheme feature.Scheme, inputs *Inputs) (*Passages, error) {
	reader, err := newReader(scheme, inputs)
	if err != nil {
		return nil, err
	}
	p := &Passages{reader: reader}
	p.finder.New = func() any { return &finder{Finder: passages.NewFinder(scheme.Passages)} }
	return p, nil
}

// Find implements dedup.PassageFinder.
func (p *Passages) Find(doc *dedup.Document, candidates []dedup.PassageCandidate, r *dedup.Result) error {
	f := p.finder.Get().(*finder)
	defer p.finder.Put(f)
	f.candidates = f.candidates[:0]
	for i := range candidates {
		list, _, err := candidates[i].Record.Field(dedup.TagPicks)
		if err != nil {
			return err
		}
		f.candidates = append(f.candidates, passages.Candidate{Document: i, List: list})
	}
	found, err := f.Finder.Find(doc.Text, doc.Sketch.PickList, f.candidates, func(i int, buf []byte) ([]byte, bool, error) {
		return p.read(&candidates[i], buf)
	})
	for i := range found.Passages {
		found.Passages[i].Of = string(candidates[found.Passages[i].Document].ID)
	}
	r.Passages, r.PassageUnits, r.Covered, r.Left, r.Consumed = found.Passages, doc.Sketch.Words, found.Covered, found.Left, found.Consumed
	return err
}

// read reads the text of an earlier document again.
func (p *Passages) read(c *dedup.PassageCandidate, buf []byte) (text []byte, ok bool, err error) {
	w := p.reader.workers.Get().(*worker)
	defer p.reader.workers.Put(w)
	own := w.text
	defer func() { w.text = own }()
	w.text = buf
	why, err := p.reader.readEarlier(w, c.ID, &c.Record)
	return w.text, why == "", err
}
