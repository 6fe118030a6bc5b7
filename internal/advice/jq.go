package advice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// jqObjects returns the filter of jq for the objects to read, by the path to a text. These are the
// outermost objects that have an id around it, or else the innermost: pages, not their paragraphs.
func jqObjects(path string, named []string) string {
	for _, object := range named { // the outermost first
		inside, ok := strings.CutPrefix(path, object)
		switch {
		case !ok || object != "" && inside[0] != '.':
		case !strings.Contains(inside, "*"):
			return jqPath(object)
		default:
			texts := fmt.Sprintf(`.text = ([%s] | join("\n"))`, jqPath(strings.TrimPrefix(inside, ".")))
			if object == "" {
				return texts
			}
			return jqPath(object) + " | " + texts
		}
	}
	return jqPath(path[:max(strings.LastIndexByte(path, '.'), 0)])
}

// plainName matches a name that jq takes without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// jqPath returns a path of stringsIn in jq's notation.
func jqPath(path string) string {
	var b strings.Builder
	for i, name := range strings.Split(path, ".") {
		switch {
		case name == "*" && i == 0:
			b.WriteString(".[]")
		case name == "*":
			b.WriteString("[]")
		case plainName.MatchString(name):
			b.WriteString("." + name)
		default:
			b.WriteString("." + strconv.Quote(name))
		}
	}
	return b.String()
}

// stringsIn returns the paths to the strings of a JSON value that may be cut off, the longest
// string first, and to the objects with the field "id", the outermost first. A "*" stands for each
// element of an array.
func stringsIn(raw string) (paths, named []string) {
	dec := json.NewDecoder(strings.NewReader(raw))
	lengths := map[string]int{}
	var value func(path string) error
	value = func(path string) error {
		before := dec.InputOffset()
		token, err := dec.Token()
		if s, ok := token.(string); ok {
			lengths[path] = max(lengths[path], len(s))
		} else if rest := strings.TrimLeft(raw[before:], ": \t\r\n,"); err != nil && strings.HasPrefix(rest, `"`) {
			lengths[path] = len(rest) // it is cut off
		}
		if token != json.Delim('{') && token != json.Delim('[') {
			return err
		}
		for dec.More() && err == nil {
			name := json.Token("*")
			if token == json.Delim('{') {
				if name, err = dec.Token(); err != nil {
					return err
				}
			}
			if name == "id" && !slices.Contains(named, path) {
				named = append(named, path)
			}
			err = value(strings.TrimPrefix(path+"."+fmt.Sprint(name), "."))
		}
		if err == nil {
			_, err = dec.Token()
		}
		return err
	}
	_ = value("") // a value cut off ends early
	slices.SortFunc(named, func(a, b string) int { return len(a) - len(b) })
	return slices.SortedFunc(maps.Keys(lengths), func(a, b string) int {
		return cmp.Or(cmp.Compare(lengths[b], lengths[a]), strings.Compare(a, b))
	}), named
}
