package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
	"github.com/firstseen/firstseen/internal/engine/pipeline/confirm"
)

// methodFlags say how copies are recognized, and by which rules.
type methodFlags struct {
	method, terms string
	scheme        feature.Scheme
	rules         dedup.Rules
}

func (m *methodFlags) registerMethod(fs *pflag.FlagSet) *flags.Refined {
	s := &m.scheme
	r := flags.Refine(fs, &m.method, "method", "how copies are recognized: "+methodNames()+", with settings such as simhash:distance=2; see firstseen dedup --help (default "+feature.Methods()[0].Name+")", methodWords()...)
	s.Settings(func(method, name string, value *int, least, most int) {
		r.Add(method, name, flags.Whole(value, least, most))
	})
	r.Add("segments", "score", flags.Word(&m.rules.Score, scoreWords, scores...))
	r.Add("simhash imatch", "terms", flags.Text(&m.terms))
	r.Add("imatch", "rarity", func(text string) error {
		n, err := fmt.Sscanf(text, "%d-%d", &s.LeastRare, &s.MostRare)
		if n != 2 || err != nil || s.LeastRare < 0 || s.LeastRare >= s.MostRare || s.MostRare > 100 {
			return errors.New("want two numbers of 0 to 100, the smaller first, such as 30-70")
		}
		return nil
	})
	return r
}

// registerPassages registers the flag for an index that finds documents by their passages.
func (m *methodFlags) registerPassages(fs *pflag.FlagSet) {
	fs.IntVar(&m.scheme.Passages, "passages", 0, fmt.Sprintf("find the passages of this many `words` or more that kept documents share with earlier ones, and name the earlier ones, with places (%d words without a number); chosen when the index is made", feature.DefaultPassage))
	fs.Lookup("passages").NoOptDefVal = fmt.Sprint(feature.DefaultPassage)
}

var (
	scoreWords = []string{"text", "segments"}
	scores     = []dedup.Score{dedup.ScoreText, dedup.ScoreSegments}
)

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

// checkMethod completes the scheme, and refuses flags that the method does not have. An existing
// index in dir has its table of terms.
func (m *methodFlags) checkMethod(dir string, filterOnly bool) (err error) {
	methods, s, r := feature.Methods(), &m.scheme, &m.rules
	i := slices.IndexFunc(methods, func(info feature.Info) bool { return info.Name == cmp.Or(m.method, methods[0].Name) })
	if i < 0 {
		return fmt.Errorf("--method %q: want %s", m.method, methodNames())
	}
	s.Method = methods[i].Name
	if s.Method == "shingles" && r.Threshold > 0 {
		s.Bands, s.Rows = feature.BandsFor(r.Threshold)
	}
	switch {
	case m.terms != "":
		s.Terms, err = terms.ReadFile(m.terms)
	case s.WeighsTerms() && dir != "":
		s.Terms, err = index.ReadTerms(dir)
	}
	return cmp.Or(err, m.refuse(filterOnly), s.Validate())
}

func (m *methodFlags) refuse(filterOnly bool) error {
	info := m.scheme.Info()
	none := func(is bool, flag string) conflict {
		return conflict{is, fmt.Sprintf("%s has no meaning with --method %s: leave it out", flag, info.Name)}
	}
	return meaning(
		none(m.scheme.Passages != 0 && info.Name != feature.Methods()[0].Name, "--passages"),
		none(m.rules.Score != dedup.ScoreText && !m.scheme.BySegments(), "--method segments:score"),
		none(m.rules.Threshold != 0 && info.Threshold == 0, "--threshold"),
		none(filterOnly && !info.FilterOnly, "--filter-only"),
	)
}

// takeMade takes the method and its settings from an index, unless flags choose others.
func (m *methodFlags) takeMade(made feature.Scheme) {
	plain := made
	plain.Bands, plain.Rows = 0, 0
	if m.method != "" || m.scheme.Passages != 0 || plain.Name() != made.Name() { // a threshold chose the bands
		return
	}
	m.method = made.Info().Name
	plain.Key, plain.Terms = m.scheme.Key, m.scheme.Terms
	m.scheme = plain
}

// doubtful stands for the condition of --verify for the two-stage rules.
const doubtful = "doubtful"

// checkVerify parses the condition for removals, after the rules are known.
func (f *dedupOptions) checkVerify() (err error) {
	for _, arg := range f.args {
		if _, err := similarity.ParseCondition(arg); (err == nil || arg == doubtful) && f.verify == doubtful {
			return fmt.Errorf("--verify %s: join it to the flag with an equals sign: --verify='%s'", arg, arg)
		}
	}
	if f.verify == "" {
		return nil
	}
	c := similarity.Verified
	if f.rules.Verify = f.verify == doubtful; !f.rules.Verify {
		if c, err = similarity.ParseCondition(f.verify); err != nil {
			return fmt.Errorf("--verify: %w", err)
		}
	}
	f.verified, f.rules.Confirm = &c, c.String()
	return nil
}

// readsEarlier returns the flag that makes the run read earlier texts again, or "".
func (f *dedupOptions) readsEarlier() string {
	switch {
	case f.verified != nil:
		return "--verify"
	case f.scheme.Passages > 0:
		return "--passages"
	}
	return ""
}

// checkRereads refuses inputs that cannot be read again.
func (f *dedupOptions) checkRereads() error {
	if flag := f.readsEarlier(); flag != "" && f.readsPipe() {
		return usageError{errors.New(flag + " reads earlier texts again, and an input is a pipe, which can be read only once: write it to a file first")}
	}
	return nil
}

// readEarlier makes the job read earlier texts again, and store the data needed for that. The
// scheme must have its key.
func (f *dedupOptions) readEarlier(ctx context.Context) error {
	if f.readsEarlier() == "" {
		return nil
	}
	f.earlier = confirm.NewInputs(ctx, input.NewFinder(f.inputs, f.source.Bounds).Find, func(in input.Input) *corpus.Source {
		return f.formats.source([]input.Input{in}, f.source)
	})
	texts, err := confirm.New(f.scheme, f.earlier)
	if err != nil {
		return err
	}
	if f.verified != nil {
		texts.Condition, f.Confirm = *f.verified, texts.Confirm
	}
	if f.scheme.Passages > 0 {
		f.Passages = confirm.NewPassages(texts, f.scheme.Passages).Find
	}
	f.Parsed = f.earlier.Keep
	f.Store = func(dst []byte, file string, doc *corpus.Document) []byte {
		return confirm.Place{File: file, At: doc.At}.Append(dst)
	}
	return nil
}
