package dedup_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/testing/oracle"
)

const casesDir = "../testdata/decision"

// A decisionCase is a file of testdata/decision, whose README describes the format.
type decisionCase struct {
	name  string
	rules dedup.Rules
	docs  []caseDoc
}

type caseDoc struct {
	id, text string
	want     []string // items of the expectation, as written
	set      feature.Sketch
}

func TestDecisionCases(t *testing.T) {
	files, err := filepath.Glob(casesDir + "/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("only %d files in testdata/decision, %v", len(files), err)
	}
	for _, file := range files {
		c := readCase(t, file)
		t.Run(c.name, func(t *testing.T) {
			for i, keys := range filterSizes {
				table := newTable(t, []string{"", "table.db", "", ""}[i])
				c.run(t, dedup.Config{Rules: c.rules, Table: table, Filter: newFilter(t, keys)})
			}
		})
	}
}

func (c *decisionCase) run(t *testing.T, cfg dedup.Config) {
	d, err := dedup.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	o := oracle.New(dedup.ConfigOf(d).Rules)
	for i := range c.docs {
		doc := &c.docs[i]
		want := o.Decide(doc.id, &doc.set)
		got, err := d.Decide(dedup.Document{ID: doc.id, Sketch: &doc.set})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-oracle +deduper):\n%s", doc.id, diff)
		}
		said := tell(&got)
		for _, item := range doc.want {
			if !isSaid(said, item) {
				t.Errorf("%s: want %q, got: %s", doc.id, item, strings.Join(said, ", "))
			}
		}
		t.Logf("%s: %s; %d of %d units%s", doc.id, strings.Join(said, ", "), weights(&doc.set), doc.set.Units, c.inCommon(i))
		checkpoint(t, cfg.Table)
	}
}

// estimateError is four standard deviations of a sketch estimate (feature/twostage).
const estimateError = .16

// isSaid reports whether a result contains the item, or for "score ~0.7" a value near it.
func isSaid(said []string, item string) bool {
	name, about, ok := strings.Cut(item, " ~")
	if !ok {
		return slices.Contains(said, item)
	}
	want, err := strconv.ParseFloat(about, 64)
	for _, s := range said {
		if value, is := strings.CutPrefix(s, name+" "); is && err == nil {
			got, err := strconv.ParseFloat(value, 64)
			allowed := estimateError
			if want > 1 { // letters
				allowed *= want
			}
			return err == nil && math.Abs(got-want) <= allowed
		}
	}
	return false
}

// inCommon describes how many distinct runs of seven letters the i-th document shares with each
// earlier one. Sets of the runs give C and M without a sketch.
func (c *decisionCase) inCommon(i int) string {
	var b strings.Builder
	d := runsOfText(c.docs[i].text)
	fmt.Fprintf(&b, "; %d runs", len(d))
	for _, other := range c.docs[:i] {
		e, common := runsOfText(other.text), 0
		for run := range d {
			if e[run] {
				common++
			}
		}
		if 10*common > len(d) {
			fmt.Fprintf(&b, ", %d of %s with %d", common, other.id, len(e))
		}
	}
	return b.String()
}

// runsOfText returns the distinct runs of a text.
func runsOfText(text string) map[string]bool {
	var letters []byte
	s := canon.NewScanner()
	s.CountUnits()
	s.Reset([]byte(text))
	for step := s.Next(); ; step = s.Next() {
		if step != canon.Piece {
			letters = s.AppendLetters(letters)
			s.ForgetSegments()
		}
		if step == canon.End {
			break
		}
	}
	runs := map[string]bool{}
	for i := 0; i+7 <= len(letters); i++ {
		runs[string(letters[i:i+7])] = true
	}
	return runs
}

func weights(set *feature.Sketch) (weight uint32) {
	for _, f := range set.Features {
		weight += max(f.Units, 2) - 2
	}
	return weight
}

// tell formats a result as in a case, with every possible item.
func tell(r *dedup.Result) []string {
	verdict := r.Verdict.String()
	if r.Of.Num != 0 {
		verdict += " of " + r.Of.ID
	}
	items := []string{
		verdict,
		"score " + rounded(r.Score), "seen " + rounded(r.Seen), "contained " + rounded(r.Contained),
	}
	if r.Differ != "" {
		items = append(items, "differs "+r.Differ)
	}
	if r.Estimated {
		items = append(items, "estimated")
	}
	if r.Exact {
		items = append(items, "exact")
	}
	if r.SameID {
		items = append(items, "same id")
	}
	if r.New.To > 0 {
		items = append(items, fmt.Sprintf("new %d", r.New.To-r.New.From))
	}
	if r.Kept {
		return append(items, "kept")
	}
	return append(items, "removed")
}

func rounded(share float64) string {
	text, _ := report.Share(share).MarshalJSON()
	return string(text)
}

var (
	headerLine  = regexp.MustCompile(`^== (\S+): (.+)$`)
	includeLine = regexp.MustCompile(`^\[(\S+?)(?: (\d+)(?:-(\d+))?)?\]$`)
)

func readCase(t *testing.T, file string) *decisionCase {
	t.Helper()
	c := &decisionCase{name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	var lines []string
	for line := range strings.Lines(readText(t, file)) {
		line = strings.TrimSuffix(line, "\n")
		header := headerLine.FindStringSubmatch(line)
		switch {
		case header != nil:
			c.finish(t, lines)
			c.docs, lines = append(c.docs, caseDoc{id: header[1], want: strings.Split(header[2], ", ")}), nil
		case len(c.docs) > 0 && strings.HasPrefix(line, "|"):
		case len(c.docs) > 0:
			lines = append(lines, c.include(t, line))
		case strings.HasPrefix(line, "rules: "):
			c.setRules(t, strings.TrimPrefix(line, "rules: "))
		}
	}
	c.finish(t, lines)
	if len(c.docs) < 2 {
		t.Fatalf("%s has %d documents", file, len(c.docs))
	}
	return c
}

func readText(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n")
}

// finish sets the text of the last document.
func (c *decisionCase) finish(t *testing.T, lines []string) {
	t.Helper()
	if len(c.docs) == 0 {
		return
	}
	doc := &c.docs[len(c.docs)-1]
	switch doc.want[len(doc.want)-1] {
	case "kept", "removed":
	default:
		t.Fatalf("%s: %s: say whether it is kept or removed", c.name, doc.id)
	}
	doc.text = strings.TrimSpace(strings.Join(lines, "\n"))
	e, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	e.Extract(&doc.set, []byte(doc.text))
}

// include returns the line, or the text it includes.
func (c *decisionCase) include(t *testing.T, line string) string {
	t.Helper()
	m := includeLine.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	paragraphs := strings.Split(c.textOf(t, m[1]), "\n\n")
	if m[2] == "" {
		return strings.Join(paragraphs, "\n\n")
	}
	from, _ := strconv.Atoi(m[2])
	to := from
	if m[3] != "" {
		to, _ = strconv.Atoi(m[3])
	}
	if from < 1 || to < from || to > len(paragraphs) {
		t.Fatalf("%s: %s: there are %d paragraphs", c.name, line, len(paragraphs))
	}
	return strings.Join(paragraphs[from-1:to], "\n\n")
}

func (c *decisionCase) textOf(t *testing.T, name string) string {
	t.Helper()
	for _, doc := range c.docs[:len(c.docs)-1] {
		if doc.id == name {
			return doc.text
		}
	}
	return strings.TrimSpace(readText(t, filepath.Join(casesDir, "texts", name+".txt")))
}

func (c *decisionCase) setRules(t *testing.T, text string) {
	t.Helper()
	for _, item := range strings.Split(text, ", ") {
		name, value, _ := strings.Cut(item, " ")
		var err error
		switch {
		case name == "threshold":
			c.rules.Threshold, err = strconv.ParseFloat(value, 64)
		case item == "mosaics remove":
			c.rules.RemoveMosaics = true
		case item == "score segments":
			c.rules.Score = dedup.ScoreSegments
		case item != "mosaics keep" && item != "score text":
			err = fmt.Errorf("no such rule")
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", c.name, item, err)
		}
	}
}
