package server

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/base/lexical"
	"github.com/firstseen/firstseen/internal/engine/apply"
)

// errType is returned for bodies of an unknown type.
var errType = refuse(http.StatusUnsupportedMediaType, "want Content-Type application/x-ndjson for lines of JSON, application/json for one object or an array of them, text/plain or text/html with ?id= or X-Firstseen-Id, or application/warc")

func badBody(format string, args ...any) *problem {
	return refuse(http.StatusBadRequest, format, args...)
}

// badLine returns the problem of the line at an offset of the body.
func badLine(body []byte, at int, err error) *problem {
	line := 1 + bytes.Count(body[:min(at, len(body))], []byte{'\n'})
	p := badBody("line %d: %v", line, err)
	p.Line = line
	return p
}

// parse returns the documents of a body, which may refer to it. A plain text may be exact: only an
// exact copy of it counts.
func (s *Service) parse(body []byte, contentType, id string, exact bool) ([]*apply.Step, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	byDefault := contentType == "" || kind == "application/x-www-form-urlencoded" // as curl does
	if byDefault {
		kind, err = "application/x-ndjson", nil
	}
	if err != nil {
		return nil, errType
	}
	unmarked := bytes.TrimPrefix(body, []byte(lexical.ByteOrderMark))
	switch kind {
	case "application/x-ndjson", "application/jsonl", "application/json-lines":
		return s.parseLines(unmarked, byDefault)
	case "application/json":
		lines, err := s.linesOf(unmarked)
		if err != nil {
			return nil, err
		}
		return s.parseLines(lines, false)
	case "text/plain":
		return plainText(body, id, exact)
	case "text/html", "application/xhtml+xml":
		return s.page(body, contentType, id)
	case "application/warc":
		return s.archive(body)
	}
	return nil, errType
}

func checkID(id string) error {
	switch {
	case id == "":
		return badBody("a text cannot hold its id: give ?id=, or the header X-Firstseen-Id")
	case len(id) > corpus.MaxID || !utf8.ValidString(id):
		return badBody("the id is longer than %d bytes, or not UTF-8", corpus.MaxID)
	}
	return nil
}

// page returns the document of a page. Its encoding is given by contentType or the page.
func (s *Service) page(body []byte, contentType, id string) ([]*apply.Step, error) {
	if s.cfg.Page == nil {
		return nil, errType
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	text, exact, err := s.cfg.Page()(func(n int) []byte { return make([]byte, 0, n) }, body, contentType)
	if err != nil {
		return nil, badBody("%v", err)
	}
	return []*apply.Step{apply.NewDocument(id, text, exact)}, nil
}

// archive returns the documents of a web archive, compressed or not.
func (s *Service) archive(body []byte) (docs []*apply.Step, err error) {
	if s.cfg.Archive == nil {
		return nil, errType
	}
	in := input.Input{Path: input.Stdin, Name: apply.NoFile, Size: int64(len(body))}
	source := corpus.NewSource([]input.Input{in}, s.cfg.Archive, corpus.SourceConfig{Stdin: bytes.NewReader(body), MaxRecord: int(s.cfg.MaxBody)})
	left := s.cfg.MaxBody
	for r, err := range corpus.Records(context.Background(), source) {
		if err != nil {
			return nil, badBody("%v", err)
		}
		one := apply.Parsed(r.Document)
		one.Text = bytes.Clone(one.Text) // the block is reused
		docs = append(docs, one)
		if left -= int64(len(one.Text)); left < 0 || len(docs) > s.cfg.MaxDocuments {
			return nil, refuse(http.StatusRequestEntityTooLarge, "the body has more documents, or longer ones, than a request may have: send fewer at once")
		}
	}
	return docs, nil
}

func plainText(body []byte, id string, exact bool) ([]*apply.Step, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	if !utf8.Valid(body) {
		_, at, _ := transform.Bytes(encoding.UTF8Validator, body)
		return nil, badLine(body, at, errors.New("the text is not UTF-8"))
	}
	return []*apply.Step{apply.NewDocument(id, body, exact)}, nil
}

// linesOf converts an object, or an array of objects, to lines of JSON. An array with too many gives
// one too many.
func (s *Service) linesOf(body []byte) ([]byte, error) {
	if err := json.Unmarshal(body, &json.RawMessage{}); err != nil {
		at := 0
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at = max(0, int(syntax.Offset)-1)
		}
		return nil, badLine(body, at, fmt.Errorf("%w; lines of JSON need Content-Type application/x-ndjson", err))
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte{'['}) {
		_, _ = dec.Token()
	}
	var lines bytes.Buffer
	for n := 0; n <= s.cfg.MaxDocuments && dec.More(); n++ {
		var value json.RawMessage
		_ = dec.Decode(&value) // the whole body is valid
		_ = json.Compact(&lines, value)
		lines.WriteByte('\n')
	}
	return lines.Bytes(), nil
}

// parseLines returns the documents of lines of JSON, with a bad document for each malformed line. Of
// too many it returns one too many: millions would take gigabytes. byDefault says that no type was
// given, so a body of another type may be meant.
func (s *Service) parseLines(body []byte, byDefault bool) (docs []*apply.Step, err error) {
	p, err := jsonl.Format{Fields: s.cfg.Fields}.NewParser("")
	if err != nil {
		return nil, err
	}
	for doc := range p.Parse(apply.Lines(body, 1)) {
		if byDefault && doc.Bad != nil && len(docs) == 0 && !bytes.HasPrefix(body, []byte{'{'}) {
			doc.Bad.Reason += "; for a text add -H 'Content-Type: text/plain' and ?id=ID, for an array -H 'Content-Type: application/json'"
		}
		if docs = append(docs, apply.Parsed(doc)); len(docs) > s.cfg.MaxDocuments {
			break
		}
	}
	return docs, nil
}

// holding counts the bytes of a body in memory. A slow client holds only what it has sent. Together
// the bodies hold at most what all places could.
type holding struct {
	io.Reader
	s     *Service
	bytes int64
}

func (h *holding) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.bytes += int64(n)
	if h.s.held.Add(int64(n)) > h.s.cfg.MaxBody*int64(h.s.cfg.Waiting) {
		return n, apply.ErrBusy
	}
	return n, err
}

func (h *holding) release() { h.s.held.Add(-h.bytes) }

// A body gets room for firstBytes, and then for 16 times what has come, up to its whole length.
const firstBytes = 64 << 10

// enter reads the body of a request, up to the length that the server allows, and takes a place among
// those to decide. leave gives the place back; with an error it is free again.
func (s *Service) enter(w http.ResponseWriter, r *http.Request) (body []byte, leave func(), err error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, nil, refuse(http.StatusUnsupportedMediaType, "Content-Encoding %q: send the body unencoded", e)
	}
	if c, ok := w.(*coded); ok { // only its own writer lets net/http refuse a body that does not end
		w = c.ResponseWriter
	}
	var read bytes.Buffer
	in := &holding{Reader: http.MaxBytesReader(w, r.Body, s.cfg.MaxBody), s: s}
	for room := int64(firstBytes); err == nil; room *= 16 {
		read.Grow(int(max(0, min(r.ContentLength, s.cfg.MaxBody, room)-in.bytes)) + bytes.MinRead)
		_, err = io.CopyN(&read, in, room-in.bytes)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		err = refuse(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes: send fewer documents at once", s.cfg.MaxBody)
	case err != nil && !errors.Is(err, apply.ErrBusy):
		err = refuse(http.StatusBadRequest, "reading the body: %v", err)
	case err == nil && read.Len() == 0:
		err = refuse(http.StatusBadRequest, "the body is empty: give a document")
	case err == nil:
		select {
		case s.reading <- struct{}{}:
			return read.Bytes(), func() { <-s.reading; in.release() }, nil
		default:
			err = apply.ErrBusy
		}
	}
	in.release()
	return nil, nil, err
}

// overview lists the requests.
//
//go:embed overview.txt
var overview string

// elsewhere refuses requests for other paths, or with other methods, and shows the right ones.
func elsewhere(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost} {
			other := *r
			other.Method = method
			if _, pattern := mux.Handler(&other); pattern != "/" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			http.Error(w, "nothing is at this path\n\n"+overview, http.StatusNotFound)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		http.Error(w, "this path takes only "+strings.Join(allowed, ", ")+"\n\n"+overview, http.StatusMethodNotAllowed)
	}
}

// checkQuery refuses a query that would be misread: a document would be remembered instead of
// checked, or get no batch.
func checkQuery(raw string, known []string) error {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return refuse(http.StatusBadRequest, "the query %q: want NAME=VALUE with special characters escaped as %%XX", raw)
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		flag := name != "id" && name != "batch"
		switch value := q[name]; {
		case !slices.Contains(known, name):
			return refuse(http.StatusBadRequest, "the query has the name %q, and this request knows only %q: leave it out", name, known)
		case len(value) > 1:
			return refuse(http.StatusBadRequest, "the query has %s twice: give it once", name)
		case flag && value[0] != "0" && value[0] != "1":
			return refuse(http.StatusBadRequest, "the query has %s=%q: want %[1]s=1 or %[1]s=0", name, value[0])
		}
	}
	if q.Get("report") == "1" && q.Get("check") != "1" {
		return refuse(http.StatusBadRequest, "report=1 needs check=1: a document that is remembered gets no report")
	}
	return nil
}
