package input

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// StoredName is a file name that JSON preserves byte for byte. JSON is UTF-8: any other name is
// quoted as in Go, after a zero byte, which no file name contains.
type StoredName string

const quotedName = "\x00"

// MarshalJSON returns the name as a JSON string.
func (n StoredName) MarshalJSON() ([]byte, error) {
	name := string(n)
	if !utf8.ValidString(name) {
		name = quotedName + strconv.Quote(name)
	}
	return json.Marshal(name)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (n *StoredName) UnmarshalJSON(data []byte) error {
	var name string
	err := json.Unmarshal(data, &name)
	if quoted, is := strings.CutPrefix(name, quotedName); is && err == nil {
		name, err = strconv.Unquote(quoted)
	}
	*n = StoredName(name)
	return err
}
