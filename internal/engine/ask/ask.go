// Package ask asks about an index: the server that holds it or, without one, its files.
package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// holderOf returns the server that holds the index in dir, or nil if there is none.
func holderOf(dir string) (*client.Client, error) {
	address, err := index.ServerAddress(dir)
	if err != nil || address == "" {
		return nil, err
	}
	c, err := client.New(address)
	if err != nil {
		return nil, fmt.Errorf("index %s: the server that holds it: %w", dir, err)
	}
	return c, nil
}

// ask sends a request and reads the answer into value, which is unchanged if nothing is found.
func ask(ctx context.Context, h *client.Client, method, path string, body []byte, value any) error {
	data, err := h.Do(ctx, method, path, "text/plain; charset=utf-8", body)
	var refused *client.StatusError
	switch {
	case err == nil:
		return json.Unmarshal(data, value)
	case !errors.As(err, &refused):
		return fmt.Errorf("asking the server that holds the index: %w", err)
	case refused.Status == http.StatusNotFound:
		return nil
	}
	return err
}

// check judges a document. The line has no place, which the server does not know.
func check(ctx context.Context, h *client.Client, id string, text []byte, exact bool) (report.Reported, error) {
	if len(text) == 0 {
		text = []byte("\n") // the request needs a body
	}
	path := "/v1/see?check=1&report=1&id=" + url.QueryEscape(id)
	if exact {
		path += "&exact=1"
	}
	var line report.Reported
	err := ask(ctx, h, http.MethodPost, path, text, &line)
	return line, err
}

// Check returns the findings of the server that holds an index, or nil without one.
func Check(ctx context.Context, dir string) (*index.Checked, error) {
	h, err := holderOf(dir)
	if err != nil || h == nil {
		return nil, err
	}
	found := new(index.Checked)
	err = ask(ctx, h, http.MethodGet, "/v1/check", nil, found)
	return found, err
}

// Backup copies the index in dir to the new folder dest, also while a server writes it.
func Backup(ctx context.Context, dir, dest string) error {
	h, err := holderOf(dir)
	if err != nil {
		return err
	}
	if h == nil {
		return index.Backup(ctx, dir, dest)
	}
	return Fetch(ctx, h, dest)
}

// Fetch copies the index of a server to the new folder dest, as [index.Restore] does with checks.
func Fetch(ctx context.Context, from *client.Client, dest string, checks ...func(dir string) error) (err error) {
	snapshot, err := from.Stream(ctx, http.MethodGet, "/v1/snapshot", "", nil)
	if err != nil {
		return fmt.Errorf("asking the server that holds the index for a snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	return index.Restore(ctx, snapshot, dest, checks...)
}

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
		return func(id string, text []byte, exact bool) (report.Reported, error) {
			return check(ctx, h, id, text, exact)
		}, func() error { return nil }, nil
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

// Stored is a kept document. The JSON form is a contract.
type Stored struct {
	Number  uint32    `json:"number"` // in order of arrival, from 1
	Verdict string    `json:"verdict"`
	Time    time.Time `json:"time"` // when it was kept
}

// ByID returns a function that finds the kept documents of an id, and one that closes it.
func ByID(ctx context.Context, dir string) (func(id string) ([]Stored, error), func() error, error) {
	h, err := holderOf(dir)
	if err != nil {
		return nil, nil, err
	}
	if h != nil {
		return func(id string) ([]Stored, error) { return stored(ctx, h, id) }, func() error { return nil }, nil
	}
	x, err := openReader(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	return func(id string) ([]Stored, error) {
		docs := []Stored{}
		found, err := x.ByID(id)
		for _, d := range found {
			docs = append(docs, Stored{Number: d.Number, Verdict: d.Verdict.String(), Time: time.Unix(d.Time, 0).UTC()})
		}
		return docs, err
	}, x.Close, nil
}

// stored returns the kept documents of an id.
func stored(ctx context.Context, h *client.Client, id string) ([]Stored, error) {
	docs := []Stored{}
	var kept []struct {
		Number  uint32 `json:"number"`
		Verdict string `json:"verdict"`
		Time    int64  `json:"time"`
	}
	if id == "" {
		return docs, errors.New("the empty id names no document")
	}
	err := ask(ctx, h, http.MethodGet, "/v1/documents?id="+url.QueryEscape(id), nil, &kept)
	for _, k := range kept {
		docs = append(docs, Stored{Number: k.Number, Verdict: k.Verdict, Time: time.Unix(k.Time, 0).UTC()})
	}
	return docs, err
}

// Summary is the output of firstseen index stats. The JSON form is a contract.
type Summary struct {
	Scheme string             `json:"scheme"`
	Table  *index.TableStats  `json:"table"`  // null without a side table
	Filter *index.FilterState `json:"filter"` // null if it was not saved
	// Unfinished reports an interrupted run on the index; see dedup --help.
	Unfinished bool `json:"unfinished_run"`
}

// Stats counts what an index holds.
func Stats(ctx context.Context, dir string) (_ *Summary, err error) {
	if h, err := holderOf(dir); err == nil && h != nil {
		s := new(Summary)
		err = ask(ctx, h, http.MethodGet, "/v1/stats", nil, s)
		return s, err
	}
	files, err := index.OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	s := &Summary{Scheme: files.SchemeName, Filter: files.FilterState()}
	if files.Table == nil {
		s.Unfinished = files.Journals
		return s, nil
	}
	t := files.Table.Stats()
	s.Table = &t
	stored, err := files.Table.State(pipeline.LedgerName)
	s.Unfinished = len(stored) > 0
	return s, err
}
