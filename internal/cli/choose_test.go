//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// copiesOf returns documents in three folders. Half are copies, some edited. Ids are not unique.
func copiesOf(rng *rand.Rand, n int) (docs []chosenDoc) {
	var texts []string
	for i := range n {
		d := chosenDoc{Dump: fmt.Sprint("dump-", i*3/n), Year: 2000 + rng.IntN(5), Folder: fmt.Sprint("in/f", i*3/n)}
		d.Source = []string{"curated", "crawled", "other", ""}[rng.IntN(4)]
		if d.ID = fmt.Sprint("d", i); rng.IntN(4) == 0 {
			d.ID = "same"
		}
		if len(texts) > 0 && rng.IntN(2) == 0 {
			d.Text = texts[rng.IntN(len(texts))]
			if rng.IntN(2) == 0 {
				d.Text += fmt.Sprintf(" A last remark, %d.", i)
			}
		} else {
			for range 8 {
				d.Text += fmt.Sprintf("The town of %x has %x houses and %x boats in its harbour. ", rng.Uint32(), rng.Uint32(), rng.Uint32())
			}
			texts = append(texts, d.Text)
		}
		docs = append(docs, d)
	}
	return docs
}

// chosenDoc is a document with the fields that policies use.
type chosenDoc struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Source string `json:"source,omitempty"`
	Year   int    `json:"-"`
	Date   string `json:"date"`
	Dump   string `json:"dump"`
	Folder string `json:"-"`
	place  string // its file and line
}

// writeDocs writes the documents of each folder to one file and sets their places.
func writeDocs(t *testing.T, dir string, docs []chosenDoc) {
	files := map[string]*bytes.Buffer{}
	for i := range docs {
		d := &docs[i]
		d.Date = fmt.Sprintf("%d-05-06T07:08:09Z", d.Year)
		if files[d.Folder] == nil {
			files[d.Folder] = new(bytes.Buffer)
		}
		d.place = fmt.Sprintf("%s/a.jsonl:%d", d.Folder, bytes.Count(files[d.Folder].Bytes(), []byte("\n"))+1)
		indextest.Must(t, json.NewEncoder(files[d.Folder]).Encode(d))
	}
	for folder, text := range files {
		indextest.Must(t, os.MkdirAll(filepath.Join(dir, folder), 0o777))
		writeFile(t, filepath.Join(dir, folder, "a.jsonl"), text.String())
	}
}

// fate is what becomes of a document.
type fate struct {
	kept bool
	report.Fate
}

// fatesOf returns the fates of documents with the verdicts of a report. The witness of a copy is the
// first kept document with its text, the last remark aside.
func fatesOf(t *testing.T, name string, docs []chosenDoc, rank func(*chosenDoc) int64, group func(*chosenDoc) string) (fates []fate) {
	lines := linesByPlace(t, name)
	first := map[string]uint32{}
	components := make([]uint32, len(docs))
	plan := report.NewSurvivors()
	for i := range docs {
		d := &docs[i]
		text, _, _ := strings.Cut(d.Text, " A last")
		text = strings.TrimSpace(text)
		components[i] = uint32(i + 1)
		if line, ok := lines[d.place]; ok && !line.Kept {
			components[i] = first[text]
		} else if _, known := first[text]; !known {
			first[text] = components[i]
		}
		m := report.Member{Group: group(d), Rank: rank(d), Survivor: report.Survivor{ID: d.ID}}
		m.File, _, _ = strings.Cut(d.place, ":")
		fmt.Sscanf(d.place[len(m.File):], ":%d", &m.Line.Record)
		plan.Offer(components[i], m)
	}
	for _, of := range components {
		kept, f := plan.Ask(of)
		fates = append(fates, fate{kept, f})
	}
	return fates
}

func linesByPlace(t *testing.T, name string) map[string]report.Reported {
	lines := map[string]report.Reported{}
	for line := range strings.Lines(readFile(t, name)) {
		var r report.Reported
		indextest.Must(t, json.Unmarshal([]byte(line), &r))
		lines[fmt.Sprintf("%s:%v", r.File, r.Line)] = r
	}
	return lines
}

// TestPolicies checks that --prefer and --remove-within give each document the fate that follows from
// its rank and its group, whatever its id. The output has the survivors.
func TestPolicies(t *testing.T) {
	t.Parallel()
	ranks := map[string]func(*chosenDoc) int64{
		"": func(*chosenDoc) int64 { return 0 },
		"source=curated,crawled": func(d *chosenDoc) int64 {
			if i := slices.Index([]string{"curated", "crawled"}, d.Source); i >= 0 {
				return int64(i)
			}
			return math.MaxInt64
		},
		"date=newest":  func(d *chosenDoc) int64 { return -int64(d.Year) },
		"date=oldest":  func(d *chosenDoc) int64 { return int64(d.Year) },
		"text=longest": func(d *chosenDoc) int64 { return -int64(len(d.Text)) },
		"folder=f2,f1": func(d *chosenDoc) int64 { return int64(-slices.Index([]string{"in/f1", "in/f2"}, d.Folder)) },
	}
	groups := map[string]func(*chosenDoc) string{
		"":           func(*chosenDoc) string { return "" },
		"folder":     func(d *chosenDoc) string { return d.Folder },
		"batch=dump": func(d *chosenDoc) string { return d.Dump },
	}
	dir := t.TempDir()
	docs := copiesOf(rand.New(rand.NewPCG(1, 2)), 120)
	writeDocs(t, dir, docs)
	runProgram(t, dir, 0, "dedup", "-q", "-r", "plain.jsonl", "in")
	for prefer, rank := range ranks {
		for within, group := range groups {
			args := []string{"dedup", "-q", "-o", "kept.jsonl", "-r", "chosen.jsonl"}
			if prefer != "" {
				args = append(args, "--prefer", prefer)
			}
			if within != "" {
				args = append(args, "--remove-within", within)
			}
			if prefer+within == "" {
				continue
			}
			runProgram(t, dir, 0, append(args, "in")...)
			checkFates(t, dir, prefer+" "+within, docs, fatesOf(t, filepath.Join(dir, "plain.jsonl"), docs, rank, group))
		}
	}
}

// checkFates compares a report and the kept records with fates.
func checkFates(t *testing.T, dir, name string, docs []chosenDoc, fates []fate) {
	lines := linesByPlace(t, filepath.Join(dir, "chosen.jsonl"))
	var kept bytes.Buffer
	for i, want := range fates {
		d := &docs[i]
		line, ok := lines[d.place]
		if got := (fate{!ok || line.Kept, line.Fate}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the fate of %s is %+v, and the rules say %+v", name, d.place, got, want)
		}
		if want.kept {
			text, _ := json.Marshal(d)
			kept.Write(append(text, '\n'))
		}
	}
	if got := readFile(t, filepath.Join(dir, "kept.jsonl")); got != kept.String() {
		t.Errorf("%s: the output has %d bytes, the survivors %d", name, len(got), kept.Len())
	}
}
