// Package client sends documents to a firstseen server.
//
//	c, err := client.New("unix:/run/firstseen/http.sock")
//	answers, err := c.See(ctx, []client.Document{{ID: "a", Text: "..."}})
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Client may be used by several goroutines. Set its fields before the first request.
type Client struct {
	URL   string       // of the server, without a path
	Token string       // "" for none
	Batch string       // of the kept documents, "" for none
	HTTP  *http.Client // nil for http.DefaultClient
}

// New returns a client for a server at unix:PATH, http://HOST:PORT or https://HOST:PORT.
func New(address string) (*Client, error) {
	if path, unix := strings.CutPrefix(address, "unix:"); unix && path != "" {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		return &Client{URL: "http://localhost", HTTP: &http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
	}
	c := &Client{URL: address, HTTP: &http.Client{}}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.URL = strings.TrimSuffix(address, "/")
	return c, nil
}

// check returns an error for fields with which no request can be sent.
func (c *Client) check() error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("address %q: want unix:PATH, http://HOST:PORT or https://HOST:PORT", c.URL)
	}
	if !httpguts.ValidHeaderFieldValue(c.Token) {
		return errors.New("the token has a line end or another control character")
	}
	return nil
}

// Document is a text and its id, which later answers refer to. Bytes outside UTF-8 become U+FFFD.
type Document struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Answer is the verdict on a document.
type Answer struct {
	ID      string  `json:"id"`
	Verdict string  `json:"verdict"` // unique, related, mosaic, duplicate or bad
	Kept    bool    `json:"kept"`
	Of      string  `json:"of"`     // id of the earlier document, "" for none
	Score   float64 `json:"score"`  // 0 to 1
	Again   bool    `json:"again"`  // it was kept before, with this id and text
	Reason  string  `json:"reason"` // if bad
}

// StatusError is a refusal by the server.
type StatusError struct {
	Status  int    `json:"-"` // of HTTP
	Message string `json:"error"`
	Line    int    `json:"line"` // of the document in the request, from 1; 0 for none
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("firstseen server: %s: %s", http.StatusText(e.Status), e.Message)
}

// See sends documents, which the server decides as one block, and returns their answers in order.
// While the server is busy, down or unreachable, See retries until ctx ends. A document that was
// kept the first time gets the same answer. Other refusals are of type *StatusError.
func (c *Client) See(ctx context.Context, docs []Document) ([]Answer, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	for i := range docs {
		if err := enc.Encode(docs[i]); err != nil {
			return nil, err
		}
	}
	path := "/v1/see?batch=" + url.QueryEscape(c.Batch)
	if err := c.check(); err != nil {
		return nil, err // retrying would not help
	}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		data, err := c.Do(ctx, http.MethodPost, path, "application/x-ndjson", body.Bytes())
		if err == nil {
			return parse(data, len(docs))
		}
		var refused *StatusError
		if errors.As(err, &refused) && !passing[refused.Status] {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w; the last try: %w", ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// passing has the statuses of a busy server, and of a proxy before one that is down.
var passing = map[int]bool{
	http.StatusTooManyRequests: true, http.StatusBadGateway: true, http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true,
}

func parse(data []byte, want int) (answers []Answer, err error) {
	for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); {
		var one Answer
		if err := dec.Decode(&one); err != nil {
			return nil, fmt.Errorf("reading the answers: %w", err)
		}
		answers = append(answers, one)
	}
	if len(answers) != want {
		return nil, fmt.Errorf("the server sent %d answers for %d documents", len(answers), want)
	}
	return answers, nil
}

// Do sends a request once and returns the response body. A refusal is a *StatusError.
func (c *Client) Do(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	in, err := c.Stream(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// Stream is Do for a long response. The caller closes its body.
func (c *Client) Stream(ctx context.Context, method, path, contentType string, body []byte) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", contentType)
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	a, err := cmp.Or(c.HTTP, http.DefaultClient).Do(r)
	switch {
	case err != nil:
		return nil, err
	case a.StatusCode == http.StatusOK:
		return a.Body, nil
	}
	defer a.Body.Close()
	data, err := io.ReadAll(io.LimitReader(a.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	refused := &StatusError{Status: a.StatusCode}
	if json.Unmarshal(data, refused) != nil {
		refused.Message = string(data)
	}
	refused.Message = cmp.Or(refused.Message, "no reason given")
	return nil, refused
}
