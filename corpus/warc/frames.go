package warc

import (
	"bytes"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
)

// Reasons for bad records.
const (
	notARecord = "no record begins here: the data up to the next header is skipped"
	endless    = "the header of the record has no end"
	noLength   = "the record does not give its length"
	wrong      = "the length of the record is wrong, and no other record begins after it"
	cutOff     = "the record is cut off: the input ends before it does"
)

// frames finds the records of one input.
type frames struct {
	corpus.FrameDefaults
	format Format
	max    int   // maximum bytes of a record
	lost   bool  // garbage was reported, and no record has followed yet
	begun  bool  // a record has begun in this section
	noEnd  int   // bytes from here on without the end of a header, or the start of another
	over   *over // the record being skipped, or nil
}

// over is a record longer than the limit, skipped piece by piece.
type over struct {
	left   int64 // bytes
	arc    bool
	told   bool // it is reported as a bad record
	first  bool // it is the first record of the section
	nested bool // it contains an archive
}

// searched is the number of bytes outside records examined at a time.
const searched = 64 << 10

// behind is the number of bytes after a record that decide whether it ends there. It exceeds blank
// lines, and most lines of an ARC.
const behind = 2 << 10

// Starts reports whether a record begins here.
func (f *frames) Starts(data []byte) bool { return starts(data) }

func (f *frames) Begin() { *f = frames{format: f.format, max: f.max} }

// Frame finds the record, or the garbage, at the start of data.
func (f *frames) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	fr := f.frame(data, end)
	f.begun = f.begun || fr.Record
	if fr.Need == 0 {
		f.noEnd = max(f.noEnd-fr.Pass, 0)
	}
	return fr
}

func (f *frames) frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	if f.over != nil {
		return f.passOver(data, end)
	}
	if n := blank(data); n > 0 {
		return corpus.Frame{Pass: n}
	}
	if end == corpus.GoesOn && len(data) < compress.RecognizedBy {
		return corpus.Frame{Need: compress.RecognizedBy}
	}
	switch {
	case starts(data):
		return f.record(data, end)
	case end == corpus.GoesOn && len(data) < searched:
		return corpus.Frame{Need: searched}
	}
	return f.rubbish(data, 1, notARecord, end)
}

// blank returns the length of the line ends at the start of data.
func blank(data []byte) int { return len(data) - len(bytes.TrimLeft(data, "\r\n")) }

// rubbish skips at least from bytes, up to the next record. It reports them once, at any length.
func (f *frames) rubbish(data []byte, from int, reason string, end corpus.SectionEnd) corpus.Frame {
	pass := nearest(data, min(from, len(data)), from <= 1)
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

// nearest returns the start of the next record, of the kind that data begins with or of either, or
// -1. It searches at most four times as far, since each record repeats the search.
func nearest(data []byte, from int, either bool) int {
	arc := isARC(data)
	for to := from; to < len(data); {
		to = min(4*to+searched/16, len(data))
		found := next(data, from, to, arc)
		if other := -1; either {
			if other = next(data, from, to, !arc); found < 0 || other >= 0 && other < found {
				found = other
			}
		}
		if found >= 0 {
			return found
		}
	}
	return -1
}

// header returns the end of the header at from, or -1. If another header begins at one of its
// lines, it has no end, and other is that line. Bytes searched in vain are not searched again,
// since headers without an end may follow each other.
func (f *frames) header(data []byte, from int) (end, other int) {
	const ahead = 32 // bytes of a line that identify it
	to := min(len(data), from+maxHead)
	for at := max(from, f.noEnd-ahead); at < to; {
		i := bytes.IndexByte(data[at:to], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		switch rest := data[at:to]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return at + 1, -1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return at + 2, -1
		case isWARC(rest):
			return -1, at
		}
	}
	f.noEnd = max(f.noEnd, to)
	return -1, -1
}

// record returns the frame of the record at the start of data.
func (f *frames) record(data []byte, end corpus.SectionEnd) corpus.Frame {
	f.lost = false
	head, other := 0, 0
	if !isWARC(data) {
		head = lineEnd(data)
	} else if head, other = f.header(data, 0); other > 0 {
		return corpus.Frame{Take: other, Pass: other, Record: true, Bad: endless}
	}
	switch {
	case head < 0 && end == corpus.GoesOn && len(data) < maxHead:
		return corpus.Frame{Need: min(2*len(data), maxHead)}
	case head < 0:
		return f.broken(data, 1, endless, end)
	}
	r := parseHead(data[:head])
	if r.length < 0 {
		return f.broken(data, head, noLength, end)
	}
	total := int64(head) + r.length
	switch {
	case r.length > int64(f.max)-int64(head):
		return f.overlong(data, &r, end)
	case end == corpus.GoesOn && len(data) < int(total)+behind:
		return corpus.Frame{Need: int(total) + behind}
	}
	fr := f.settle(data, &r, int(total), end)
	if fr.Need > 0 || fr.Bad != "" {
		return fr
	}
	fr.Record = true
	content := data[head:fr.Take]
	wanted, packed := f.format.wants(&r, content)
	fr.Alone = packed
	fr.Other = !wanted && f.format.copies(&r, content)
	if !wanted && !fr.Other {
		fr.Take = 0
	}
	return fr
}

// broken skips a record with an incomplete header.
func (f *frames) broken(data []byte, from int, reason string, end corpus.SectionEnd) corpus.Frame {
	if end == corpus.GoesOn && len(data) < searched {
		return corpus.Frame{Need: searched}
	}
	fr := f.rubbish(data, max(from, 2), reason, end)
	fr.Record = true
	return fr
}

// overlong skips a record longer than the limit. It reports one that would be a document.
func (f *frames) overlong(data []byte, r *record, end corpus.SectionEnd) corpus.Frame {
	content := data[r.head:min(int64(len(data)), int64(r.head)+r.length)]
	if least := r.head + maxHead + maxLine; end == corpus.GoesOn && len(data) < least {
		return corpus.Frame{Need: least}
	}
	wanted, _ := f.format.wants(r, content)
	told := wanted || f.format.copies(r, content)
	f.over = &over{left: r.length, arc: r.arc, told: told, first: !f.begun, nested: r.holdsArchive(content)}
	n, _ := f.passable(data[r.head:], end)
	f.over.left -= int64(n)
	fr := corpus.Frame{Pass: r.head + n, Record: true}
	if f.over.told {
		fr.Take, fr.Bad = len(data), fmt.Sprintf("the record is longer than the limit of %d bytes", f.max)
	}
	return f.endOver(fr, data, end)
}

// passOver skips the rest of a record longer than the limit. Its length may be wrong, and the
// record cannot be held until the next bytes prove it. So a whole header in it ends it, unless it
// contains an archive.
func (f *frames) passOver(data []byte, end corpus.SectionEnd) corpus.Frame {
	n, need := f.passable(data, end)
	switch {
	case need > 0:
		return corpus.Frame{Need: need}
	case n == 0:
		f.over = nil
		return f.frame(data, end)
	}
	f.over.left -= int64(n)
	return f.endOver(corpus.Frame{Pass: n}, data, end)
}

// endOver reports a truncated record, and resets f.over after the end of the record.
func (f *frames) endOver(fr corpus.Frame, data []byte, end corpus.SectionEnd) corpus.Frame {
	o := f.over
	if end != corpus.GoesOn && fr.Pass == len(data) && o.left > 0 && !o.told && (end == corpus.Ends || !o.first) {
		fr.Take, fr.Bad = len(data), cutOff
	}
	if o.left == 0 {
		f.over = nil
	}
	return fr
}

// passable returns how many bytes at the start of data belong to the overlong record. n is 0 if
// another record begins there, or if need bytes are required to decide.
func (f *frames) passable(data []byte, end corpus.SectionEnd) (n, need int) {
	o := f.over
	n = int(min(o.left, int64(len(data))))
	for at := 0; !o.nested; at++ {
		if at = next(data, at, n, o.arc); at < 0 {
			break
		}
		whole := o.arc
		if !o.arc {
			head, _ := f.header(data, at)
			whole = head > 0 && parseHead(data[at:head]).length >= 0
		}
		switch {
		case !whole && end == corpus.GoesOn && len(data)-at < maxHead && at == 0:
			return 0, maxHead
		case whole, end == corpus.GoesOn && len(data)-at < maxHead:
			return at, 0
		}
	}
	if end != corpus.GoesOn || n < len(data) {
		return n, 0
	}
	if len(data) < searched {
		return 0, searched
	}
	return n - maxLine, 0 // a header may begin in the last line, and the next call must see the end
}

// settle determines the end of a record that claims total bytes.
func (f *frames) settle(data []byte, r *record, total int, end corpus.SectionEnd) corpus.Frame {
	view := data[:min(total+behind, len(data))] // independent of how much was read
	if total <= len(data) && endsHere(view[total:]) {
		return corpus.Frame{Take: total, Pass: total + blank(view[total:])}
	}
	if inside := next(view, r.head, min(total, len(view)), r.arc); inside >= 0 {
		return ending(data, r, inside)
	}
	rest := view[min(total, len(view)):]
	// Garbage follows the end of the record.
	if bytes.HasPrefix(rest, []byte("\r\n\r\n")) || bytes.HasPrefix(rest, []byte("\n\n")) {
		return corpus.Frame{Take: total, Pass: total + blank(view[total:])}
	}
	switch {
	case total > len(data) && r.isHTTP() && holdsBody(data[r.head:]):
		return ending(data, r, len(data))
	case total > len(data) && (end == corpus.Ends || f.begun):
		return corpus.Frame{Take: len(data), Pass: len(data), Record: true, Bad: cutOff}
	case total > len(data): // the member is complete, with one record
		return ending(data, r, len(data))
	}
	if after := next(data, total, min(f.max, len(data)), r.arc); after >= 0 {
		return ending(data, r, after)
	}
	switch most := f.max + behind; {
	case len(data) < most && end != corpus.GoesOn:
		return ending(data, r, len(data))
	case len(data) < most:
		return corpus.Frame{Need: min(2*len(data), most)}
	}
	f.lost = true
	return corpus.Frame{Take: f.max, Pass: f.max, Record: true, Bad: wrong}
}

// holdsBody reports whether an HTTP response is as long as its header claims.
func holdsBody(content []byte) bool {
	a := parseAnswer(content)
	if a.head == 0 {
		return false
	}
	n := length(a.fields.get("Content-Length"))
	return n >= 0 && int64(len(content)-a.head) >= n
}

// ending returns the frame of a record that ends before end, without the line ends in between: two
// in a WARC, one in an ARC. An earlier line end belongs to the ARC record.
func ending(data []byte, r *record, end int) corpus.Frame {
	take, ends := end, 2
	if r.arc {
		ends = 1
	}
	for range ends {
		if take > r.head && data[take-1] == '\n' {
			if take--; !r.arc && take > r.head && data[take-1] == '\r' {
				take--
			}
		}
	}
	return corpus.Frame{Take: take, Pass: end}
}

// endsHere reports whether the bytes after a record show that it ends there.
func endsHere(data []byte) bool {
	n := blank(data)
	return n == len(data) || n >= behind/2 || starts(data[n:])
}
