package input

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// StoredName is the name of a file that JSON keeps byte for byte. JSON is UTF-8: a name outside that is
// quoted as in Go, behind a zero, which no name has.
type StoredName string

const quotedName = "\x00"

// MarshalJSON writes the name as a string.
func (n StoredName) MarshalJSON() ([]byte, error) {
	name := string(n)
	if !utf8.ValidString(name) {
		name = quotedName + strconv.Quote(name)
	}
	return json.Marshal(name)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (n *StoredName) UnmarshalJSON(data []byte) error {
	var name string
	err := json.Unmarshal(data, &name)
	if quoted, is := strings.CutPrefix(name, quotedName); is && err == nil {
		name, err = strconv.Unquote(quoted)
	}
	*n = StoredName(name)
	return err
}
