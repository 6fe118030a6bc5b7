package report

import (
	"bytes"
	"errors"
	"time"

	"github.com/firstseen/firstseen/corpus"
)

// First is the line of the first document of a component, which was unique when it came, if a later
// copy is preferred.
func First(id, file string, at corpus.Place, made time.Time) Reported {
	line := Reported{ID: id, Verdict: "unique", Why: whyPreferred, Also: []AlsoDoc{}, Sample: []string{}, File: file, Line: at}
	if !made.IsZero() {
		line.Time = &made
	}
	return line
}

// Fate is what becomes of a document that has copies.
type Fate struct {
	// Instead stands in the output for a removed document; nil if that is the first of them.
	Instead *Survivor `json:"instead,omitempty"`
	// OfBatch is the batch of the preferred copy of all, and Copies the number of all, if another
	// copy is kept.
	OfBatch string `json:"of_batch,omitempty"`
	Copies  int    `json:"count,omitempty"`
}

// Survivor names the document that stands in the output for others.
type Survivor struct {
	ID   string       `json:"id"`
	File string       `json:"file"`
	Line corpus.Place `json:"line"`
}

var errNoLine = errors.New("this is no line that firstseen dedup --report has written")

// AppendFate appends a line of a report, without its end, with another fate of the document. All
// else is as it was.
func AppendFate(dst, raw []byte, kept bool, fate Fate) ([]byte, error) {
	yes, no := []byte(`"kept":true`), []byte(`"kept":false`)
	now := no
	if kept {
		now = yes
	}
	// Quotes inside of strings have a backslash, so the first match is the field.
	at, was := bytes.Index(raw, yes), yes
	if i := bytes.Index(raw, no); at < 0 || i >= 0 && i < at {
		at, was = i, no
	}
	if at < 0 || !bytes.HasSuffix(raw, []byte("}")) {
		return dst, errNoLine
	}
	dst = append(append(append(dst, raw[:at]...), now...), raw[at+len(was):len(raw)-1]...)
	more, err := AppendJSON(nil, fate)
	if err != nil {
		return dst, err
	}
	if len(more) > len("{}") {
		dst = append(append(dst, ','), more[1:len(more)-1]...)
	}
	return append(dst, '}'), nil
}
