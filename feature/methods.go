package feature

import (
	"slices"
	"strings"

	"github.com/firstseen/firstseen/feature/exact"
	"github.com/firstseen/firstseen/feature/imatch"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/shingles"
	"github.com/firstseen/firstseen/feature/simhash"
	"github.com/firstseen/firstseen/feature/terms"
)

// An Info describes a method to the user choosing one.
type Info struct {
	Name string // of Scheme.Method
	Help string // one line: what makes a copy
	// Score names the whole that the score of a report is a share of.
	Score string
	// Threshold is the default share that makes a copy; a given one must be above 0. It is 0 if the
	// method has no use for one.
	Threshold float64
	// FilterOnly: it works without a side table, too.
	FilterOnly bool
}

// Former is the name of a method no longer offered: the longest segments alone.
const Former = "fs1"

// registry are all there are, the default first. A new one is a line here; see
// docs/extend.md, "Add a method".
var registry = []registered{
	{Info{
		Name: "segments", Threshold: 0.6, FilterOnly: true,
		Help:  "segments and runs of five words find, sketches of whole texts decide",
		Score: "the share of the text that both have in common",
	}, "fs3", newTwoStage, namedTwoStage},
	{Info{
		Name: "exact", FilterOnly: true,
		Help:  "the whole text is the same, but for case, spaces and punctuation",
		Score: "1",
	}, "exact1", newExact, namedExact},
	{Info{
		Name: "shingles", Threshold: shingles.DefaultThreshold,
		Help:  "the sets of runs of five words are alike, as min-hash estimates it",
		Score: "the Jaccard similarity of the two sets of runs",
	}, "shingles1", newShingles, namedShingles},
	{Info{
		Name:  "imatch",
		Help:  "the terms neither common nor rare are the same (I-Match); needs terms=FILE",
		Score: "1",
	}, "imatch1", newIMatch, namedIMatch},
	{Info{
		Name:  "simhash",
		Help:  "fingerprints of 64 bits, of weighted terms, differ in at most 3 bits",
		Score: "the share of the 64 bits that are the same",
	}, "simhash1", newSimHash, namedSimHash},
	{Info{Name: Former, Threshold: 0.5, FilterOnly: true}, "fs1", newSegments, namedSegments},
}

// Methods are the methods that can be chosen, the default first.
func Methods() (infos []Info) {
	for _, m := range registry {
		if m.Name != Former {
			infos = append(infos, m.Info)
		}
	}
	return infos
}

// MethodOf is the method that a scheme of that name has, "" for none of this program.
func MethodOf(scheme string) string {
	rules, _, _ := strings.Cut(scheme, "-")
	for _, m := range registry {
		if m.rules == rules {
			return m.Name
		}
	}
	return ""
}

// WeighsTerms reports whether the method can use a table of terms.
func (s Scheme) WeighsTerms() bool { return s.Method == "simhash" || s.Method == "imatch" }

// MemoryFor is about how many bytes a run with so many kept documents has in memory for
// the method, beside the filter and what every method needs. The scheme must be valid.
func (s Scheme) MemoryFor(documents uint64) (bytes uint64) {
	if s.Terms != nil {
		bytes = uint64(s.Terms.Bytes())
	}
	if m, ok := s.must().(method.Rememberer); ok {
		bytes += m.MemoryFor(documents)
	}
	return bytes
}

// Info returns the Info of the scheme's method, or the zero Info if no method has its name.
func (s Scheme) Info() Info {
	i := slices.IndexFunc(registry, func(m registered) bool { return s.Method == m.Name || s.Method == "" })
	if i < 0 {
		return Info{}
	}
	return registry[i].Info
}

// BySegments reports whether the method is one of the longest segments, whose settings
// are Segments and MinWidth.
func (s Scheme) BySegments() bool {
	return s.Method == "" || s.Method == registry[0].Name || s.Method == Former
}

func newExact(s Scheme) (method.Method, error) {
	m := exact.Scheme{Key: s.Key}
	return m, m.Validate()
}

func namedExact(name string, key []byte, _ *terms.Table) (Scheme, bool) {
	m, ok := exact.Named(name, key)
	return Scheme{Method: "exact", Key: m.Key}, ok
}

// BandsFor chooses the bands of the method shingles for a threshold: see
// [shingles.BandsFor].
func BandsFor(threshold float64) (bands, rows int) { return shingles.BandsFor(threshold) }

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
