//go:build unix

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// unixClient returns a client of the server at the socket path.
func unixClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
}

// seen is the part of an answer that tests look at.
type seen struct {
	ID    string `json:"id"`
	Kept  bool   `json:"kept"`
	Of    string `json:"of"`
	Again bool   `json:"again"`
}

// posted posts lines to a server. ok reports whether all answers came.
func posted(c *http.Client, lines string) (answers []seen, ok bool) {
	r, err := c.Post("http://server/v1/see", "application/x-ndjson", strings.NewReader(lines))
	if err != nil {
		return nil, false
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		return nil, false
	}
	for dec := json.NewDecoder(bytes.NewReader(body)); dec.More(); {
		var a seen
		if dec.Decode(&a) != nil {
			return nil, false
		}
		answers = append(answers, a)
	}
	return answers, true
}

func documentLine(id string, n int) string {
	return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, indextest.Sentences(n))
}
