package feature

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/segments"
	"github.com/firstseen/firstseen/feature/twostage"
)

// An Info describes a method to a user choosing one.
type Info struct {
	Name string // as in Scheme.Method
	Help string // one line: the criterion for a copy
	// Score explains the score in a report.
	Score string
	// Threshold is the default share of a copy, or 0 if unused. A given one must be above 0.
	Threshold float64
	// FilterOnly marks a method that also works without a side table.
	FilterOnly bool
}

// registered is a method. Its functions get valid schemes with the defaults filled in.
type registered struct {
	Info
	rules       string              // the first parts of a scheme's name: the versions of the method and of the canonical form
	weighsTerms bool                // it can use a table of terms
	numbers     []number            // its settings, in the order of the name
	settle      func(*Scheme) error // fills in and checks settings beyond the ranges of numbers; may be nil
	features    func(Scheme) int    // the maximum for one text; nil for none
	extractor   func(Scheme) method.Extractor
	judge       func(Scheme, method.Rules) method.Judge

	// Only set for a method.Rememberer.
	memory    func(Scheme) method.Memory
	memoryFor func(s Scheme, documents uint64) uint64
}

// A number is a numeric setting. In a name it follows its letter.
type number struct {
	letter      string
	name        string // the setting of --method, such as distance; "" for none
	of          func(*Scheme) *int
	usual       int    // the default, which replaces 0
	least, most int    // most 0: settle checks the range
	optional    bool   // it may be 0, and the name then omits it
	what        string // for errors, with a verb for the number
}

// registry lists all methods, the default first. See docs/extend.md, "Add a method".
var registry = []*registered{
	{
		Info: Info{
			Name: "segments", Threshold: 0.65, FilterOnly: true,
			Help:  "segments and runs of letters find candidates, sketches of whole texts decide",
			Score: "the share of the text that both have in common",
		},
		rules: "fs4-" + canon.Version,
		numbers: []number{
			{
				letter: "n", name: "count", of: func(s *Scheme) *int { return &s.Segments },
				usual: segments.DefaultSegments, least: 1, most: MaxSegments, what: "%d segments",
			},
			{
				letter: "w", name: "width", of: func(s *Scheme) *int { return &s.MinWidth },
				usual: segments.DefaultMinWidth, least: 1, most: MaxMinWidth, what: "minimum width %d",
			},
			{
				letter: "p", of: func(s *Scheme) *int { return &s.Passages },
				least: MinPassage, most: MaxPassage, optional: true, what: "passages of %d words",
			},
		},
		features: func(s Scheme) int { return s.Segments },
		extractor: func(s Scheme) method.Extractor {
			return twostage.NewExtractor(segments.Scheme{Segments: s.Segments, MinWidth: s.MinWidth, Key: s.Key}, s.Passages)
		},
		judge: func(_ Scheme, r method.Rules) method.Judge { return twostage.NewJudge(r) },
	},
	&exact,
	&shingles,
	&imatch,
	&simhash,
}

// registered returns the method of the scheme, or nil if there is none.
func (s Scheme) registered() *registered {
	i := slices.IndexFunc(registry, func(m *registered) bool { return s.Method == m.Name || s.Method == "" })
	if i < 0 {
		return nil
	}
	return registry[i]
}

// choose returns the method with the settings of s, or an error if one is out of range.
func (m *registered) choose(s Scheme) (method.Method, error) {
	for _, n := range m.numbers {
		v := n.of(&s)
		*v = cmp.Or(*v, n.usual)
		if (*v != 0 || !n.optional) && n.most > 0 && (*v < n.least || *v > n.most) {
			return nil, fmt.Errorf("feature scheme: "+n.what+", want %d to %d", *v, n.least, n.most)
		}
	}
	if m.settle != nil {
		if err := m.settle(&s); err != nil {
			return nil, err
		}
	}
	if err := digest.Check(s.Key); err != nil {
		return nil, err
	}
	if m.memory != nil {
		return remembering{chosen{m, s}}, nil
	}
	return chosen{m, s}, nil
}

// parse sets the numbers of s from a name. It reports whether all required ones are there.
func (m *registered) parse(s *Scheme, name string) bool {
	for _, n := range slices.Backward(m.numbers) {
		at := strings.LastIndex(name, "-"+n.letter)
		switch {
		case at >= 0:
			*n.of(s), _ = strconv.Atoi(name[at+1+len(n.letter):]) // NamedWith rejects a malformed number
			name = name[:at]
		case !n.optional:
			return false
		}
	}
	return true
}

type chosen struct {
	*registered
	scheme Scheme
}

// Name identifies the scheme, for instance "fs4-u15b-xxh3-n50-w10". It lists the versions of method
// and canonical form, the hash, any table of terms, and the numbers.
func (c chosen) Name() string {
	name := c.rules + "-" + digest.Name(c.scheme.Key)
	if c.weighsTerms && c.scheme.Terms != nil {
		name += "-t" + c.scheme.Terms.Digest()
	}
	for _, n := range c.numbers {
		if v := *n.of(&c.scheme); v != 0 || !n.optional {
			name += fmt.Sprintf("-%s%d", n.letter, v)
		}
	}
	return name
}

func (c chosen) Features() int {
	if c.features == nil {
		return 0
	}
	return c.features(c.scheme)
}

func (c chosen) NewExtractor() method.Extractor { return c.extractor(c.scheme) }

func (c chosen) NewJudge(r method.Rules) method.Judge { return c.judge(c.scheme, r) }

// remembering implements method.Rememberer.
type remembering struct{ chosen }

func (r remembering) NewMemory() method.Memory { return r.memory(r.scheme) }

func (r remembering) MemoryFor(documents uint64) uint64 { return r.memoryFor(r.scheme, documents) }

// Methods returns the methods offered, the default first.
func Methods() (infos []Info) {
	for _, m := range registry {
		infos = append(infos, m.Info)
	}
	return infos
}

// Settings calls f for each setting of a method, with its value in s and the range of that.
func (s *Scheme) Settings(f func(method, name string, value *int, least, most int)) {
	for _, m := range registry {
		for _, n := range m.numbers {
			if n.name != "" {
				f(m.Name, n.name, n.of(s), n.least, n.most)
			}
		}
	}
}

// MethodOf returns the method of the named scheme, or "" if this program does not have it.
func MethodOf(scheme string) string {
	version, _, _ := strings.Cut(scheme, "-")
	for _, m := range registry {
		if rules, _, _ := strings.Cut(m.rules, "-"); rules == version {
			return m.Name
		}
	}
	return ""
}

// WeighsTerms reports whether the method can use a table of terms.
func (s Scheme) WeighsTerms() bool {
	m := s.registered()
	return m != nil && m.weighsTerms
}

// MemoryFor estimates the memory that the method needs for a run with that number of kept
// documents. The filter and needs common to all methods are not included. The scheme must be valid.
func (s Scheme) MemoryFor(documents uint64) (bytes uint64) {
	if s.Terms != nil {
		bytes = uint64(s.Terms.Bytes())
	}
	if m, ok := s.must().(method.Rememberer); ok {
		bytes += m.MemoryFor(documents)
	}
	return bytes
}

// Info returns the Info of the scheme's method, or the zero Info for an unknown method.
func (s Scheme) Info() (info Info) {
	if m := s.registered(); m != nil {
		info = m.Info
	}
	return info
}

// BySegments reports whether the method uses segments, and so the settings Segments and MinWidth.
func (s Scheme) BySegments() bool {
	return s.Method == "" || s.Method == registry[0].Name
}
