package index

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/internal/base/durable"
)

const keyBytes = 16

// KeyPolicy selects whether a new index gets a secret, and which existing indexes Open refuses.
type KeyPolicy uint8

const (
	KeyNew      KeyPolicy = iota // a new index gets one
	KeyAsIs                      // a new index gets none
	KeyRequired                  // Open returns ErrUnkeyed for an index without one
	KeyRefused                   // Open returns ErrKeyed for an index with one
)

// ReadKey returns the secret of the index in dir; nil if it has none.
func ReadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, KeyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the index's key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s: %w of %d hexadecimal digits; restore it from a backup, without it the index is useless", path, ErrBadKey, 2*keyBytes)
	}
	return key, nil
}

// DrawKey returns a random secret for a [feature.Scheme].
func DrawKey() []byte {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// makeKey stores key, or draws a secret if it is nil. The caller holds the lock of the index: if
// two processes create it at once, one draws the key for both.
func makeKey(dir string, key []byte) ([]byte, error) {
	if key == nil {
		key = DrawKey()
	}
	err := durable.Replace(filepath.Join(dir, KeyFile), func(f *os.File) error {
		// Restrict access before writing the secret.
		if err := f.Chmod(0o600); err != nil {
			return err
		}
		_, err := fmt.Fprintln(f, hex.EncodeToString(key))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("storing the index's key: %w", err)
	}
	return key, nil
}

var errTermsGone = fmt.Errorf("its file %s is gone", TermsFile)

// weighsTerms reports whether the name of a scheme has the digest of a table of terms.
func weighsTerms(name string) bool {
	return feature.Scheme{Method: feature.MethodOf(name)}.WeighsTerms() && strings.Contains(name, "-t")
}

// ReadTerms returns the table of terms of the index in dir, nil if it has none.
func ReadTerms(dir string) (*terms.Table, error) {
	t, err := terms.ReadFile(filepath.Join(dir, TermsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return t, err
}

// keepTerms stores the table of terms in a new index before its side table exists. It removes a
// table of terms left by an interrupted creation.
func (x *Index) keepTerms(p *presence) error {
	switch {
	case !p.none() || x.temp:
		return nil
	case x.scheme.Terms != nil:
		return x.scheme.Terms.WriteFile(x.path(TermsFile))
	}
	there, err := exists(x.path(TermsFile))
	if err != nil || !there {
		return err
	}
	return durable.Remove(x.path(TermsFile))
}

// schemeIn returns the scheme of the index in dir, by its name and key.
func schemeIn(dir, name string, key []byte) (feature.Scheme, error) {
	if !weighsTerms(name) || !isOurs(name) {
		return schemeNamed(name, key)
	}
	table, err := ReadTerms(dir)
	if err != nil {
		return feature.Scheme{}, err
	}
	s, ok := feature.NamedWith(name, key, table)
	switch {
	case ok:
		return s, nil
	case table == nil:
		return s, fmt.Errorf("%w: put back the table of terms that the index was made with; its scheme is %q", errTermsGone, name)
	case !strings.Contains(name, "-t"+table.Digest()):
		return s, fmt.Errorf("its file %s is %w: it belongs to another index; put back the one that the index was made with", TermsFile, terms.ErrTable)
	}
	return schemeNamed(name, key)
}

// anew is the remedy for an index of other rules.
const anew = "make it anew from its documents with firstseen dedup --index NEW INPUT..., or use the version of firstseen that it was made with"

// schemeNamed returns a scheme by its name and key. Its errors give the remedy.
func schemeNamed(name string, key []byte) (feature.Scheme, error) {
	s, ok := feature.Named(name, key)
	switch {
	case ok:
		return s, nil
	case !isOurs(name):
		return s, fmt.Errorf("it was made by the rules %s (scheme %q), which this version of firstseen does not have: %s", rulesOf(name), name, anew)
	case key == nil && strings.Contains(name, "siphash"):
		return s, fmt.Errorf("the key is missing: the index was made with one (scheme %q); put its file %s back, since nothing can be compared without it", name, KeyFile)
	case key == nil:
		return s, fmt.Errorf("it was made with the scheme %q, which this program does not have; use the version it was made with", name)
	}
	return s, fmt.Errorf("it was made with the scheme %q, which this program does not have with this index's key; put its own file %s back, or use the version it was made with", name, KeyFile)
}

// otherRules adds a remedy to the error for an index made by other rules, not just other settings.
func (x *Index) otherRules(err error) error {
	if !errors.Is(err, docmap.ErrScheme) && !errors.Is(err, bloomstore.ErrScheme) {
		return err
	}
	files, otherErr := openFiles(x.dir)
	if otherErr != nil || files.Close() != nil {
		return err
	}
	name := files.SchemeName
	if rulesOf(name) == rulesOf(x.name) {
		if _, why := schemeIn(x.dir, name, x.scheme.Key); why != nil { // settings would not help
			return &otherRulesError{err, fmt.Sprintf("index %s: %v", x.dir, why)}
		}
		return err
	}
	if made := feature.MethodOf(name); made != feature.MethodOf(x.name) && made != "" {
		return &otherRulesError{err, fmt.Sprintf("index %s was made by the method %s (scheme %q), and this run would use %s: give --method %s, or another --index",
			x.dir, made, name, feature.MethodOf(x.name), made)}
	}
	return &otherRulesError{err, fmt.Sprintf("index %s was made by the rules %s (scheme %q), and new documents are judged by %s: %s",
		x.dir, rulesOf(name), name, rulesOf(x.name), anew)}
}

// rulesOf returns the versions of rules and canonical form, the first two parts of a scheme's name.
func rulesOf(scheme string) string {
	version, rest, _ := strings.Cut(scheme, "-")
	form, _, _ := strings.Cut(rest, "-")
	return version + "-" + form
}

// isOurs reports whether this version of the program implements the rules of a scheme.
func isOurs(scheme string) bool {
	_, form, _ := strings.Cut(rulesOf(scheme), "-")
	_, ours, _ := strings.Cut(rulesOf(feature.Scheme{}.Name()), "-")
	return feature.MethodOf(scheme) != "" && form == ours
}

// otherRulesError rewords an error about another scheme.
type otherRulesError struct {
	err  error
	text string
}

func (e *otherRulesError) Error() string { return e.text }
func (e *otherRulesError) Unwrap() error { return e.err }
