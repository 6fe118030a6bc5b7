package csv

import (
	"bytes"
	"errors"
)

var (
	errBehind   = errors.New("a closing quote is not at the end of its field")
	errUnclosed = errors.New("a quote is not closed")
)

const quote = '"'

// row returns the index after the row at the start of data, including its line end. If data ends
// first, it returns 0, and open reports whether the end is inside quotes. last means that the end
// of data ends the row. The error is errBehind, or errUnclosed if last.
func row(data []byte, delimiter byte, last bool) (end int, open bool, err error) {
	opening := []byte{delimiter, quote}
	line := 0 // index after the line in which the field at data[i] begins
	for i := 0; ; {
		if line <= i {
			if line = i + bytes.IndexByte(data[i:], '\n') + 1; line == i {
				line = len(data)
			}
		}
		if i == line || data[i] != quote {
			next := bytes.Index(data[i:line], opening)
			switch {
			case next >= 0:
				i += next + 1
			case last || line > 0 && data[line-1] == '\n':
				return line, false, nil
			default:
				return 0, false, nil
			}
		}
		if i = closing(data, i+1); i < 0 {
			if last {
				err = errUnclosed
			}
			return 0, true, err
		}
		switch rest := data[i:]; {
		case len(rest) > 0 && rest[0] == delimiter:
			i++
		case len(rest) > 0 && rest[0] == '\n':
			return i + 1, false, nil
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i + 2, false, nil
		case len(rest) == 0 && last:
			return i, false, nil
		case len(rest) == 0 || len(rest) == 1 && rest[0] == '\r' && !last: // a quote may follow
			return 0, len(rest) == 0, nil
		default:
			return 0, false, errBehind
		}
	}
}

// closing returns the index after the closing quote of the field whose content is at i, or -1.
func closing(data []byte, i int) int {
	for {
		n := bytes.IndexByte(data[i:], quote)
		if n < 0 {
			return -1
		}
		if i += n + 1; i == len(data) || data[i] != quote {
			return i
		}
		i++
	}
}

// fields calls visit for each field of a row accepted by [row], including any quotes.
func fields(record []byte, delimiter byte, visit func(n int, raw []byte)) (count int) {
	record = record[:lineEnd(record)]
	for i := 0; ; count++ {
		end := i
		if end < len(record) && record[end] == quote {
			end = closing(record, end+1)
		} else if n := bytes.IndexByte(record[end:], delimiter); n >= 0 {
			end += n
		} else {
			end = len(record)
		}
		visit(count, record[i:end:end])
		if i = end + 1; i > len(record) {
			return count + 1
		}
	}
}

// content appends the text of a field to dst, without its quotes.
func content(dst, raw []byte) []byte {
	if len(raw) < 2 || raw[0] != quote {
		return append(dst, raw...)
	}
	for raw = raw[1 : len(raw)-1]; ; {
		i := bytes.IndexByte(raw, quote)
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i+1]...)
		raw = raw[i+2:] // the quote is doubled
	}
}
