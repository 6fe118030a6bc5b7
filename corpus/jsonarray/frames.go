package jsonarray

import (
	"bytes"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/base/lexical"
)

const space = " \t\r\n"

// expected is the part of the array that may come next.
type expected uint8

const (
	wantArray expected = iota // the opening bracket
	wantFirst                 // a value or the closing bracket
	wantValue                 // a value, after a comma
	wantComma                 // a comma or the closing bracket
	wantEnd                   // nothing
	inLong                    // the rest of a record longer than the limit
)

// frames finds the values of one array.
type frames struct {
	corpus.NumberedFrames
	maxRecord int
	stream    bool // the records are not in an array
	arrays    bool // outputs are arrays
	want      expected
	number    int64 // of the last record
	value     value
}

// Head opens the array of an output, once that of the input is open.
func (f *frames) Head() (head []byte, has bool) {
	if f.arrays && f.want != wantArray {
		head = []byte(output.ArrayHead)
	}
	return head, f.arrays
}

// Frame returns the next frame: white space, a part of the array, or a record.
func (f *frames) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	switch {
	case f.Damaged():
		return corpus.BadRest(data, end, f.number+1, "it comes after damaged data, so the start of a record cannot be found")
	case f.want == inLong:
		return f.restOfLong(data, end)
	case f.want == wantArray && bytes.HasPrefix(data, []byte(lexical.ByteOrderMark)):
		return corpus.Frame{Pass: len(lexical.ByteOrderMark)}
	case f.want == wantArray && len(data) < len(lexical.ByteOrderMark) && data[0] == lexical.ByteOrderMark[0] && end == corpus.GoesOn:
		return corpus.Frame{Need: len(lexical.ByteOrderMark)}
	case f.want == wantArray && f.stream:
		f.want = wantValue
	}
	if n := len(data) - len(bytes.TrimLeft(data, space)); n > 0 {
		return corpus.Frame{Pass: n}
	}
	var next expected
	switch c := data[0]; {
	case f.want == wantArray && c == '[':
		next = wantFirst
	case (f.want == wantFirst || f.want == wantComma) && c == ']':
		next = wantEnd
	case f.want == wantComma && c == ',':
		next = wantValue
	case (f.want == wantFirst || f.want == wantValue) && c != ',' && c != ']' && c != '}' && c != ':':
		return f.record(data, end)
	default:
		return corpus.BadRest(data, end, f.number+1, [...]string{
			"the file is not a JSON array: it does not begin with [", "expected a record here",
			"expected a record here", "expected a comma or ] after a record", "something follows the array: if each line is an array, read them with jq -c '.[]' FILE | firstseen ... -",
		}[f.want])
	}
	f.want = next
	return corpus.Frame{Pass: 1}
}

// record returns the value at the start of data.
func (f *frames) record(data []byte, end corpus.SectionEnd) corpus.Frame {
	n, whole := f.value.scan(data[:min(len(data), f.maxRecord+1)])
	switch {
	case whole && n <= f.maxRecord:
		return f.hand(n, "")
	case n <= f.maxRecord && end == corpus.GoesOn:
		return corpus.Frame{Need: len(data) + 1}
	case n <= f.maxRecord:
		return f.hand(n, "the file ends inside the record")
	}
	long := f.value
	fr := f.hand(n, fmt.Sprintf("the record is longer than the limit of %d bytes", f.maxRecord))
	if !whole {
		long.seen = 0
		f.want, f.value = inLong, long
	}
	return fr
}

// hand returns a frame with a record of n bytes.
func (f *frames) hand(n int, bad string) corpus.Frame {
	f.number++
	f.recorded()
	return corpus.Frame{Take: n, Pass: n, Record: true, Bad: bad, Number: f.number}
}

// recorded prepares for the data after a record.
func (f *frames) recorded() {
	if f.want, f.value = wantComma, (value{}); f.stream {
		f.want = wantValue
	}
}

// restOfLong skips the rest of a record longer than the limit.
func (f *frames) restOfLong(data []byte, end corpus.SectionEnd) corpus.Frame {
	n, whole := f.value.scan(data)
	f.value.seen = 0
	if whole {
		f.recorded()
	}
	if n == 0 { // only the byte that ended it is left
		return f.Frame(data, end)
	}
	return corpus.Frame{Pass: n}
}

// value is the state of scanning a value.
type value struct {
	depth             int
	inString, escaped bool
	bare              bool // not an object, array or string
	seen              int  // bytes scanned
}

// scan continues after v.seen bytes of data. n is the index after the value or after the data.
func (v *value) scan(data []byte) (n int, whole bool) {
	for ; v.seen < len(data); v.seen++ {
		c := data[v.seen]
		switch {
		case v.escaped:
			v.escaped = false
		case v.inString:
			v.escaped, v.inString = c == '\\', c != '"'
			if !v.inString && v.depth == 0 {
				return v.seen + 1, true
			}
		case v.bare:
			if c == ',' || c == ']' || bytes.IndexByte([]byte(space), c) >= 0 {
				return v.seen, true
			}
		case c == '"':
			v.inString = true
		case c == '{' || c == '[':
			v.depth++
		case c == '}' || c == ']':
			if v.depth--; v.depth == 0 {
				return v.seen + 1, true
			}
		case v.depth == 0:
			v.bare = true
		}
	}
	return v.seen, false
}
