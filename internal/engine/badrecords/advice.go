package badrecords

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/internal/engine/report"
)

const seeRejects = "see them all with --rejects FILE"

// remedies lists advice by the reason of the first bad record; the first entry with advice counts.
// Entries with forMost need mostly bad records, since a few are no mistake in the command.
var remedies = []struct {
	reason  *regexp.Regexp
	forMost bool
	says    func(first *report.Rejected) string
}{
	{regexp.MustCompile(`--[a-z]|jq -c `), false, says("")}, // the reason itself names the remedy
	{regexp.MustCompile(`^field ".*" is .*, not a string or a number$`), true, stringsFor("name another id field with --id-field")},
	{regexp.MustCompile(`^field ".*" is an array, not a string$`), true, joined},
	{regexp.MustCompile(`^field ".*" is (missing|null|.*, not a string)$`), true, stringsFor("name the text field with --text-field")},
	{regexp.MustCompile(`^the (text|id) is not UTF-8$`), false, says(seeRejects)}, // of Parquet
	{regexp.MustCompile(`UTF-8|is not valid [^ ]+: decoded`), false, says("name their encoding with --encoding, such as gbk or auto")},
	{regexp.MustCompile(`longer than the limit`), false, says("--limit record=SIZE allows more")},
	{regexp.MustCompile(`JSON`), true, noJSON},
	{regexp.MustCompile(``), false, says(seeRejects)},
}

func says(advice string) func(*report.Rejected) string {
	return func(*report.Rejected) string { return advice }
}

// advice returns advice about bad records by the first one, "" for none. most reports that most
// records are bad, and run that the command is one with --rejects.
func advice(first *report.Rejected, most, run bool) string {
	for _, r := range remedies {
		if !r.reason.MatchString(first.Reason) || r.forMost && !most {
			continue
		}
		if says := r.says(first); says != "" && (run || says != seeRejects) {
			return says
		}
		if !r.forMost {
			break
		}
	}
	return ""
}

// joined returns the advice for texts that are arrays of strings.
func joined(first *report.Rejected) string {
	name, _ := strconv.Unquote(first.Reason[len("field "):strings.LastIndex(first.Reason, " is an array")])
	if paths, _ := stringsIn(first.Raw); !slices.Contains(paths, name+".*") {
		return ""
	}
	return fmt.Sprintf("join each array into one string, as jq -c '.%s |= join(\"\\n\")' does", name)
}

func noJSON(first *report.Rejected) string {
	raw := strings.TrimLeft(first.Raw, " \t\r\n\ufeff")
	switch {
	case strings.HasPrefix(raw, "{") && jsonarray.EndsInside([]byte(raw)):
		return "if an object spans several lines, read the file with jq -c . FILE | firstseen ... -"
	case strings.HasPrefix(raw, "{'"):
		return "these are values of Python: write each with json.dumps, not with str"
	case strings.HasPrefix(first.Reason, "invalid JSON") && strings.HasSuffix(first.Reason, "something follows the object"):
		return "if a line has several objects, read the file with jq -c . FILE | firstseen ... -"
	case strings.HasPrefix(raw, "{"):
		return ""
	case strings.HasPrefix(raw, "["):
		return "for arrays, read the objects inside with jq -c '.[]' FILE | firstseen ... -"
	case strings.HasPrefix(raw, "<"):
		return "for pages of HTML add --format html; for other XML convert the records to JSON lines first"
	}
	advice := "name their format with --format: lines, paragraphs or text for plain text, csv for tables"
	if strings.ContainsRune(raw, utf8.RuneError) {
		advice += "; and their encoding with --encoding, such as gbk or auto"
	}
	return advice
}

// stringsFor returns advice that names the fields of the first record that could be meant.
func stringsFor(advice string) func(first *report.Rejected) string {
	return func(first *report.Rejected) string {
		if line := new(report.Reported); json.Unmarshal([]byte(first.Raw), line) == nil && line.Verdict != "" && line.File != "" {
			return "this is a report of firstseen: give the inputs of its run"
		}
		var fields, inside []string
		paths, named := stringsIn(first.Raw)
		for _, path := range paths {
			switch {
			case path == "" || path == "id" || strings.HasSuffix(path, "*") && len(named) == 0:
			case !strings.Contains(path, "*"):
				fields = append(fields, strconv.Quote(path))
			default:
				inside = append(inside, path)
			}
		}
		var said []string
		if len(fields) > 0 {
			said = append(said, fmt.Sprintf("%s (fields with strings: %s)", advice, strings.Join(fields[:min(len(fields), 5)], ", ")))
		}
		if len(inside) > 0 {
			said = append(said, fmt.Sprintf("read the objects inside with jq -c '%s' FILE | firstseen ... -", jqObjects(inside[0], named)))
		}
		return strings.Join(said, "; ")
	}
}

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
