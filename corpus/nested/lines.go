package nested

import (
	"bytes"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
)

// lines finds the lines of one input.
type lines struct {
	maxRecord int
	number    int64 // of the last line
	seen      int   // bytes of the line known to hold no line end
	inLong    bool  // in a line longer than the limit; the rest is passed over
}

// Starts is false.
func (*lines) Starts([]byte) bool { return false }

// Begin begins a section.
func (*lines) Begin() {}

// Frame hands out the line that data begins with, without its end.
func (l *lines) Frame(data []byte, end corpus.SectionEnd) corpus.Frame {
	if l.number == 0 && !l.inLong && l.seen == 0 {
		if bytes.HasPrefix(data, []byte(byteOrderMark)) {
			return corpus.Frame{Pass: len(byteOrderMark)}
		}
		if data[0] == byteOrderMark[0] && len(data) < len(byteOrderMark) && end == corpus.GoesOn {
			return corpus.Frame{Need: len(byteOrderMark)}
		}
	}
	i := bytes.IndexByte(data[l.seen:], '\n')
	switch {
	case l.inLong && i < 0:
		return corpus.Frame{Pass: len(data)}
	case l.inLong:
		l.inLong = false
		return corpus.Frame{Pass: i + 1}
	case i < 0 && end == corpus.GoesOn && len(data) <= l.maxRecord+1:
		l.seen = len(data)
		return corpus.Frame{Need: len(data) + 1}
	}
	line, pass := data, len(data)
	if i >= 0 {
		line, pass = data[:l.seen+i], l.seen+i+1
	}
	l.number++
	l.seen = 0
	if len(bytes.TrimSuffix(line, []byte("\r"))) > l.maxRecord {
		l.inLong = i < 0
		return corpus.Frame{Take: min(len(line), shown), Pass: pass, Record: true, Bad: fmt.Sprintf("the line is longer than the limit of %d bytes", l.maxRecord), Number: l.number}
	}
	return corpus.Frame{Take: len(line), Pass: pass, Record: true, Number: l.number}
}
