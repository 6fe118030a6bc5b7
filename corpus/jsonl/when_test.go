package jsonl

import (
	"testing"
	"time"

	"github.com/firstseen/firstseen/corpus"
)

// TestTimes checks that a document has the time of its field, or none.
func TestTimes(t *testing.T) {
	const some = 1_700_000_000
	for _, c := range []struct {
		line string
		want int64 // Unix seconds, or -1 for none
	}{
		{`{"text":"a","at":1700000000}`, some},
		{`{"text":"a","at":1700000000.9}`, some},
		{`{"text":"a","at":1.7e9}`, some},
		{`{"text":"a","at":"1700000000"}`, some},
		{`{"text":"a","at":"2023-11-14T22:13:20Z"}`, some},
		{`{"text":"a","at":"2023-11-14t22:13:20.75z"}`, some},
		{`{"text":"a","at":"2023-11-15T06:13:20+08:00"}`, some},
		{`{"text":"a","at":"2023-11-14T22:13:20"}`, some},        // Python's isoformat
		{`{"text":"a","at":"2023-11-14 22:13:20"}`, some},        // Python's str, and pandas in CSV
		{`{"text":"a","at":"2023-11-14 22:13:20.123456"}`, some}, // with a fraction
		{`{"text":"a","at":"2023-11-15 06:13:20.5+08:00"}`, some},
		{`{"text":"a","at":"2023-11-14  22:13:20"}`, -1},
		{`{"text":"a","at":"2023-11-14 22:13"}`, -1},
		{`{"text":"a","at":"1700000000000"}`, -1}, // milliseconds
		{`{"at":0,"text":"a"}`, 0},
		{`{"text":"a","at":-1.5}`, -2},
		{`{"text":"a","at":1700000000000}`, -1}, // milliseconds
		{`{"text":"a","at":1e999}`, -1},
		{`{"text":"a","at":"yesterday"}`, -1},
		{`{"text":"a","at":"1.7e9"}`, -1},
		{`{"text":"a","at":""}`, -1},
		{`{"text":"a","at":"2023-11-14"}`, -1},
		{`{"text":"a","at":"2023-13-14T22:13:20Z"}`, -1},
		{`{"text":"a","at":null}`, -1},
		{`{"text":"a","at":[1700000000]}`, -1},
		{`{"text":"a","At":1700000000}`, -1},
		{`{"text":"a"}`, -1},
	} {
		for _, in := range []string{"at", "meta.at"} {
			line := c.line
			if in != "at" {
				line = `{"text":"b","meta":` + line + `}`
			}
			p, err := newParser(Fields{Time: in}, "")
			if err != nil {
				t.Fatal(err)
			}
			b := corpus.BlockOf("f", 1, []byte(line+"\n"), Format{})
			n := 0
			for doc := range p.Parse(b) {
				n++
				want := time.Unix(c.want, 0).UTC()
				if c.want == -1 {
					want = time.Time{}
				}
				if doc.Bad != nil || !doc.Time.Equal(want) {
					t.Errorf("%s: %v, %v, want %v", line, doc.Time, doc.Bad, want)
				}
			}
			if n != 1 {
				t.Errorf("%s: %d documents", line, n)
			}
		}
	}
}

// TestTimeBesideOthers rejects a repeated field, and reads one field as both time and id.
func TestTimeBesideOthers(t *testing.T) {
	for line, want := range map[string]string{
		`{"text":"a","at":1,"at":2}`: `field "at" occurs twice`,
		`{"text":"a","at":1}`:        "",
	} {
		p, err := newParser(Fields{Time: "at", ID: "at"}, "")
		if err != nil {
			t.Fatal(err)
		}
		b := corpus.BlockOf("f", 1, []byte(line+"\n"), Format{})
		for doc := range p.Parse(b) {
			got := ""
			if doc.Bad != nil {
				got = doc.Bad.Reason
			} else if string(doc.ID) != "1" || doc.Time.Unix() != 1 {
				t.Errorf("%s: id %q, time %v", line, doc.ID, doc.Time)
			}
			if got != want {
				t.Errorf("%s: %q, want %q", line, got, want)
			}
		}
	}
}
