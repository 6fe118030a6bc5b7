package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/charset"
)

// delimiters are the possible separators of fields, the first preferred.
const delimiters = ",\t;|"

// maxHeader is how many bytes the first row may have.
const maxHeader = 64 << 10

// header is the content of the first row of an input.
type header struct {
	raw       []byte // with a byte order mark and a line end, if it has them
	first     []byte // the same, as outputs begin with it
	delimiter byte
	columns   int
	text, id  int    // numbers of columns; id is -1 if there is none
	time      int    // likewise
	lead      []byte // the delimiter
	taken     string // a column that was to be added, but exists already
}

// header reads the first row. The frame passes over it, or refuses the input.
func (f *frames) header(data []byte, end corpus.SectionEnd) corpus.Frame {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return corpus.BadRest(data, end, f.line, corpus.RejectUTF16)
	}
	whole := data
	data = data[:min(len(data), maxHeader)]
	last := end != corpus.GoesOn && len(data) == len(whole)
	start := 0
	if bytes.HasPrefix(data, []byte(corpus.ByteOrderMark)) {
		start = len(corpus.ByteOrderMark)
	}
	for n := 1; n > 0; start += n { // empty lines before it
		n = blank(data[start:])
	}
	if start == len(data) && last {
		return corpus.Frame{Pass: len(data)}
	}
	best, waits := f.sniff(data, start, last)
	switch {
	case best != nil && best.taken != "":
		return corpus.BadRest(whole, end, f.line, fmt.Sprintf("it has a column %s already: it was annotated before, so leave --annotate out, or take the column out", best.taken))
	case best != nil:
		f.head = best
		f.line += int64(bytes.Count(best.raw, newline))
		return corpus.Frame{Pass: len(best.raw)}
	case waits && len(data) < maxHeader:
		return corpus.Frame{Need: len(data) + 1}
	}
	return corpus.BadRest(whole, end, f.line, f.noHeader(data[start:]))
}

// sniff tries every delimiter. It waits if a row goes on behind data under one that could be the
// right one.
func (f *frames) sniff(data []byte, start int, last bool) (best *header, waits bool) {
	for _, d := range []byte(delimiters) {
		end, _, err := row(data[start:], d, last)
		if end == 0 && err == nil {
			waits = true
		}
		if end == 0 || err != nil {
			continue
		}
		h := f.read(data[start:start+end], d)
		if h != nil && (best == nil || h.columns > best.columns && best.columns == 1) {
			h.raw, best = bytes.Clone(data[:start+end]), h
			if h.first = h.raw; f.format.Annotated {
				h.first = h.annotated()
			}
		}
	}
	return best, waits && best == nil
}

// read returns the header that a first row is with a delimiter. It returns nil if the row names no
// column of text, or names a wanted one twice.
func (f *frames) read(first []byte, delimiter byte) *header {
	h := &header{delimiter: delimiter, lead: []byte{delimiter}, text: -1, id: -1, time: -1}
	twice := false
	h.columns = fields(first, delimiter, func(n int, raw []byte) {
		switch name := string(content(nil, raw)); {
		case f.format.Annotated && slices.Contains(added, name):
			h.taken = cmp.Or(h.taken, name)
		case name == f.format.text():
			twice = twice || h.text >= 0
			h.text = n
			if name == f.format.ID {
				h.id = n
			}
		case name == cmp.Or(f.format.ID, "id"):
			twice = twice || h.id >= 0
			h.id = n
		}
		if f.format.Time != "" && string(content(nil, raw)) == f.format.Time {
			twice = twice || h.time >= 0
			h.time = n
		}
	})
	if h.text < 0 || twice || f.format.Time != "" && h.time < 0 {
		return nil
	}
	return h
}

// noHeader returns the reason why there is no header.
func (f *frames) noHeader(data []byte) string {
	name := strconv.Quote(f.format.text())
	if f.format.Time != "" {
		name += fmt.Sprintf(" and one %q", f.format.Time)
	}
	first, _, whole := bytes.Cut(data, newline)
	encoding := "" // if it is not UTF-8, the remedy
	switch {
	case bytes.IndexByte(first, 0) >= 0:
		encoding = "; if it is UTF-16 add --encoding utf-16le or utf-16be"
	case whole && !utf8.Valid(first):
		encoding = "; it is not UTF-8: say in which encoding it is with --encoding, such as gbk"
		if guess, err := charset.Detect(data, false); err == nil && !guess.IsUTF8() {
			encoding = "; that is " + guess.Name() + ": add --encoding " + guess.Name()
			first, _ = io.ReadAll(guess.NewReader(bytes.NewReader(first)))
		}
	}
	row := strings.TrimSuffix(strings.ToValidUTF8(string(first[:min(len(first), 200)]), "\uFFFD"), "\r")
	return fmt.Sprintf("the first row does not name one column %s, between commas, tabs, semicolons or pipes: name that of the text with --text-field; it begins with %q%s", name, row, encoding)
}

// blank is how many bytes an empty line at the beginning of data has.
func blank(data []byte) int {
	switch {
	case bytes.HasPrefix(data, newline):
		return 1
	case bytes.HasPrefix(data, []byte("\r\n")):
		return 2
	}
	return 0
}
