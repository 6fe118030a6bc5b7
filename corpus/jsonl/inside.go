package jsonl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Path leads into a value of JSON: each name to the member of an object, "*" to every
// value of an array or an object.
type Path []string

// Each is the name in a path that leads to every value.
const Each = "*"

// ParsePath reads a path such as data.cards.*.mblog.
func ParsePath(text string) (Path, error) {
	p := Path(strings.Split(text, "."))
	if slices.Contains(p, "") {
		return nil, fmt.Errorf("%q: want names between dots, such as data.items.*, where * is each value of an array", text)
	}
	if len(p) > maxPath {
		return nil, fmt.Errorf("%q: a path may have at most %d names", text, maxPath)
	}
	return p, nil
}

func (p Path) String() string { return strings.Join(p, ".") }

// CheckValue says what is wrong with one value of JSON, which may have white space around.
func CheckValue(data []byte) error {
	_, i, err := scanValue(data, skipSpace(data, 0), 0)
	if err != nil {
		return err
	}
	if i = skipSpace(data, i); i < len(data) {
		return syntax(i, "something follows the value")
	}
	return nil
}

// Finder goes over what a path leads to in one value of JSON, which must be valid. It
// remembers no more than the way to where it is.
type Finder struct {
	path    Path
	open    []bool // what the path has led into so far: whether each is an array
	begun   bool
	reached bool
	key     []byte
}

// Begin has the finder look at another value.
func (f *Finder) Begin(p Path) {
	f.path, f.open, f.begun, f.reached = p, f.open[:0], false, false
}

// Next finds the next value that is not null. It is given what is left of the whole: all
// of it at first, then what stands behind the value that was found last.
func (f *Finder) Next(data []byte) (start, end int, found bool) {
	i := 0
	if !f.begun {
		f.begun = true
		if i = skipSpace(data, 0); !f.enter(data[i]) {
			return 0, 0, false
		}
		i++
	}
	for level := len(f.open); level > 0; level = len(f.open) {
		i = skipSpace(data, i)
		if data[i] == ',' {
			i = skipSpace(data, i+1)
		}
		if data[i] == '}' || data[i] == ']' {
			f.open = f.open[:level-1]
			i++
			continue
		}
		wanted := true
		if !f.open[level-1] {
			wanted, i = f.member(data, i)
		}
		if wanted && level < len(f.path) && f.enter(data[i]) {
			i++
			continue
		}
		v, end, _ := scanValue(data, i, 0) // it is valid
		if wanted && level == len(f.path) && v.kind != kindNull {
			f.reached = true
			return i, end, true
		}
		i = end
	}
	return 0, 0, false
}

// enter goes into a value that begins so, if the path does.
func (f *Finder) enter(first byte) bool {
	each := f.path[len(f.open)] == Each
	if first != '{' && (first != '[' || !each) {
		return false
	}
	f.open = append(f.open, first == '[')
	f.reached = f.reached || each
	return true
}

// member reports whether the path goes on with the key at data[i], and where its value is.
func (f *Finder) member(data []byte, i int) (wanted bool, at int) {
	end, escaped, _ := scanString(data, i+1)
	name, key := f.path[len(f.open)-1], data[i+1:end]
	if escaped && len(key) <= maxEscape*len(name) {
		f.key, _, _ = decodeString(f.key[:0], data[:end+1], i+1)
		key = f.key
	}
	return name == Each || string(key) == name, skipSpace(data, skipSpace(data, end+1)+1)
}

// Lacking says what the value, of which all was looked at, has not: the part of the path
// before its first "*" has to be there, and all of it where it has none. What it lacks
// behind that is nothing to speak of: some cards of a list have a text and others none.
func (f *Finder) Lacking() error {
	if f.reached {
		return nil
	}
	each := slices.Index(f.path, Each)
	switch {
	case each < 0:
		return fmt.Errorf("there is nothing at %q", f.path)
	case each == 0:
		return errors.New("it is no array or object")
	}
	return fmt.Errorf("there is no array or object at %q", f.path[:each])
}
