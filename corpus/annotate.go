package corpus

import (
	"bytes"
	"fmt"
)

// Annotate appends the line raw to dst with one more field at the end of its
// object, and returns it. All other bytes, white space included, stay as they
// are. The value must be JSON; it is not checked. It fails where CheckFree does.
func Annotate(dst, raw []byte, field string, value []byte) ([]byte, error) {
	at, member, err := Annotation(nil, raw, field, value)
	if err != nil {
		return dst, err
	}
	dst = append(dst, raw[:at]...)
	dst = append(dst, member...)
	return append(dst, raw[at:]...), nil
}

// Annotation is Annotate for lines too long to copy: member, with a comma where
// it needs one, belongs before raw[at]. It is appended to dst.
func Annotation(dst, raw []byte, field string, value []byte) (at int, member []byte, err error) {
	empty, err := checkFree(raw, field)
	if err != nil {
		return 0, dst, err
	}
	if !empty {
		dst = append(dst, ',')
	}
	dst = appendString(dst, []byte(field))
	dst = append(dst, ':')
	return bytes.LastIndexByte(raw, '}'), append(dst, value...), nil
}

// CheckFree returns an error when raw is not a JSON object or has a field of that
// name already: two fields of one name mean different things to different readers.
func CheckFree(raw []byte, field string) error {
	_, err := checkFree(raw, field)
	return err
}

// checkFree checks that raw is an object without the field, and tells whether
// it has no field at all.
func checkFree(raw []byte, field string) (empty bool, err error) {
	empty, taken := true, false
	err = scanLine(raw, func(b []byte, key value, i, depth int) (int, error) {
		name := b[key.start:key.end]
		if key.escaped && len(name) <= maxEscape*len(field) {
			name, _, _ = decodeString(nil, b[:key.end+1], key.start)
		}
		empty, taken = false, taken || string(name) == field
		_, end, err := scanValue(b, i, depth)
		return end, err
	})
	if err == nil && taken {
		err = fmt.Errorf("the line already has a field %q", field)
	}
	if err != nil {
		return false, fmt.Errorf("adding field %q: %w", field, err)
	}
	return empty, nil
}
