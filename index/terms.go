package index

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/terms"
	"github.com/firstseen/firstseen/internal/durable"
)

// TermsFile holds the table of terms of an index whose method weighs terms, a copy of
// the one it was made with.
const TermsFile = "terms"

var errTermsGone = fmt.Errorf("its file %s is gone", TermsFile)

// weighsTerms reports whether the name of a scheme has the digest of a table of terms.
func weighsTerms(name string) bool {
	return feature.Scheme{Method: feature.MethodOf(name)}.WeighsTerms() && strings.Contains(name, "-t")
}

// ReadTerms returns the table of terms of the index in dir, nil if it has none.
func ReadTerms(dir string) (*terms.Table, error) {
	t, err := ReadTermsFile(filepath.Join(dir, TermsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return t, err
}

// ReadTermsFile reads a table of terms.
func ReadTermsFile(path string) (*terms.Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the table of terms: %w", err)
	}
	defer f.Close() // it was only read
	b, err := io.ReadAll(io.LimitReader(f, terms.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading the table of terms: %w", err)
	}
	t, err := terms.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s is %w", path, err)
	}
	return t, nil
}

// WriteTermsFile replaces a file by a table of terms, or leaves it as it was.
func WriteTermsFile(path string, t *terms.Table) error {
	err := durable.Replace(path, func(f *os.File) error { return t.Write(f) })
	if err != nil {
		return fmt.Errorf("writing the table of terms: %w", err)
	}
	return nil
}

// keepTerms stores the table of terms in a new index, before its table is there. What an
// interrupted creation of another has left is removed.
func (x *Index) keepTerms(p *presence) error {
	switch {
	case !p.none() || x.temp:
		return nil
	case x.scheme.Terms != nil:
		return WriteTermsFile(x.path(TermsFile), x.scheme.Terms)
	}
	there, err := exists(x.path(TermsFile))
	if err != nil || !there {
		return err
	}
	return durable.Remove(x.path(TermsFile))
}

// schemeIn returns the scheme of the index in dir, by its name and key.
func schemeIn(dir, name string, key []byte) (feature.Scheme, error) {
	if s, ok := feature.Named(name, key); ok {
		return s, nil
	}
	table, err := ReadTerms(dir)
	if err != nil {
		return feature.Scheme{}, err
	}
	if s, ok := feature.NamedWith(name, key, table); ok {
		return s, nil
	}
	if table == nil && weighsTerms(name) {
		return feature.Scheme{}, fmt.Errorf("%w: put it back, the table of terms that it was made with; its scheme is %q", errTermsGone, name)
	}
	return schemeNamed(name, key)
}
