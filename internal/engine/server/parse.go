package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
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
