package feature

import (
	"slices"

	"github.com/firstseen/firstseen/feature/exact"
	"github.com/firstseen/firstseen/feature/imatch"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/shingles"
	"github.com/firstseen/firstseen/feature/simhash"
	"github.com/firstseen/firstseen/feature/terms"
)

// An Info is what is told of a method to who chooses one.
type Info struct {
	Name string // of Scheme.Method
	Help string // one line: what makes a copy
	// Score says what the score of a report is: a share of what.
	Score string
	// Threshold is the share that makes a copy where none is given, and the smallest
	// that can be given is above 0; 0 where the method has no use for one.
	Threshold float64
	// FilterOnly: it works without a side table, too.
	FilterOnly bool
}

// Former is the name of a method that is no longer offered: the longest segments alone,
// which indexes of "fs1" were made with.
const Former = "fs1"

// methods are all there are, the default first. A new one is a line here; see
// docs/extend.md, "Add a method".
var methods = []registered{
	{Info{
		Name: "segments", Threshold: 0.6, FilterOnly: true,
		Help:  "the longest segments and a few runs of five words find, sketches of the whole texts decide",
		Score: "the share of the text, in runs of five words, that both have in common",
	}, newTwoStage, namedTwoStage},
	{Info{
		Name: "exact", FilterOnly: true,
		Help:  "the whole text is the same, but for case, width, spaces and punctuation",
		Score: "1",
	}, newExact, namedExact},
	{Info{
		Name: "shingles", Threshold: shingles.DefaultThreshold,
		Help:  "the sets of all runs of five words are alike, as min-hash estimates it",
		Score: "the Jaccard similarity of the two sets of runs",
	}, newShingles, namedShingles},
	{Info{
		Name:  "imatch",
		Help:  "the terms that are neither common nor rare are the same (I-Match); needs --terms",
		Score: "1",
	}, newIMatch, namedIMatch},
	{Info{
		Name:  "simhash",
		Help:  "fingerprints of 64 bits, made of weighted terms, differ in at most --distance bits",
		Score: "the share of the 64 bits that are the same",
	}, newSimHash, namedSimHash},
	{Info{Name: Former, Threshold: 0.5, FilterOnly: true}, newSegments, namedSegments},
}

// Methods are the methods that can be chosen, the default first.
func Methods() (infos []Info) {
	for _, m := range methods {
		if m.Name != Former {
			infos = append(infos, m.Info)
		}
	}
	return infos
}

// Info is what is told of the scheme's method; the zero Info where there is none of its
// name.
func (s Scheme) Info() Info {
	i := slices.IndexFunc(methods, func(m registered) bool { return s.Method == m.Name || s.Method == "" })
	if i < 0 {
		return Info{}
	}
	return methods[i].Info
}

// BySegments reports whether the method is one of the longest segments, whose settings
// are Segments and MinWidth.
func (s Scheme) BySegments() bool {
	return s.Method == "" || s.Method == methods[0].Name || s.Method == Former
}

func newExact(s Scheme) (method.Method, error) {
	m := exact.Scheme{Key: s.Key}
	return m, m.Validate()
}

func namedExact(name string, key []byte, _ *terms.Table) (Scheme, bool) {
	m, ok := exact.Named(name, key)
	return Scheme{Method: "exact", Key: m.Key}, ok
}

func newShingles(s Scheme) (method.Method, error) {
	m := shingles.Scheme{Words: s.Shingle, Bands: s.Bands, Rows: s.Rows, Key: s.Key}
	return m, m.Validate()
}

func namedShingles(name string, key []byte, _ *terms.Table) (Scheme, bool) {
	m, ok := shingles.Named(name, key)
	return Scheme{Method: "shingles", Shingle: m.Words, Bands: m.Bands, Rows: m.Rows, Key: m.Key}, ok
}

func newIMatch(s Scheme) (method.Method, error) {
	m := imatch.Scheme{Terms: s.Terms, Least: s.LeastRare, Most: s.MostRare, Key: s.Key}
	return m, m.Validate()
}

func namedIMatch(name string, key []byte, table *terms.Table) (Scheme, bool) {
	m, ok := imatch.Named(name, key, table)
	return Scheme{Method: "imatch", Terms: m.Terms, LeastRare: m.Least, MostRare: m.Most, Key: m.Key}, ok
}

func newSimHash(s Scheme) (method.Method, error) {
	m := simhash.Scheme{Distance: s.Distance, Terms: s.Terms, Key: s.Key}
	return m, m.Validate()
}

func namedSimHash(name string, key []byte, table *terms.Table) (Scheme, bool) {
	m, ok := simhash.Named(name, key, table)
	return Scheme{Method: "simhash", Distance: m.Distance, Terms: m.Terms, Key: m.Key}, ok
}
