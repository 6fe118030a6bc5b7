// Package ask asks about an index: the server that holds it or, without one, its files.
package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/report"
)

// holder is a client of the server that holds an index.
type holder struct{ *client.Client }

// holderOf returns the server that holds the index in dir, or nil if there is none.
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

// ask sends a request and reads the answer into value, which is unchanged if nothing is found.
func (h *holder) ask(ctx context.Context, method, path string, body []byte, value any) error {
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
func (h *holder) check(ctx context.Context, id string, text []byte, exact bool) (report.Reported, error) {
	if len(text) == 0 {
		text = []byte("\n") // the request needs a body
	}
	path := "/v1/see?check=1&report=1&id=" + url.QueryEscape(id)
	if exact {
		path += "&exact=1"
	}
	var line report.Reported
	err := h.ask(ctx, http.MethodPost, path, text, &line)
	return line, err
}

// Check returns the findings of the server that holds an index, or nil without one.
func Check(ctx context.Context, dir string) (*index.Checked, error) {
	h, err := holderOf(dir)
	if err != nil || h == nil {
		return nil, err
	}
	found := new(index.Checked)
	err = h.ask(ctx, http.MethodGet, "/v1/check", nil, found)
	return found, err
}
