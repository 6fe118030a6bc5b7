package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/index"
)

type methodFlags struct {
	name, terms string
}

func (m *methodFlags) register(fs *pflag.FlagSet, s *feature.Scheme, score *dedup.Score) {
	refine(fs, &m.name, "method", "how copies are recognized: "+methodNames()+", with settings such as simhash:distance=2; see firstseen dedup --help (default "+feature.Methods()[0].Name+")", methodWords()...)
	fs.IntVar(&s.Segments, "segments", 0, "longest segments of a document taken as its features (default 50)")
	fs.IntVar(&s.MinWidth, "min-width", 0, "narrowest segment, in columns: a Chinese character is 2, a letter 1 (default by scheme, see version)")
	registerScore(fs, score)
	fs.StringVar(&m.terms, "terms", "", "with --method imatch or simhash: the table of terms that firstseen terms has made; the index keeps a copy")
	rarity := func(text string) error {
		n, err := fmt.Sscanf(text, "%d-%d", &s.LeastRare, &s.MostRare)
		if n != 2 || err != nil || s.LeastRare < 0 || s.LeastRare >= s.MostRare || s.MostRare > 100 {
			return want("two numbers of 0 to 100, the smaller first, such as 30-70")
		}
		return nil
	}
	readBy(fs, rarity, "rarity", "", "with --method imatch: rarity of the terms that count, in hundredths of the rarest (default 30-70)")
	fs.IntVar(&s.Shingle, "shingle", 0, "with --method shingles: words or Chinese characters in a shingle (default 5)")
	fs.IntVar(&s.Distance, "distance", 0, "with --method simhash: bits in which the fingerprints of copies may differ (default 3)")
}

// registerPassages registers the flag for an index that finds documents by their passages.
func registerPassages(fs *pflag.FlagSet, s *feature.Scheme) {
	fs.IntVar(&s.Passages, "passages", 0, fmt.Sprintf("find the passages of this many `words` or more that kept documents share with earlier ones, and name the earlier ones, with places (%d words without a number); chosen when the index is made", feature.DefaultPassage))
	fs.Lookup("passages").NoOptDefVal = fmt.Sprint(feature.DefaultPassage)
}

func registerScore(fs *pflag.FlagSet, score *dedup.Score) {
	oneOf(fs, score, "score", "unit of the share: text (runs of letters; in short texts words) or segments (each as one)",
		[]string{"text", "segments"}, dedup.ScoreText, dedup.ScoreSegments)
}

func methodWords() (names []string) {
	for _, m := range feature.Methods() {
		names = append(names, m.Name)
	}
	return names
}

func methodNames() string {
	names := methodWords()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func methodsHelp() string {
	help := "Methods (--method):\n"
	for _, m := range feature.Methods() {
		threshold := "no threshold"
		if m.Threshold > 0 {
			threshold = fmt.Sprintf("threshold %g", m.Threshold)
		}
		help += fmt.Sprintf("  %-8s  %s;\n            %s; score: %s\n", m.Name, m.Help, threshold, m.Score)
	}
	return strings.TrimSuffix(help, "\n")
}

// complete adds the method and its settings to s. An existing index in dir has its table of terms.
func (m *methodFlags) complete(s *feature.Scheme, dir string, threshold float64) (err error) {
	methods := feature.Methods()
	i := slices.IndexFunc(methods, func(info feature.Info) bool { return info.Name == cmp.Or(m.name, methods[0].Name) })
	if i < 0 {
		return fmt.Errorf("--method %q: want %s", m.name, methodNames())
	}
	s.Method = methods[i].Name
	if err := m.refuse(s); err != nil {
		return err
	}
	if s.Method == "shingles" && threshold > 0 {
		s.Bands, s.Rows = feature.BandsFor(threshold)
	}
	switch {
	case m.terms != "":
		s.Terms, err = terms.ReadFile(m.terms)
	case s.WeighsTerms() && dir != "":
		s.Terms, err = index.ReadTerms(dir)
	}
	return err
}

func (m *methodFlags) refuse(s *feature.Scheme) error {
	name := s.Info().Name
	return meaning([]conflict{
		noMeaning(s.Segments != 0 && !s.BySegments(), spelled("segments"), name),
		noMeaning(s.MinWidth != 0 && !s.BySegments(), spelled("min-width"), name),
		noMeaning(s.Shingle != 0 && s.Method != "shingles", spelled("shingle"), name),
		noMeaning(s.Passages != 0 && s.Method != feature.Methods()[0].Name, "--passages", name),
		noMeaning(s.Distance != 0 && s.Method != "simhash", spelled("distance"), name),
		noMeaning(s.MostRare != 0 && s.Method != "imatch", spelled("rarity"), name),
		noMeaning(m.terms != "" && !s.WeighsTerms(), spelled("terms"), name),
	})
}

// checkMethod checks the method and the flags that only some methods have.
func (f *options) checkMethod() error {
	if err := f.method.complete(&f.Scheme, f.index, f.Rules.Threshold); err != nil {
		return err
	}
	return cmp.Or(f.checkRules(), f.Scheme.Validate())
}

// checkRules refuses rules that mean nothing to the method.
func (f *options) checkRules() error {
	info, others := f.Scheme.Info(), !f.Scheme.BySegments()
	return meaning([]conflict{
		noMeaning(others && f.Rules.Score != dedup.ScoreText, spelled("score"), info.Name),
		noMeaning(others && f.Rules.RemoveMosaics, spelled("mosaics"), info.Name),
		noMeaning(f.Rules.Threshold != 0 && info.Threshold == 0, "--threshold", info.Name),
		noMeaning(f.filterOnly && !info.FilterOnly, "--filter-only", info.Name),
	})
}

// asMade takes the method and its settings from an index, unless flags choose others.
func (m *methodFlags) asMade(s *feature.Scheme, made feature.Scheme) {
	own := *m != (methodFlags{}) || s.Segments != 0 || s.MinWidth != 0 || s.Passages != 0 || s.Shingle != 0 || s.Distance != 0 || s.MostRare != 0
	plain := made
	plain.Bands, plain.Rows = 0, 0
	if own || plain.Name() != made.Name() { // a threshold chose the bands
		return
	}
	m.name = made.Info().Name
	s.Segments, s.MinWidth, s.Passages, s.Shingle, s.Distance = made.Segments, made.MinWidth, made.Passages, made.Shingle, made.Distance
	s.LeastRare, s.MostRare = made.LeastRare, made.MostRare
}
