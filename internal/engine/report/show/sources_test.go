package show

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

func removal(id, of string, score report.Share, record int64) lines.Line {
	return lines.Line{ID: id, Of: &of, Verdict: "duplicate", Score: score, File: "in", Line: corpus.Place{Record: record}}
}

// TestMap checks the groups of paths below what they share, of sites, and of ids without either.
func TestMap(t *testing.T) {
	d := digestOf(t, []lines.Line{
		removal("docs/2025/en/a/x", "docs/2024/en/a", 1, 1),
		removal("docs/2025/en/b", "docs/2024/en/b", 1, 2),
		removal("docs/2025/zh/b", "docs/2024/en/b", 1, 3),
	})
	want := Map{Folder: "docs/", Rows: []string{"2025/en", "2025/zh"}, Columns: []string{"2024/en"}, Cells: [][]int64{{2}, {1}}}
	if !reflect.DeepEqual(d.Map, want) {
		t.Errorf("%+v", d.Map)
	}
	d = digestOf(t, []lines.Line{removal("https://a.example/1", "https://b.example/1", 1, 1), removal("7", "6", 1, 2)})
	if want := (Map{Rows: []string{"", "a.example"}, Columns: []string{"", "b.example"}, Cells: [][]int64{{1, 0}, {0, 1}}}); !reflect.DeepEqual(d.Map, want) {
		t.Errorf("%+v", d.Map)
	}
	var all []lines.Line
	for i := range 40 {
		all = append(all, removal(fmt.Sprintf("%d/x", i), "of/x", 1, int64(i+1)))
	}
	if d = digestOf(t, all); len(d.Map.Rows) != maxGroups || d.Map.Others != 40-maxGroups {
		t.Errorf("%+v", d.Map)
	}
}

// TestStream checks that the steps of the stream count every removal, whatever the length of the inputs.
func TestStream(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []lines.Line
		at := int64(0)
		for range rapid.IntRange(1, 300).Draw(rt, "lines") {
			at += rapid.Int64Range(1, 40).Draw(rt, "gap")
			l := removal("a", "b", 1, at)
			l.Kept = rapid.Bool().Draw(rt, "kept")
			all = append(all, l)
		}
		d := digestOf(t, all)
		sum, documents := int64(0), 0.0
		for _, s := range d.Stream {
			sum += s.Removed
			if s.Removed > 0 {
				documents += float64(s.Removed) / s.Share
			}
			if s.Share < 0 || s.Share > 1 {
				rt.Fatalf("%+v", s)
			}
		}
		if at >= 8 && (sum != d.Removed || documents > float64(at)+1e-6 || len(d.Stream) > maxSteps) {
			rt.Fatalf("%d of %d removals, %.1f of %d documents: %+v", sum, d.Removed, documents, at, d.Stream)
		}
	})
}

// TestDays checks that times become days, months or years, so that there are few steps.
func TestDays(t *testing.T) {
	for length, days := range map[int]int{len("2006-01-02"): 20, len("2006-01"): 400, len("2006"): 4000} {
		var all []lines.Line
		for i := range days {
			l, at := removal("a", "b", 1, int64(i+1)), time.Date(2011, 1, 1+i, 12, 0, 0, 0, time.UTC)
			l.Time = &at
			all = append(all, l)
		}
		sum, steps := int64(0), digestOf(t, all).Days
		for _, s := range steps {
			sum += s.Removed
		}
		if sum != int64(days) || len(steps[0].From) != length || steps[0].From != "2011-01-01"[:length] {
			t.Errorf("%d days: %+v", days, steps)
		}
	}
}

// TestThresholds checks the counts from each threshold on, and the weakest of each step.
func TestThresholds(t *testing.T) {
	var all []lines.Line
	for i := range 40 {
		all = append(all, removal(fmt.Sprint(i), "of", report.Share(60+i)/100, int64(i+1)))
	}
	got := ""
	for _, s := range digestOf(t, all).Thresholds {
		got += fmt.Sprintf("%.1f %d", s.At, s.Removed)
		for _, e := range s.Weakest {
			got += fmt.Sprintf(" %.2f", e.Score)
		}
		got += "\n"
	}
	if want := "0.5 40\n0.6 40 0.60 0.61 0.62\n0.7 30 0.70 0.71 0.72\n0.8 20 0.80 0.81 0.82\n0.9 10 0.90 0.91 0.92\n"; got != want {
		t.Errorf("%s", got)
	}
}

// TestRows checks that the page's data have every removal, in order, with its cell of the map.
func TestRows(t *testing.T) {
	var all []lines.Line
	for i := range 2*blockRows + 7 {
		l := removal(fmt.Sprintf("r%d/%d<\x1b", i%2, i), fmt.Sprintf("of/%d", i), 0.875, int64(i+1))
		l.Kept = i%5 == 0
		all = append(all, l)
	}
	d := digestOf(t, all)
	var page bytes.Buffer
	if err := d.WriteHTML(&page, "title", lineSeq(all)); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, block := range regexp.MustCompile(`(?s)type="application/gzip" data-n="\d+">([^<]*)</script>`).FindAllStringSubmatch(page.String(), -1) {
		z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(block[1])))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(z); err != nil {
			t.Fatal(err)
		}
		got.Write(text.Bytes())
	}
	var want strings.Builder
	for i := range all {
		if l := &all[i]; !l.Kept {
			row := []any{l.ID, *l.Of, fmt.Sprintf("in:%d", i+1), 0.875, 1 - i%2, 0}
			if d.Map.Rows[0] == "r0" {
				row[4] = i % 2
			}
			text, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			want.WriteString(strings.ReplaceAll(string(text), `\u003c`, "<") + "\n")
		}
	}
	if got.String() != want.String() {
		t.Errorf("the rows begin with\n%.300s\nwant\n%.300s", got.String(), want.String())
	}
}
