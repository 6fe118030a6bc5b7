package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/bench/eval"
	"github.com/firstseen/firstseen/bench/peers"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// A ruleMaker makes a new rule.
type ruleMaker struct {
	key string // for -rules
	new func() (eval.Rule, error)
}

// rules returns the rules to measure, the program's own first.
func rules() []ruleMaker {
	return []ruleMaker{
		{"default", ours(feature.Scheme{}, dedup.Rules{})},
		{"verify", verified},
		{"counted", func() (eval.Rule, error) { return eval.NewAlone() }},
		{"exact", peer(func() eval.Rule { return peers.NewExact() })},
		{"simhash", peer(func() eval.Rule { return peers.NewSimHash(3) })},
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

// shinglesAt returns the scheme of shingles with the bands for a threshold.
func shinglesAt(threshold float64) feature.Scheme {
	s := feature.Scheme{Method: "shingles"}
	s.Bands, s.Rows = feature.BandsFor(threshold)
	return s
}

// thresholds returns the program's rules at all thresholds with both scores.
func thresholds() (all []ruleMaker) {
	for _, score := range []dedup.Score{dedup.ScoreText, dedup.ScoreSegments} {
		for t := 3; t <= 9; t++ {
			r := dedup.Rules{Threshold: float64(t) / 10, Score: score}
			all = append(all, ruleMaker{new: ours(feature.Scheme{}, r)})
		}
	}
	return all
}

// chooseRules returns the rules with these comma-separated keys, or "all". The key removals:FILE
// means another program's removals from the one set measured.
func chooseRules(keys string) (chosen []ruleMaker, err error) {
	all := rules()
	if keys == "all" {
		return all, nil
	}
	for key := range strings.SplitSeq(keys, ",") {
		if file, ok := strings.CutPrefix(key, "removals:"); ok {
			chosen = append(chosen, ruleMaker{key, func() (eval.Rule, error) { return peers.ReadRemovals(file) }})
			continue
		}
		i := slices.IndexFunc(all, func(r ruleMaker) bool { return r.key == key })
		if i < 0 {
			return nil, fmt.Errorf("there is no rule %q", key)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func peer(make func() eval.Rule) func() (eval.Rule, error) {
	return func() (eval.Rule, error) { return make(), nil }
}

func minhash(threshold float64, verified bool) func() (eval.Rule, error) {
	return peer(func() eval.Rule { return peers.NewMinHash(threshold, verified) })
}

// verified returns the default with --verify.
func verified() (eval.Rule, error) {
	return eval.NewProgram(feature.Scheme{}, dedup.Rules{Verify: true}, &similarity.Verified)
}

func ours(scheme feature.Scheme, rules dedup.Rules) func() (eval.Rule, error) {
	return func() (eval.Rule, error) { return eval.NewProgram(scheme, rules, nil) }
}
