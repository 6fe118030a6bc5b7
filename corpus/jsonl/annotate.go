package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/firstseen/firstseen/corpus"
)

// leads returns the text before the value of an added field: in an object without members, and in
// one with some.
func leads(field string) [2][]byte {
	name, err := json.Marshal(field)
	if err != nil {
		panic(err) // a string
	}
	name = append(name, ':')
	return [2][]byte{name, append([]byte{','}, name...)}
}

// slotOf returns the place for one more field at the end of the object raw. It
// returns an error when raw is not a JSON object or has a field of that name
// already: two fields of one name mean different things to different readers.
func slotOf(raw []byte, field string, leads *[2][]byte) (corpus.Slot, error) {
	empty, err := checkFree(raw, field)
	if err != nil {
		return corpus.Slot{}, err
	}
	slot := corpus.Slot{At: bytes.LastIndexByte(raw, '}'), Lead: leads[1]}
	if empty {
		slot.Lead = leads[0]
	}
	return slot, nil
}

// checkFree checks that raw is an object without the field, and reports whether it has no field at
// all.
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
