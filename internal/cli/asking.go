package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
)

// holder is the server that holds an index, as commands on the index ask it.
type holder struct{ *client.Client }

// holderOf returns the server that holds the index in dir, nil if there is none to ask.
func holderOf(dir string) (*holder, error) {
	address, err := index.ServerAddress(dir)
	if err != nil || address == "" {
		return nil, err
	}
	c, err := client.New(address)
	if err != nil {
		return nil, fmt.Errorf("index %s: the server that holds it: %w", dir, err)
	}
	return &holder{c}, nil
}

// ask sends a request, and reads the answer into value, which stays if the server does not have it.
func (h *holder) ask(ctx context.Context, method, path string, body []byte, value any) error {
	r, err := http.NewRequestWithContext(ctx, method, h.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	var data []byte
	a, err := h.HTTP.Do(r)
	if err == nil {
		defer a.Body.Close()
		data, err = io.ReadAll(a.Body)
	}
	switch {
	case err != nil:
		return fmt.Errorf("asking the server that holds the index: %w", err)
	case a.StatusCode == http.StatusNotFound:
		return nil
	case a.StatusCode == http.StatusOK:
		return json.Unmarshal(data, value)
	}
	refused := &client.StatusError{Status: a.StatusCode}
	if json.Unmarshal(data, refused) != nil {
		refused.Message = string(data)
	}
	return refused
}

// reported is a line of a report from a server, which does not know the place of the document.
type reported struct {
	report.Reported
	Line json.RawMessage `json:"line"`
}

// check judges a document, as a line of a report.
func (h *holder) check(ctx context.Context, id string, text []byte) (report.Reported, error) {
	if len(text) == 0 {
		text = []byte("\n") // a request has a body
	}
	var line reported
	err := h.ask(ctx, http.MethodPost, "/v1/see?check=1&report=1&id="+url.QueryEscape(id), text, &line)
	return line.Reported, err
}

// stored returns the kept documents of an id.
func (h *holder) stored(ctx context.Context, id string) ([]storedDoc, error) {
	docs := []storedDoc{}
	var kept []struct {
		Number  uint32 `json:"number"`
		Verdict string `json:"verdict"`
		Time    int64  `json:"time"`
	}
	if id == "" {
		return docs, errors.New("the empty id names no document")
	}
	err := h.ask(ctx, http.MethodGet, "/v1/documents/"+url.PathEscape(id), nil, &kept)
	for _, k := range kept {
		docs = append(docs, storedDoc{Number: k.Number, Verdict: k.Verdict, Time: time.Unix(k.Time, 0).UTC()})
	}
	return docs, err
}
