package eval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// A Row is the result of one method at one threshold.
type Row struct {
	Method string `json:"method"`
	// Threshold is the method's, or the share of equal bits that its distance requires; 0 for none.
	Threshold float64 `json:"threshold,omitempty"`
	Default   bool    `json:"default,omitempty"` // used if none is given
	Figures
	Agreement
	// PerSecond is the number of documents that one goroutine decided per second of elapsed time,
	// all in memory.
	PerSecond float64 `json:"documents_per_second"`
}

// A Try is a method with a threshold.
type Try struct {
	Method    string
	Threshold float64 // shown; 0: the method has none
	Default   bool
	Scheme    feature.Scheme
	Rules     dedup.Rules
}

// distances are the distances tried with SimHash, in bits.
var distances = []int{1, 3, 6}

// Tries returns each method with a threshold at all thresholds and its default, and the others
// once. table is for methods that weigh terms.
func Tries(methods []string, thresholds []float64, table *terms.Table) (tries []Try, err error) {
	for _, info := range feature.Methods() {
		if !slices.Contains(methods, info.Name) {
			continue
		}
		scheme := feature.Scheme{Method: info.Name}
		if scheme.WeighsTerms() {
			scheme.Terms = table
		}
		switch {
		case info.Name == "simhash":
			for _, d := range distances {
				scheme.Distance = d
				tries = append(tries, Try{Method: info.Name, Threshold: 1 - float64(d)/64, Default: d == 3, Scheme: scheme})
			}
		case info.Threshold == 0:
			tries = append(tries, Try{Method: info.Name, Default: true, Scheme: scheme})
		default:
			all := append(slices.Clone(thresholds), info.Threshold)
			slices.Sort(all)
			for _, t := range slices.Compact(all) {
				if info.Name == "shingles" && t != info.Threshold {
					scheme.Bands, scheme.Rows = feature.BandsFor(t)
				}
				tries = append(tries, Try{Method: info.Name, Threshold: t, Default: t == info.Threshold, Scheme: scheme, Rules: dedup.Rules{Threshold: t}})
			}
		}
	}
	for i := range tries {
		if err := tries[i].Scheme.Validate(); err != nil {
			return nil, fmt.Errorf("the method %s: %w", tries[i].Method, err)
		}
	}
	return tries, nil
}

// CountTerms counts the terms of the set's documents, for methods that weigh them.
func (s *Set) CountTerms() *terms.Table {
	var counter terms.Counter
	reader := terms.NewReader(nil)
	var found []uint64
	for i := range s.Docs {
		found = found[:0]
		reader.Terms([]byte(s.Docs[i].Text), func(more []uint64) { found = terms.AppendDistinct(found, more) })
		counter.Add(found)
	}
	return counter.Table(2)
}

// Run decides the loaded set by every try, and passes on each row at once. A condition, if not nil,
// confirms copies.
func (s *Set) Run(ctx context.Context, tries []Try, confirm *similarity.Condition, each func(*Row) error) error {
	for i := range tries {
		t := &tries[i]
		rule, err := NewProgram(t.Scheme, t.Rules, confirm)
		if err != nil {
			return fmt.Errorf("the method %s: %w", t.Method, err)
		}
		began := time.Now()
		o, err := s.Decide(ctx, rule)
		if err != nil {
			return fmt.Errorf("the method %s: %w", t.Method, err)
		}
		row := &Row{Method: t.Method, Threshold: t.Threshold, Default: t.Default, PerSecond: float64(len(s.Docs)) / time.Since(began).Seconds()}
		row.Figures, row.Agreement = *s.Figures(o, rule.Name()), s.Agree(o)
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}
