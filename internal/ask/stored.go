package ask

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/firstseen/firstseen/index"
)

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
		return func(id string) ([]Stored, error) { return h.stored(ctx, id) }, func() error { return nil }, nil
	}
	x, err := openReader(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	return func(id string) ([]Stored, error) { return storedIn(x, id) }, x.Close, nil
}

// stored returns the kept documents of an id.
func (h *holder) stored(ctx context.Context, id string) ([]Stored, error) {
	docs := []Stored{}
	var kept []struct {
		Number  uint32 `json:"number"`
		Verdict string `json:"verdict"`
		Time    int64  `json:"time"`
	}
	if id == "" {
		return docs, errors.New("the empty id names no document")
	}
	err := h.ask(ctx, http.MethodGet, "/v1/documents?id="+url.QueryEscape(id), nil, &kept)
	for _, k := range kept {
		docs = append(docs, Stored{Number: k.Number, Verdict: k.Verdict, Time: time.Unix(k.Time, 0).UTC()})
	}
	return docs, err
}

func storedIn(x *index.Reader, id string) ([]Stored, error) {
	docs := []Stored{}
	found, err := x.ByID(id)
	for _, d := range found {
		docs = append(docs, Stored{Number: d.Number, Verdict: d.Verdict.String(), Time: time.Unix(d.Time, 0).UTC()})
	}
	return docs, err
}
