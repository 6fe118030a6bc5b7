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

// registered is a method. Its functions get valid schemes, with the defaults written out.
type registered struct {
	Info
	rules       string              // the first parts of its schemes' names: their version, that of the canonical form
	weighsTerms bool                // it can use a table of terms
	numbers     []number            // its settings, in the order of the name
	settle      func(*Scheme) error // fills in and checks what the ranges of numbers do not say; may be nil
	features    func(Scheme) int    // the most that a text can have; nil: none
	extractor   func(Scheme) method.Extractor
	judge       func(Scheme, method.Rules) method.Judge

	// Of a method.Rememberer.
	memory    func(Scheme) method.Memory
	memoryFor func(s Scheme, documents uint64) uint64
}

// A number is a setting. A name has it behind its letter.
type number struct {
	letter      string
	of          func(*Scheme) *int
	usual       int    // stands for 0, if it is not 0 itself
	least, most int    // most 0: the method checks it
	optional    bool   // it can be 0, and is then not in the name
	what        string // of an error, with a verb for the number
}

// Former is the name of a method no longer offered: the longest segments alone.
const Former = "fs1"

// registry are all there are, the default first. A new one is a line here; see
// docs/extend.md, "Add a method".
var registry = []*registered{
	{
		Info: Info{
			Name: "segments", Threshold: 0.6, FilterOnly: true,
			Help:  "segments and runs of five words find, sketches of whole texts decide",
			Score: "the share of the text that both have in common",
		},
		rules: "fs3-" + canon.Version,
		numbers: append(segmentNumbers, number{
			letter: "p", of: func(s *Scheme) *int { return &s.Passages },
			least: MinPassage, most: MaxPassage, optional: true, what: "passages of %d words",
		}),
		features:  func(s Scheme) int { return s.Segments },
		extractor: func(s Scheme) method.Extractor { return twostage.NewExtractor(s.segments(), s.Passages) },
		judge:     func(_ Scheme, r method.Rules) method.Judge { return twostage.NewJudge(r) },
	},
	&exact,
	&shingles,
	&imatch,
	&simhash,
	{
		Info:      Info{Name: Former, Threshold: 0.5, FilterOnly: true},
		rules:     "fs1-" + canon.Version,
		numbers:   segmentNumbers,
		features:  func(s Scheme) int { return s.Segments },
		extractor: func(s Scheme) method.Extractor { return segments.NewExtractor(s.segments()) },
		judge:     func(_ Scheme, r method.Rules) method.Judge { return segments.NewJudge(r) },
	},
}

var segmentNumbers = []number{
	{
		letter: "n", of: func(s *Scheme) *int { return &s.Segments },
		usual: segments.DefaultSegments, least: 1, most: MaxSegments, what: "%d segments",
	},
	{
		letter: "w", of: func(s *Scheme) *int { return &s.MinWidth },
		usual: segments.DefaultMinWidth, least: 1, most: MaxMinWidth, what: "minimum width %d",
	},
}

func (s Scheme) segments() segments.Scheme {
	return segments.Scheme{Segments: s.Segments, MinWidth: s.MinWidth, Key: s.Key}
}

// registered returns the method of the scheme, nil if there is none.
func (s Scheme) registered() *registered {
	i := slices.IndexFunc(registry, func(m *registered) bool { return s.Method == m.Name || s.Method == "" })
	if i < 0 {
		return nil
	}
	return registry[i]
}

// choose returns the method with the settings of a scheme, or an error if one is out of range.
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

// parse reads the numbers of a scheme from a name. It reports whether there are as many.
func (m *registered) parse(s *Scheme, name string) bool {
	for _, n := range slices.Backward(m.numbers) {
		at := strings.LastIndex(name, "-"+n.letter)
		switch {
		case at >= 0:
			*n.of(s), _ = strconv.Atoi(name[at+1+len(n.letter):]) // else the names differ
			name = name[:at]
		case !n.optional:
			return false
		}
	}
	return true
}

// chosen is a method with its settings.
type chosen struct {
	*registered
	scheme Scheme
}

// Name identifies the scheme, for instance "fs3-u15b-xxh3-n50-w10": the versions of the rules and of
// the canonical form, the hash, the table of terms if there is one, the numbers.
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

// remembering is a method.Rememberer.
type remembering struct{ chosen }

func (r remembering) NewMemory() method.Memory { return r.memory(r.scheme) }

func (r remembering) MemoryFor(documents uint64) uint64 { return r.memoryFor(r.scheme, documents) }

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
func (s Scheme) Info() (info Info) {
	if m := s.registered(); m != nil {
		info = m.Info
	}
	return info
}

// BySegments reports whether the method is one of the longest segments, whose settings
// are Segments and MinWidth.
func (s Scheme) BySegments() bool {
	return s.Method == "" || s.Method == registry[0].Name || s.Method == Former
}
