package eval

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/compare/similarity"
)

// A Rule decides about documents one after the other, in order, and names for each
// one it removes an earlier one that stands for it.
type Rule interface {
	// Name says which method it is, with its settings.
	Name() string
	// Decide judges the next document and, unless it is removed, remembers it. The
	// witness of a removal is the number of a kept document, counted from 0 over
	// all that were judged.
	Decide(doc Doc) (witness int, removed bool, err error)
	// Size is how many bytes it has to remember of all documents kept: 8 for each
	// key it looks up and 4 for the number that stands there, and the signatures it
	// compares. Ids, and the free room of tables, are not counted.
	Size() int64
}

// A Program is firstseen as a rule, with a store in memory.
type Program struct {
	name             string
	deduper          *dedup.Deduper
	store            countingStore
	judged           int
	kept             []int // number in the store, less one → number among all judged
	mosaics, related int

	scheme    feature.Scheme
	confirm   similarity.Condition
	texts     map[int]string // of kept documents, if they are compared
	extractor *feature.Extractor
	sketch    feature.Sketch
}

// NewProgram returns firstseen as a rule. Copies are confirmed by a condition, nil for none.
func NewProgram(scheme feature.Scheme, rules dedup.Rules, confirm *similarity.Condition) (*Program, error) {
	p := &Program{name: nameOf(scheme, rules), scheme: scheme}
	cfg := dedup.Config{Scheme: scheme, Rules: rules, Table: &p.store}
	if confirm != nil {
		p.confirm, cfg.Confirm = *confirm, p.confirmCopy
	}
	d, err := dedup.New(cfg)
	p.deduper = d
	return p, err
}

// nameOf says by which scheme and what share a rule decides. It follows the defaults,
// whatever they are.
func nameOf(scheme feature.Scheme, rules dedup.Rules) string {
	version, _, _ := strings.Cut(scheme.Name(), "-")
	threshold := rules.Threshold
	switch {
	case threshold == 0 && rules.Score == dedup.ScoreSegments:
		threshold = dedup.DefaultSegmentsThreshold
	case threshold == 0:
		threshold = dedup.DefaultThreshold
	}
	return fmt.Sprintf("firstseen %s, %s ≥ %g", version, [...]string{"text", "segments"}[rules.Score], threshold)
}

func (p *Program) Name() string { return p.name }

// Decide implements Rule.
func (p *Program) Decide(doc Doc) (witness int, removed bool, err error) {
	number := p.judged
	p.judged++
	r, err := p.see(number, doc)
	if err != nil {
		return 0, false, err
	}
	switch r.Verdict {
	case dedup.Mosaic:
		p.mosaics++
	case dedup.Related:
		p.related++
	}
	if r.Kept {
		p.kept = append(p.kept, number)
		return 0, false, nil
	}
	of := p.kept[r.Of.Num-1]
	if r.Counted {
		p.kept = append(p.kept, number) // it has a number in the store, too
	}
	return of, true, nil
}

// see decides about a document. With a condition its number is stored with it.
func (p *Program) see(number int, doc Doc) (dedup.Result, error) {
	if p.confirm.Score == "" {
		return p.deduper.See(doc.ID, []byte(doc.Text))
	}
	if p.texts == nil {
		p.texts = map[int]string{}
		extractor, err := feature.NewExtractor(p.scheme)
		if err != nil {
			return dedup.Result{}, err
		}
		p.extractor = extractor
	}
	text := []byte(doc.Text)
	p.extractor.Extract(&p.sketch, text)
	added := dedup.AppendField(nil, numberTag, binary.AppendUvarint(nil, uint64(number)))
	r, err := p.deduper.Decide(dedup.Document{ID: doc.ID, Sketch: &p.sketch, Text: text, Added: added})
	if err == nil && r.Kept {
		p.texts[number] = doc.Text
	}
	return r, err
}

// numberTag is that of the field with the number of a document; see docs/format.md.
const numberTag dedup.Tag = 255

// confirmCopy is a dedup.Confirmer.
func (p *Program) confirmCopy(text, _ []byte, record *dedup.Record) (dedup.Confirmation, error) {
	value, _, err := record.Field(numberTag)
	if err != nil {
		return dedup.Confirmation{}, err
	}
	number, _ := binary.Uvarint(value)
	share, holds, ok := p.confirm.Measure(similarity.New(string(text)), similarity.New(p.texts[int(number)]))
	if !ok {
		return dedup.Confirmation{Why: "too long"}, nil
	}
	return dedup.Confirmation{OK: holds, Value: share}, nil
}

// Size implements Rule.
func (p *Program) Size() int64 { return p.store.size + p.beside() }

// beside returns the bytes of memory that the method takes for its documents, if it has a memory.
func (p *Program) beside() int64 {
	return int64(p.scheme.MemoryFor(uint64(len(p.kept)))) - int64(p.scheme.MemoryFor(0))
}

// countingStore counts the kept data as Rule.Size says.
type countingStore struct {
	dedup.Memory
	size int64 // bytes
}

// Add implements dedup.Store.
func (s *countingStore) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	for i := range ids {
		if len(marks) > 0 && marks[i] {
			continue // it only counts
		}
		s.size += int64(len(data[i]) + (8+4)*len(keys[i]))
	}
	return s.Memory.Add(ids, data, keys, times, marks)
}
