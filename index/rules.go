package index

import (
	"errors"
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
)

// otherRules adds a remedy to the error about an index made by other rules, and not only by other
// settings.
func (x *Index) otherRules(err error) error {
	if !errors.Is(err, docmap.ErrScheme) && !errors.Is(err, bloomstore.ErrScheme) {
		return err
	}
	files, otherErr := OpenFiles(x.dir)
	if otherErr != nil || files.Close() != nil {
		return err
	}
	name := files.Scheme()
	if rulesOf(name) == rulesOf(x.name) {
		if _, why := schemeIn(x.dir, name, x.scheme.Key); why != nil { // no other settings would help
			return &otherRulesError{err, fmt.Sprintf("index %s: %v", x.dir, why)}
		}
		return err
	}
	if made := feature.MethodOf(name); made != feature.Former && made != feature.MethodOf(x.name) && made != "" {
		return &otherRulesError{err, fmt.Sprintf("index %s was made by the method %s (scheme %q), and this run is to use %s: use --method %s, or another --index",
			x.dir, made, name, feature.MethodOf(x.name), made)}
	}
	help := "or use the version of firstseen that it was made with"
	if _, ok := feature.Named(name, x.scheme.Key); ok {
		help = "firstseen query still answers from it, by its own rules"
	}
	return &otherRulesError{err, fmt.Sprintf("index %s was made by the rules %s (scheme %q), and new documents are judged by %s: build it again from the documents, under another --index; %s",
		x.dir, rulesOf(name), name, rulesOf(x.name), help)}
}

// rulesOf is the version of the rules, and that of the canonical form: the first two parts
// of a scheme's name.
func rulesOf(scheme string) string {
	version, rest, _ := strings.Cut(scheme, "-")
	form, _, _ := strings.Cut(rest, "-")
	return version + "-" + form
}

// isOurs reports whether this version of the program has the rules of a scheme.
func isOurs(scheme string) bool {
	_, form, _ := strings.Cut(rulesOf(scheme), "-")
	_, ours, _ := strings.Cut(rulesOf(feature.Scheme{}.Name()), "-")
	return feature.MethodOf(scheme) != "" && form == ours
}

// otherRulesError is an error of another scheme in other words.
type otherRulesError struct {
	err  error
	text string
}

func (e *otherRulesError) Error() string { return e.text }
func (e *otherRulesError) Unwrap() error { return e.err }
