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
	"github.com/firstseen/firstseen/internal/base/charset"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

// delimiters are the possible field separators, in order of preference.
const delimiters = ",\t;|"

// maxHeader is the maximum length of the first row in bytes.
const maxHeader = 64 << 10

// firstText is the index of the first text among the wanted columns.
const firstText = 2

// header holds the first row of an input.
type header struct {
	raw       []byte // including any byte order mark and line end
	first     []byte // raw as outputs begin with it
	delimiter byte
	columns   int
	names     []string // of the text columns
	wanted    []int    // column numbers of id, time and the texts; -1 if there is none
	lead      []byte   // the delimiter
	taken     string   // existing column with the name of an added one
}

// header reads the first row. Its frame skips that row, or rejects the input.
func (f *frames) header(data []byte, end corpus.SectionEnd) corpus.Frame {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return corpus.BadRest(data, end, f.line, lexical.RejectUTF16)
	}
	whole := data
	data = data[:min(len(data), maxHeader)]
	last := end != corpus.GoesOn && len(data) == len(whole)
	start := 0
	if bytes.HasPrefix(data, []byte(lexical.ByteOrderMark)) {
		start = len(lexical.ByteOrderMark)
	}
	for n := 1; n > 0; start += n { // preceding empty lines
		n = blank(data[start:])
	}
	if start == len(data) && last {
		return corpus.Frame{Pass: len(data)}
	}
	best, waits := f.sniff(data, start, last)
	switch {
	case best != nil && best.taken != "":
		return corpus.BadRest(whole, end, f.line, fmt.Sprintf("it already has a column %s: it was annotated before, so leave out --annotate, or remove the column", best.taken))
	case best != nil:
		f.head = best
		f.line += int64(bytes.Count(best.raw, newline))
		return corpus.Frame{Pass: len(best.raw)}
	case waits && len(data) < maxHeader:
		return corpus.Frame{Need: len(data) + 1}
	}
	return corpus.BadRest(whole, end, f.line, f.noHeader(data[start:]))
}

// sniff tries every delimiter. waits reports that data ends inside the row for a possible one.
func (f *frames) sniff(data []byte, start int, last bool) (best *header, waits bool) {
	for _, d := range []byte(delimiters) {
		end, _, err := row(data[start:], d, last)
		if end == 0 || err != nil {
			waits = waits || err == nil
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

// read parses the first row with a delimiter. It returns nil if the text or a wanted time column is
// missing, or if a wanted column occurs twice.
func (f *frames) read(first []byte, delimiter byte) *header {
	h := &header{delimiter: delimiter, lead: []byte{delimiter}, names: strings.Split(cmp.Or(f.format.Text, "text"), ",")}
	h.wanted = slices.Repeat([]int{-1}, firstText+len(h.names))
	twice := false
	wanted := func(i, n int) {
		twice = twice || h.wanted[i] >= 0
		h.wanted[i] = n
	}
	h.columns = fields(first, delimiter, func(n int, raw []byte) {
		switch name := string(content(nil, raw)); {
		case f.format.Annotated && slices.Contains(added, name):
			h.taken = cmp.Or(h.taken, name)
		case slices.Contains(h.names, name):
			wanted(firstText+slices.Index(h.names, name), n)
			if name == f.format.ID {
				h.wanted[0] = n
			}
		case name == cmp.Or(f.format.ID, "id"):
			wanted(0, n)
		}
		if f.format.Time != "" && string(content(nil, raw)) == f.format.Time {
			wanted(1, n)
		}
	})
	if slices.Contains(h.wanted[firstText:], -1) || twice || f.format.Time != "" && h.wanted[1] < 0 {
		return nil
	}
	return h
}

func (f *frames) noHeader(data []byte) string {
	name := strings.ReplaceAll(strconv.Quote(cmp.Or(f.format.Text, "text")), ",", `", "`)
	if f.format.Time != "" {
		name += fmt.Sprintf(", one %q", f.format.Time)
	}
	first, _, whole := bytes.Cut(data, newline)
	encoding := "" // the remedy, unless the row is UTF-8
	switch {
	case bytes.IndexByte(first, 0) >= 0:
		encoding = "; if it is UTF-16 add --encoding utf-16le or utf-16be"
	case whole && !utf8.Valid(first):
		encoding = "; it is not UTF-8: name its encoding with --encoding, such as gbk"
		if guess, err := charset.Detect(data, false); err == nil && !guess.IsUTF8() {
			encoding = "; it looks like " + guess.Name() + ": add --encoding " + guess.Name()
			first, _ = io.ReadAll(guess.NewReader(bytes.NewReader(first)))
		}
	}
	row := strings.TrimSuffix(strings.ToValidUTF8(string(first[:min(len(first), 200)]), "\uFFFD"), "\r")
	return fmt.Sprintf("the first row does not name exactly one column %s and at most one %q, between commas, tabs, semicolons or pipes: name the columns with --text-field and --id-field; the row begins with %q%s", name, cmp.Or(f.format.ID, "id"), row, encoding)
}

// blank returns the length of an empty line at the start of data, or 0.
func blank(data []byte) int {
	switch {
	case bytes.HasPrefix(data, newline):
		return 1
	case bytes.HasPrefix(data, []byte("\r\n")):
		return 2
	}
	return 0
}
