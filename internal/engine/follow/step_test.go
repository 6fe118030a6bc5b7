package follow

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestParse checks the step that a record asks for, or the reason why it asks for none.
func TestParse(t *testing.T) {
	batch := func(name string) string {
		return string((&journal.Entry{Kind: journal.Seen, Batch: name, ID: "x", Text: []byte("t")}).Append(nil))
	}
	named := func(id string) string {
		return string((&journal.Entry{Kind: journal.Seen, ID: id, Text: []byte("t")}).Append(nil))
	}
	doc := journal.Entry{Kind: journal.Seen, Exact: true, Time: 5, Batch: "b", ID: "x", Text: []byte("text")}
	whole := doc.Append(nil)
	for name, c := range map[string]struct{ value, bad, id string }{
		"entry":           {string(whole), "", "x"},
		"entry, cut":      {string(whole[:len(whole)-1]), "neither an entry nor a line", ""},
		"entry, more":     {string(whole) + "x", "neither an entry nor a line", "x"},
		"line":            {`{"id":"y","body":"a text"}`, "", "y"},
		"line with end":   {"{\"id\":\"y\",\"body\":\"a text\"}\n", "", "y"},
		"two lines":       {"{\"id\":\"y\",\"body\":\"a\"}\n{\"id\":\"z\",\"body\":\"b\"}", "several lines", "z"},
		"no text":         {`{"id":"y"}`, `body\" is missing`, ""},
		"no id":           {`{"body":"a text"}`, "no id", ""},
		"torn":            {`{"id":"y","body":"a`, "", ""},
		"nothing":         {"", "neither", ""},
		"text":            {"plain text", "neither", ""},
		"kind zero":       {strings.Repeat("\x00", 40), "neither", ""},
		"kind of no one":  {strings.Repeat("\x20", 40), "neither", ""},
		"long batch":      {batch(strings.Repeat("b", 256)), "the name of its batch", ""},
		"batch, no UTF-8": {batch("\xff"), "the name of its batch", ""},
		"no id, an entry": {named(""), noID, ""},
		"longest id":      {named(strings.Repeat("i", 65536)), "", strings.Repeat("i", 65536)},
		"long id":         {named(strings.Repeat("i", 65537)), "longer than 65536 bytes", ""},
		"id, no UTF-8":    {named("\xff"), "not UTF-8", ""},
		"no id, in JSON":  {`{"id":"","body":"a text"}`, "no id", ""},
		"long id, JSON":   {`{"id":"` + strings.Repeat("i", 65537) + `","body":"a text"}`, "longer than 65536 bytes", ""},
		"blank, line":     {"\n{\"id\":\"y\",\"body\":\"a text\"}", "", "y"},
		"blanks, line":    {"\r\n \t{\"id\":\"y\",\"body\":\"a text\"}\r\n", "", "y"},
		"tab, text":       {"\ta text of more than thirty-two bytes", "neither", ""},
		"blanks":          {strings.Repeat("\n", 40), "neither", ""},
		"protobuf":        {"\x0a\x05hello\x12\x20" + strings.Repeat("x", 32), "neither", ""},
	} {
		s, err := parse(&Record{Offset: 3, Time: time.Unix(1, 5), Value: []byte(c.value)}, jsonl.Fields{Text: "body", ID: "id"})
		indextest.Must(t, err)
		bad := string(s.Answer)
		if c.bad == "" && name != "torn" && bad != "" || !strings.Contains(bad, c.bad) || name == "torn" && bad == "" || (bad != "") != (s.Kind == 0) {
			t.Errorf("%s: kind %d, bad %q, want %q", name, s.Kind, bad, c.bad)
		}
		if s.Offset != 3 || bad == "" && s.ID != c.id {
			t.Errorf("%s: %+v", name, s.Entry)
		}
		if name == "line" && s.Entry.Time != time.Unix(1, 5).UnixNano() {
			t.Errorf("arrival %d", s.Entry.Time)
		}
	}
	for _, i := range []int{0, 1, 2, 3} {
		later := []byte(strings.Clone(string(whole)))
		later[i] = 31
		if _, err := parse(&Record{Value: later}, jsonl.Fields{}); !errors.Is(err, journal.ErrVersion) {
			t.Errorf("byte %d of a later version: error %v", i, err)
		}
		if s, err := parse(&Record{Value: append(later, 'x')}, jsonl.Fields{}); err != nil || s.Kind != 0 {
			t.Errorf("byte %d, and lengths that do not add up: %+v, error %v", i, s, err)
		}
	}
}

// TestSettings checks which settings are invalid, and which a log may change later.
func TestSettings(t *testing.T) {
	good := `{"version":1,"scheme":"s","threshold":0.6,"score":0,"mosaics":false,"window":0,"text":"text","id":"id"}`
	s, err := parseSettings([]byte(good))
	if err != nil || s.String() != good {
		t.Fatalf("%s, error %v", &s, err)
	}
	for _, change := range []struct{ from, to string }{
		{"0.6", "0"},
		{"0.6", "1.1"},
		{`"score":0`, `"score":2`},
		{`"text":"text"`, `"text":""`},
		{`"id":"id"`, `"id":""`},
		{`"window":0`, `"window":-1`},
		{`"window"`, `"windows"`},
		{"}", ""},
	} {
		if _, err := parseSettings([]byte(strings.Replace(good, change.from, change.to, 1))); !errors.Is(err, errSettings) {
			t.Errorf("%s: error %v", change.to, err)
		}
	}
	for change, ok := range map[*Settings]bool{
		{Scheme: "s", Threshold: 0.9, Text: "text", ID: "id"}:                true,
		{Scheme: "s", Threshold: 0.6, Mosaics: true, Text: "text", ID: "id"}: true,
		{Scheme: "other", Threshold: 0.6, Text: "text", ID: "id"}:            false,
		{Scheme: "s", Threshold: 0.6, Text: "body", ID: "id"}:                false,
		{Scheme: "s", Threshold: 0.6, Text: "text", ID: "url"}:               false,
		{Scheme: "s", Threshold: 0.6, Text: "text", ID: "id", Window: 5}:     false,
	} {
		if err := s.checkChange(change); (err == nil) != ok {
			t.Errorf("%s: error %v", change, err)
		}
	}
}
