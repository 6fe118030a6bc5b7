package csv

import (
	"bytes"
	"errors"
)

var (
	errBehind   = errors.New("something stands between a closing quote and the end of its field")
	errUnclosed = errors.New("a quote is not closed")
)

// quote opens and closes a field.
const quote = '"'

// row returns the index behind the row at the beginning of data, including its line end. It is 0 if
// data ends before, and open reports whether that is inside quotes. last means that no more
// follows, so that the end of data ends the row. The error is errBehind, or errUnclosed at the last
// end.
func row(data []byte, delimiter byte, last bool) (end int, open bool, err error) {
	line, quoted := 0, -1 // behind the line that data[end] is in, and its next quote
	for {
		if line <= end {
			if line = end + bytes.IndexByte(data[end:], '\n') + 1; line == end {
				line = len(data)
			}
			quoted = -1
		}
		if quoted < end {
			quoted = bytes.IndexByte(data[end:line], quote)
			if quoted < 0 {
				return unquoted(data, line, last), false, nil
			}
			quoted += end
		}
		next, over, open, err := field(data, end, delimiter, last)
		switch {
		case err != nil || next < 0:
			return 0, open, err
		case over:
			return next, false, nil
		}
		end = next
	}
}

// unquoted is the end of a row that ends with a line.
func unquoted(data []byte, line int, last bool) int {
	if last || line > 0 && data[line-1] == '\n' {
		return line
	}
	return 0
}

// field goes over the field that begins at data[i] and its end. over reports whether it is the last
// of its row. The index is -1 if data ends before.
func field(data []byte, i int, delimiter byte, last bool) (next int, over, open bool, err error) {
	if i < len(data) && data[i] == quote {
		if i = closing(data, i+1); i < 0 {
			if last {
				err = errUnclosed
			}
			return -1, false, true, err
		}
		switch rest := data[i:]; {
		case len(rest) > 0 && rest[0] == delimiter:
			return i + 1, false, false, nil
		case len(rest) > 0 && rest[0] == '\n':
			return i + 1, true, false, nil
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i + 2, true, false, nil
		case len(rest) == 0 && last:
			return i, true, false, nil
		case len(rest) == 0 || len(rest) == 1 && rest[0] == '\r' && !last: // a second quote may follow
			return -1, false, len(rest) == 0, nil
		}
		return i, false, false, errBehind
	}
	for ; i < len(data); i++ {
		switch data[i] {
		case delimiter:
			return i + 1, false, false, nil
		case '\n':
			return i + 1, true, false, nil
		}
	}
	if last {
		return len(data), true, false, nil
	}
	return -1, false, false, nil
}

// closing returns the index behind the closing quote of a field with content from data[i] on, or
// -1.
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

// fields calls visit for each field of a row that [row] has found, with the bytes between its ends:
// quotes are still there.
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

// content appends the text of a field to dst: the characters between the quotes, if it has some.
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
