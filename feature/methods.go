package feature

import (
	"slices"

	"github.com/firstseen/firstseen/feature/exact"
	"github.com/firstseen/firstseen/feature/method"
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

func namedExact(name string, key []byte) (Scheme, bool) {
	m, ok := exact.Named(name, key)
	return Scheme{Method: "exact", Key: m.Key}, ok
}
