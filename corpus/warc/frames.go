package warc

import (
	"bytes"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
)

// Reasons for bad records.
const (
	notARecord = "no record begins here: what stands here is passed over up to the next header"
	endless    = "the header of the record has no end"
	noLength   = "the record does not tell its length"
	wrong      = "the length of the record is wrong, and no other begins behind it"
	cutOff     = "the record is cut off: the input ends before it does"
)

// frames finds the records of one input.
type frames struct {
	format Format
	max    int  // bytes of a record
	lost   bool // rubbish was told of, and no record has come since
	begun  bool // a record has begun in this section
}

// unverified is from how many bytes on a record that is no document is passed over
// without a look at what follows it, and searched what follows rubbish at a time.
const (
	unverified = 1 << 20
	searched   = 64 << 10
)

// behind is how many bytes behind a record tell whether it ends there: more than blank
// lines take, and most lines of an ARC.
const behind = 2 << 10

// Starts reports whether a record begins here.
func (f *frames) Starts(data []byte) bool { return starts(data) }

// Frame tells what stands at the beginning of data.
func (f *frames) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	fr := f.frame(data, end)
	if fr.Record {
		f.begun, f.lost = true, false
	}
	if end != corpus.GoesOn && fr.Pass >= len(data) {
		f.begun, f.lost = false, false
	}
	return fr
}

func (f *frames) frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	if n := blank(data); n > 0 {
		return corpus.Frame{Pass: n}
	}
	if end == corpus.GoesOn && len(data) < corpus.RecognizedBy {
		return corpus.Frame{Need: corpus.RecognizedBy}
	}
	switch {
	case isWARC(data), isARC(data):
		return f.record(data, end)
	case end == corpus.GoesOn && len(data) < searched:
		return corpus.Frame{Need: searched}
	}
	return f.rubbish(data, 1, notARecord, end)
}

// blank counts the line ends that data begins with.
func blank(data []byte) int {
	n := 0
	for n < len(data) && (data[n] == '\r' || data[n] == '\n') {
		n++
	}
	return n
}

// rubbish passes over what is no record, up to the next, which is not within the first
// from bytes. It is told of once, however long it is.
func (f *frames) rubbish(data []byte, from int, reason string, end corpus.SectionEnd) corpus.Frame {
	arc := isARC(data) && from > 1
	pass := next(data, min(from, len(data)), arc)
	if other := next(data, min(from, len(data)), !arc); other >= 0 && from <= 1 && (pass < 0 || other < pass) {
		pass = other
	}
	found := pass >= 0
	if !found {
		pass = len(data)
		if end == corpus.GoesOn { // a header may begin in the last line
			pass = max(len(data)-min(maxLine, len(data)/2), 1)
		}
	}
	fr := corpus.Frame{Pass: pass}
	if !f.lost {
		fr.Take, fr.Bad = pass, reason
	}
	f.lost = !found
	return fr
}

// record frames the record that data begins with.
func (f *frames) record(data []byte, end corpus.SectionEnd) corpus.Frame {
	head := lineEnd(data)
	if isWARC(data) {
		var other int
		switch head, other = recordHead(data); {
		case other > 0:
			f.lost = false
			return corpus.Frame{Take: other, Pass: other, Record: true, Bad: endless}
		case head < 0 && end == corpus.GoesOn && len(data) < maxHead:
			return corpus.Frame{Need: min(2*len(data), maxHead)}
		case head < 0:
			return f.broken(data, 1, endless, end)
		}
	}
	r := parseHead(data[:head])
	if r.length < 0 {
		return f.broken(data, head, noLength, end)
	}
	total := int64(head) + r.length
	if total > unverified {
		content := data[head:min(total, int64(len(data)))]
		switch wanted, need := f.format.wants(&r, content, end != corpus.GoesOn); {
		case need > 0:
			return corpus.Frame{Need: max(head+need, len(data)+1)}
		case wanted == no:
			return corpus.Frame{Pass: int(min(total, 1<<62)), Record: true}
		}
	}
	switch {
	case total > int64(f.max):
		return corpus.Frame{Take: len(data), Pass: int(min(total, 1<<62)), Record: true, Bad: fmt.Sprintf("the record is longer than the limit of %d bytes", f.max)}
	case end == corpus.GoesOn && len(data) < int(total)+behind:
		return corpus.Frame{Need: int(total) + behind}
	}
	fr := f.settle(data, &r, int(total), end)
	if fr.Need > 0 || fr.Bad != "" {
		return fr
	}
	fr.Record = true
	switch wanted, _ := f.format.wants(&r, data[head:fr.Take], true); wanted {
	case no:
		fr.Take = 0
	case packed:
		fr.Alone = true
	}
	return fr
}

// broken passes over a record whose header says too little.
func (f *frames) broken(data []byte, from int, reason string, end corpus.SectionEnd) corpus.Frame {
	f.lost = false
	fr := f.rubbish(data, max(from, 2), reason, end)
	fr.Record = true
	return fr
}

// settle decides where the record ends that says it has total bytes.
func (f *frames) settle(data []byte, r *record, total int, end corpus.SectionEnd) corpus.Frame {
	if total <= len(data) && endsHere(data[total:], end) {
		return corpus.Frame{Take: total, Pass: total + blank(data[total:])}
	}
	// A header that begins before the end may go on behind it.
	if inside := next(data[:min(total+behind, len(data))], r.head, r.arc); inside >= 0 && inside < total {
		return ending(data, r.head, inside)
	}
	if total <= len(data) && hasBlankLines(data[total:]) { // rubbish follows
		return corpus.Frame{Take: total, Pass: total + blank(data[total:])}
	}
	switch {
	case total > len(data) && r.isHTTP() && holdsBody(data[r.head:]):
		return ending(data, r.head, len(data))
	case total > len(data) && (end == corpus.Ends || f.begun):
		return corpus.Frame{Take: len(data), Pass: len(data), Record: true, Bad: cutOff}
	case total > len(data): // the member is whole, and has one record
		return ending(data, r.head, len(data))
	}
	if after := next(data, total, r.arc); after >= 0 {
		return ending(data, r.head, after)
	}
	switch {
	case end != corpus.GoesOn:
		return ending(data, r.head, len(data))
	case len(data) <= f.max:
		return corpus.Frame{Need: 2 * len(data)}
	}
	f.lost = true
	return corpus.Frame{Take: len(data), Pass: len(data) - behind, Record: true, Bad: wrong}
}

// holdsBody reports whether an answer of HTTP is as long as it says itself.
func holdsBody(content []byte) bool {
	a, _ := parseAnswer(content)
	if a.head == 0 {
		return false
	}
	n := length(a.fields.get("Content-Length"))
	return n >= 0 && int64(len(content)-a.head) >= n
}

// ending is a record that ends before another, without the blank lines between them.
func ending(data []byte, head, end int) corpus.Frame {
	pass := end
	for range 2 {
		if end > head && data[end-1] == '\n' {
			if end--; end > head && data[end-1] == '\r' {
				end--
			}
		}
	}
	return corpus.Frame{Take: end, Pass: pass}
}

// endsHere reports whether what stands behind a record says that it ends there.
func endsHere(data []byte, end corpus.SectionEnd) bool {
	n := blank(data)
	if n == len(data) {
		return true
	}
	return starts(data[n:]) || end == corpus.GoesOn && n > 0 && len(data)-n < behind/2
}

// hasBlankLines reports whether data begins with what ends a record.
func hasBlankLines(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\r\n\r\n")) || bytes.HasPrefix(data, []byte("\n\n"))
}
