package eval

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// A Rule decides documents in order, and names an earlier document as witness for each it removes.
type Rule interface {
	// Name returns the method with its settings.
	Name() string
	// Decide decides the next document and stores it unless it is removed. The witness of a removal
	// is the number of a kept document, counted from 0 over all that were decided.
	Decide(doc Doc) (witness int, removed bool, err error)
	// Size returns the bytes stored for all documents kept: 8 for each key, 4 for the number under
	// it, and the signatures to compare. IDs and the free room of tables do not count.
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

// NewProgram returns firstseen as a rule. A condition, if not nil, confirms copies.
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

// nameOf names the scheme and the threshold by which a rule decides, including defaults.
func nameOf(scheme feature.Scheme, rules dedup.Rules) string {
	version, _, _ := strings.Cut(scheme.Name(), "-")
	also := ""
	if rules.Verify {
		also = ", verified"
	}
	if rules.Threshold == 0 {
		r, _ := dedup.Rules{Score: rules.Score, Verify: rules.Verify}.WithDefaults(feature.Scheme{}, false) // it has a default
		rules.Threshold = r.Threshold
	}
	return fmt.Sprintf("firstseen %s, %s ≥ %g%s", version, [...]string{"text", "segments"}[rules.Score], rules.Threshold, also)
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

// see decides a document. With a condition, it stores the document's number too.
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
	added := fields.Append(nil, numberTag, binary.AppendUvarint(nil, uint64(number)))
	r, err := p.deduper.Decide(dedup.Document{ID: doc.ID, Sketch: &p.sketch, Text: text, Added: added})
	if err == nil && r.Kept {
		p.texts[number] = doc.Text
	}
	return r, err
}

// numberTag is the tag of the field with a document's number; see docs/format.md.
const numberTag = 255

// confirmCopy is a dedup.Confirmer.
func (p *Program) confirmCopy(text, _ []byte, record *dedup.Record) (dedup.Confirmation, error) {
	value, _, err := record.Field(numberTag)
	if err != nil {
		return dedup.Confirmation{}, err
	}
	number, _ := binary.Uvarint(value)
	share, holds, ok := p.confirm.Measure(text, []byte(p.texts[int(number)]))
	if !ok {
		return dedup.Confirmation{Why: "too long"}, nil
	}
	return dedup.Confirmation{OK: holds, Value: share}, nil
}

// Size implements Rule.
func (p *Program) Size() int64 { return p.store.size + p.beside() }

// beside returns the bytes of the method's own memory, if it has one.
func (p *Program) beside() int64 {
	return int64(p.scheme.MemoryFor(uint64(len(p.kept)))) - int64(p.scheme.MemoryFor(0))
}

// countingStore counts the kept data as Rule.Size defines.
type countingStore struct {
	dedup.Memory
	size int64 // bytes
}

// Add implements dedup.Store.
func (s *countingStore) Add(ids []string, data [][]byte, keys [][]uint64, times []uint32, marks []bool) (uint32, error) {
	for i := range ids {
		if len(marks) > 0 && marks[i] {
			continue // counted, not kept
		}
		s.size += int64(len(data[i]) + (8+4)*len(keys[i]))
	}
	return s.Memory.Add(ids, data, keys, times, marks)
}
