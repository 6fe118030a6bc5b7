package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/bench/peers"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// A ruleMaker makes a rule that has seen nothing.
type ruleMaker struct {
	key string // for -rules
	new func() (peers.Rule, error)
}

// rules are those that can be measured, the program's own first. One that was the
// default once can stay, with its scheme and its rules spelled out.
func rules() []ruleMaker {
	return []ruleMaker{
		{"default", ours(feature.Scheme{}, dedup.Rules{})},
		{"former", ours(feature.Scheme{Method: feature.Former}, dedup.Rules{Threshold: 0.5})},
		{"counted", ours(feature.Scheme{Method: feature.Former}, dedup.Rules{Score: dedup.ScoreSegments})},
		{"exact", peer(func() peers.Rule { return peers.NewExact() })},
		{"simhash", peer(func() peers.Rule { return peers.NewSimHash(3) })},
		{"minhash.5", minhash(0.5, false)},
		{"minhash.7", minhash(0.7, false)},
		{"minhash.8", minhash(0.8, false)},
		{"minhash.5v", minhash(0.5, true)},
		{"minhash.7v", minhash(0.7, true)},
		{"minhash.8v", minhash(0.8, true)},
		{"method.exact", ours(feature.Scheme{Method: "exact"}, dedup.Rules{})},
		{"method.shingles.5", ours(shinglesAt(0.5), dedup.Rules{Threshold: 0.5})},
		{"method.shingles.6", ours(shinglesAt(0.6), dedup.Rules{Threshold: 0.6})},
		{"method.shingles.7", ours(shinglesAt(0.7), dedup.Rules{Threshold: 0.7})},
		{"method.shingles.8", ours(shinglesAt(0.8), dedup.Rules{Threshold: 0.8})},
		{"method.simhash.3", ours(feature.Scheme{Method: "simhash"}, dedup.Rules{})},
		{"method.simhash.6", ours(feature.Scheme{Method: "simhash", Distance: 6}, dedup.Rules{})},
	}
}

// shinglesAt is the method of shingles with the bands for a threshold.
func shinglesAt(threshold float64) feature.Scheme {
	s := feature.Scheme{Method: "shingles"}
	s.Bands, s.Rows = feature.BandsFor(threshold)
	return s
}

// thresholds are the program's rules at all thresholds and with both scores.
func thresholds() (all []ruleMaker) {
	for _, score := range []dedup.Score{dedup.ScoreText, dedup.ScoreSegments} {
		for t := 3; t <= 9; t++ {
			r := dedup.Rules{Threshold: float64(t) / 10, Score: score}
			all = append(all, ruleMaker{new: ours(feature.Scheme{}, r)})
		}
	}
	return all
}

// chooseRules are the rules with those keys, divided by commas, or "all".
func chooseRules(keys string) (chosen []ruleMaker, err error) {
	all := rules()
	if keys == "all" {
		return all, nil
	}
	for key := range strings.SplitSeq(keys, ",") {
		i := slices.IndexFunc(all, func(r ruleMaker) bool { return r.key == key })
		if i < 0 {
			return nil, fmt.Errorf("there is no rule %q", key)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func peer(make func() peers.Rule) func() (peers.Rule, error) {
	return func() (peers.Rule, error) { return make(), nil }
}

func minhash(threshold float64, verified bool) func() (peers.Rule, error) {
	return peer(func() peers.Rule { return peers.NewMinHash(threshold, verified) })
}

// program is firstseen as a rule, with a store in memory.
type program struct {
	name             string
	deduper          *dedup.Deduper
	store            countingStore
	judged           int
	kept             []int // number in the store, less one → number among all judged
	mosaics, related int
}

func ours(scheme feature.Scheme, rules dedup.Rules) func() (peers.Rule, error) {
	return func() (peers.Rule, error) {
		p := &program{name: nameOf(scheme, rules)}
		d, err := dedup.New(dedup.Config{Scheme: scheme, Rules: rules, Table: &p.store})
		p.deduper = d
		return p, err
	}
}

// nameOf says by which scheme and what share a rule decides. It follows the defaults,
// whatever they are.
func nameOf(scheme feature.Scheme, rules dedup.Rules) string {
	version, _, _ := strings.Cut(scheme.Name(), "-")
	if !scheme.BySegments() {
		return fmt.Sprintf("firstseen %s, threshold %g, distance %d", version, rules.Threshold, scheme.Distance)
	}
	threshold := rules.Threshold
	switch {
	case threshold == 0 && rules.Score == dedup.ScoreSegments:
		threshold = dedup.DefaultSegmentsThreshold
	case threshold == 0:
		threshold = dedup.DefaultThreshold
	}
	return fmt.Sprintf("firstseen %s, %s ≥ %g", version, [...]string{"text", "segments"}[rules.Score], threshold)
}

func (p *program) Name() string { return p.name }

// Decide implements peers.Rule.
func (p *program) Decide(doc peers.Doc) (witness int, removed bool, err error) {
	number := p.judged
	p.judged++
	r, err := p.deduper.See(doc.ID, []byte(doc.Text))
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
	return p.kept[r.Of.Num-1], true, nil
}

// Size implements peers.Rule.
func (p *program) Size() int64 { return p.store.size }

// countingStore counts what is kept as peers.Rule.Size says.
type countingStore struct {
	dedup.Memory
	size int64 // bytes
}

// Add implements dedup.Store.
func (s *countingStore) Add(ids []string, data [][]byte, keys [][]uint64) (uint32, error) {
	for i := range ids {
		s.size += int64(len(data[i]) + (8+4)*len(keys[i]))
	}
	return s.Memory.Add(ids, data, keys)
}
