// Package client gives documents to a server of firstseen.
//
//	c, err := client.New("unix:/run/firstseen/http.sock")
//	answers, err := c.See(ctx, []client.Document{{ID: "a", Text: "..."}})
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client is for any number of goroutines. Its fields may be set before the first request.
type Client struct {
	URL   string // of the server, without a path
	Token string // "" for none
	Batch string // of the kept documents, "" for none
	HTTP  *http.Client
}

// New returns a client of the server at an address: unix:PATH, http://HOST:PORT or https://HOST:PORT.
func New(address string) (*Client, error) {
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		return &Client{URL: "http://localhost", HTTP: &http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("address %q: want unix:PATH, http://HOST:PORT or https://HOST:PORT", address)
	}
	return &Client{URL: strings.TrimSuffix(address, "/"), HTTP: &http.Client{}}, nil
}

// Document is a text with its id, which later answers name it by.
type Document struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Answer is the verdict about a document.
type Answer struct {
	ID      string  `json:"id"`
	Verdict string  `json:"verdict"` // unique, related, mosaic, duplicate or bad
	Kept    bool    `json:"kept"`
	Of      string  `json:"of"`     // the id of the earlier document, "" for none
	Score   float64 `json:"score"`  // 0 to 1
	Again   bool    `json:"again"`  // it was kept before, with this id and text
	Reason  string  `json:"reason"` // if bad
}

// StatusError is a refusal of the server.
type StatusError struct {
	Status  int    `json:"-"` // of HTTP
	Message string `json:"error"`
	Line    int    `json:"line"` // of the document in the request, from 1; 0 for none
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("firstseen server: %s: %s", http.StatusText(e.Status), e.Message)
}

// See has documents decided as one block, and returns an answer for each, in order. While the server is
// busy, down or out of reach, See tries again until ctx ends: the server answers a document that it kept
// the first time as it did then. Another refusal is a *StatusError.
func (c *Client) See(ctx context.Context, docs []Document) ([]Answer, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	for i := range docs {
		if err := enc.Encode(docs[i]); err != nil {
			return nil, err
		}
	}
	wait := 50 * time.Millisecond
	for {
		answers, again, err := c.see(ctx, body.Bytes(), len(docs))
		if err == nil || !again {
			return answers, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w; the last try: %w", ctx.Err(), err)
		case <-time.After(wait):
			wait = min(2*wait, time.Second)
		}
	}
}

// see tries once. again means that another try may have another result.
func (c *Client) see(ctx context.Context, body []byte, want int) (answers []Answer, again bool, err error) {
	address := c.URL + "/v1/see?batch=" + url.QueryEscape(c.Batch)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	a, err := c.HTTP.Do(r)
	if err != nil {
		return nil, true, err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		return nil, true, err
	}
	if a.StatusCode != http.StatusOK {
		refused := &StatusError{Status: a.StatusCode}
		if json.Unmarshal(data, refused) != nil {
			refused.Message = string(data)
		}
		refused.Message = cmp.Or(refused.Message, "no reason given")
		return nil, a.StatusCode == http.StatusTooManyRequests || a.StatusCode == http.StatusServiceUnavailable, refused
	}
	for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); {
		var one Answer
		if err := dec.Decode(&one); err != nil {
			return nil, false, fmt.Errorf("reading the answers: %w", err)
		}
		answers = append(answers, one)
	}
	if len(answers) != want {
		return nil, false, fmt.Errorf("the server sent %d answers to %d documents", len(answers), want)
	}
	return answers, false, nil
}
