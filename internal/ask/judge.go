package ask

import (
	"cmp"
	"context"
	"errors"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
)

// ErrRules is returned for rules if a server judges by its own.
var ErrRules = errors.New("the server that holds the index has rules of its own")

// Judge returns a function that judges documents without adding them, and one that closes it. accept
// may refuse the scheme of the index.
func Judge(ctx context.Context, dir string, rules dedup.Rules, accept func(feature.Scheme) error) (func(id string, text []byte, exact bool) (report.Reported, error), func() error, error) {
	h, err := holderOf(dir)
	switch {
	case err != nil:
		return nil, nil, err
	case h != nil && rules != dedup.Rules{}:
		return nil, nil, ErrRules
	case h != nil:
		check := func(id string, text []byte, exact bool) (report.Reported, error) {
			return h.check(ctx, id, text, exact)
		}
		return check, func() error { return nil }, nil
	}
	x, err := openReader(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	deduper, err := x.Deduper(rules)
	extractor, extractorErr := feature.NewExtractor(x.Scheme)
	if err := cmp.Or(accept(x.Scheme), err, extractorErr); err != nil {
		return nil, nil, errors.Join(err, x.Close())
	}
	var set feature.Set
	return func(id string, text []byte, exact bool) (report.Reported, error) {
		extractor.ExtractFor(&set, text, exact)
		r, err := deduper.Check(id, &set)
		if err != nil {
			return report.Reported{}, err
		}
		return report.Report(&r, id, &set, text), nil
	}, x.Close, nil
}

func openReader(ctx context.Context, dir string) (*index.Reader, error) {
	key, err := index.ReadKey(dir)
	if err != nil {
		return nil, err
	}
	return index.OpenReader(ctx, dir, key)
}
