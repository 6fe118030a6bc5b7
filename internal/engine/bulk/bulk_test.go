package bulk

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// world draws texts. Many of them share passages, menus or whole texts.
type world struct {
	*rand.Rand
	sentences []string
}

func newWorld(seed uint64) *world { return &world{Rand: rand.New(rand.NewPCG(seed, 7))} }

func (w *world) sentence() string {
	if len(w.sentences) > 20 && w.IntN(3) == 0 {
		return w.sentences[w.IntN(len(w.sentences))]
	}
	var b strings.Builder
	for range 4 + w.IntN(12) {
		fmt.Fprintf(&b, "w%d ", w.IntN(4000))
	}
	if w.IntN(4) == 0 {
		for range 8 {
			b.WriteRune('一' + rune(w.IntN(3000)))
		}
	}
	w.sentences = append(w.sentences, b.String())
	return b.String()
}

func (w *world) texts(n int) (texts []string) {
	for range n {
		switch k := len(texts); {
		case k > 0 && w.IntN(5) == 0: // an edited copy
			parts := strings.Split(texts[w.IntN(k)], ".")
			for range w.IntN(4) {
				parts[w.IntN(len(parts))] = w.sentence()
			}
			texts = append(texts, strings.Join(parts, "."))
		case k > 0 && w.IntN(12) == 0:
			texts = append(texts, texts[w.IntN(k)])
		case w.IntN(20) == 0:
			texts = append(texts, "")
		default:
			var parts []string
			for range w.IntN(30) {
				parts = append(parts, w.sentence())
			}
			texts = append(texts, strings.Join(parts, "."))
		}
	}
	return texts
}

// write writes one shard per size. The i-th text has the id "i".
func write(t *testing.T, dir string, scheme feature.Scheme, texts []string, sizes ...int) {
	t.Helper()
	e, err := feature.NewExtractor(scheme)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for i, size := range sizes {
		name := fmt.Sprintf("in-%d", i)
		m := &Manifest{Shard: i + 1, Of: len(sizes), Scheme: scheme.Name(), Inputs: []File{{Name: name}}}
		err := Write(dir, m, func(add func(*Frame) error) error {
			var frame Frame
			for n := range size {
				doc := Doc{At: corpus.Place{Part: int64(i), Record: int64(n + 1)}, ID: fmt.Append(nil, at)}
				if n%3 == 0 {
					doc.Time = time.Unix(int64(at), 5).UTC()
				}
				e.Extract(&doc.Sketch, []byte(texts[at]))
				frame.Add(&doc, []byte(texts[at]), scheme.Key != nil)
				at++
				if n%7 == 0 {
					if err := add(&frame); err != nil {
						return err
					}
					frame.Reset()
				}
			}
			return add(&frame)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTextsAreSummed checks that a manifest has the sum over each document once.
func TestTextsAreSummed(t *testing.T) {
	texts := newWorld(5).texts(30)
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, 20, 0, 10)
	at := 0
	for i, m := range readSet(t, dir) {
		var want uint64
		for n := range int(m.Documents) {
			want += report.SumText(corpus.Place{Part: int64(i), Record: int64(n + 1)}, fmt.Append(nil, at), []byte(texts[at]))
			at++
		}
		if m.Texts != want {
			t.Errorf("shard %d has the sum %x, want %x", m.Shard, m.Texts, want)
		}
	}
}

func readSet(t *testing.T, dirs ...string) []*Manifest {
	t.Helper()
	set, err := ReadSet(dirs)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

type writer func([]byte) error

func (w writer) Write(b []byte) (int, error) { return len(b), w(b) }

// eachRow calls f for every row of a set, in order of places.
func eachRow(ctx context.Context, set []*Manifest, f func(Row) error) error {
	return Export(ctx, writer(func(b []byte) error {
		for ; len(b) > 0; b = b[16:] {
			if err := f(Row{binary.BigEndian.Uint64(b), Place(binary.BigEndian.Uint64(b[8:]))}); err != nil {
				return err
			}
		}
		return nil
	}), set, 3, Rows(Row.AppendBinary))
}

// eachDocument calls f for every document of a set, in order.
func eachDocument(ctx context.Context, set []*Manifest, f func(*Document) error) error {
	return Export(ctx, writer(func(line []byte) error {
		var d Document
		if err := json.Unmarshal(line, &d); err != nil {
			return err
		}
		return f(&d)
	}), set, 3, Documents)
}

// rowsOf returns the sorted rows of a set as lines.
func rowsOf(t *testing.T, set []*Manifest) (lines []string) {
	t.Helper()
	err := eachRow(t.Context(), set, func(r Row) error {
		lines = append(lines, string(r.AppendLine(nil)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// reduce turns sorted rows into the content of a file of marks.
func reduce(t *testing.T, rows []string) string {
	t.Helper()
	var places []string
	err := Reduce(strings.NewReader(strings.Join(rows, "")), func(p Place) error {
		places = append(places, string(p.AppendLine(nil)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(places)
	return strings.Join(places, "")
}

// decide runs d over the set and returns its report lines.
func decide(t *testing.T, set []*Manifest, marks string, d *Decision) (lines []report.Reported, err error) {
	t.Helper()
	d.Set, d.Marks, d.Stdin = set, "-", strings.NewReader(marks)
	d.Line = func(line []byte) error {
		lines = append(lines, parsed(t, line))
		return nil
	}
	err = d.Run(context.Background())
	return lines, err
}

// parsed returns a report line.
func parsed(t *testing.T, text []byte) (line report.Reported) {
	t.Helper()
	if err := json.Unmarshal(text, &line); err != nil {
		t.Error(err)
	}
	return line
}

// checkForecast compares the forecast of a decision with its result.
func checkForecast(t *testing.T, marks string, d *Decision) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "marks")
	if err := os.WriteFile(name, []byte(marks), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Marks = name
	f, err := d.Expect()
	if err != nil {
		t.Fatal(err)
	}
	near := func(got, want uint64) bool { return got >= want*9/10 && got <= want*11/10+100 }
	if !near(f.Marks, d.Marked) || f.Documents < uint64(len(d.table.docs)) || f.Documents > uint64(d.Tally.Documents)*11/10 {
		t.Errorf("forecast %+v, and the decision had %d marks, %d of %d documents in its table", f, d.Marked, len(d.table.docs), d.Tally.Documents)
	}
	if table, forecast := d.heldBytes(), f.Bytes-processBytes-pieceBytes-partBytes; forecast < table {
		t.Errorf("forecast %d bytes beside the process, and the table has %d", forecast, table)
	}
}

// heldBytes returns the size of the table without the unfilled parts of a small one.
func (d *Decision) heldBytes() (n int64) {
	for i := range d.table.heads {
		n += int64(d.table.heads[i].n)*16 + int64(len(d.table.heads[i].postings))*8
	}
	return n + d.table.arena.used() + int64(len(d.table.docs))*8
}

// sequential returns the report lines of one dedup run over the same texts.
func sequential(t *testing.T, scheme feature.Scheme, rules dedup.Rules, texts []string, sizes ...int) (lines []report.Reported) {
	t.Helper()
	d, err := dedup.New(dedup.Config{Scheme: scheme, Rules: rules, Table: &dedup.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := feature.NewExtractor(scheme)
	at := 0
	for i, size := range sizes {
		for n := range size {
			var set feature.Sketch
			e.Extract(&set, []byte(texts[at]))
			id := fmt.Sprint(at)
			r, err := d.Decide(dedup.Document{ID: id, Sketch: &set})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != dedup.Unique {
				line := report.Report(&r, id, &set, nil)
				line.Shard = i + 1
				line.File, line.Line = fmt.Sprintf("in-%d", i), corpus.Place{Part: int64(i), Record: int64(n + 1)}
				if n%3 == 0 {
					made := time.Unix(int64(at), 5).UTC()
					line.Time = &made
				}
				text, err := json.Marshal(&line)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, parsed(t, text))
			}
			at++
		}
	}
	return lines
}

// TestDecision checks that a decision with marks reports the lines of one run, for each method,
// with and without a secret, over shards of any size, empty ones too. Rows delivered twice do not
// change the marks.
func TestDecision(t *testing.T) {
	t.Parallel()
	secret := []byte("0123456789abcdef")
	for i, c := range []struct {
		scheme feature.Scheme
		rules  dedup.Rules
	}{
		{},
		{rules: dedup.Rules{Threshold: 0.4, RemoveMosaics: true}},
		{scheme: feature.Scheme{Key: secret}},
		{rules: dedup.Rules{Score: dedup.ScoreSegments}},
		{scheme: feature.Scheme{Segments: 12, MinWidth: 20, Key: secret}},
		{scheme: feature.Scheme{Method: "shingles"}},
		{scheme: feature.Scheme{Method: "exact", Key: secret}},
	} {
		t.Run(c.scheme.Name(), func(t *testing.T) {
			w := newWorld(uint64(i))
			texts := w.texts(900)
			sizes := []int{0, 1, 300, w.IntN(200), 0}
			sizes = append(sizes, 900-301-sizes[3])
			dir := t.TempDir()
			write(t, dir, c.scheme, texts, sizes...)
			set := readSet(t, dir)
			rows := rowsOf(t, set)
			marks := reduce(t, rows)
			want := sequential(t, c.scheme, c.rules, texts, sizes...)
			if len(want) < 100 {
				t.Fatalf("only %d documents are not unique", len(want))
			}
			d := Decision{Key: c.scheme.Key, Rules: c.rules}
			got, err := decide(t, set, marks, &d)
			if err != nil {
				t.Fatal(err)
			}
			checkForecast(t, marks, &d)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			for range len(rows) / 10 {
				rows = append(rows, rows[w.IntN(len(rows))])
			}
			slices.Sort(rows)
			if twice := reduce(t, rows); twice != marks {
				t.Error("rows delivered twice change the marks")
			}
		})
	}
}

// TestAllMarked checks that marks of keys found in only one document change nothing.
func TestAllMarked(t *testing.T) {
	w := newWorld(3)
	texts := w.texts(400)
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, 100, 300)
	set := readSet(t, dir)
	var all strings.Builder
	err := eachRow(t.Context(), set, func(r Row) error {
		all.Write(r.Place.AppendLine(r.Place.AppendLine(nil))) // each twice
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decide(t, set, all.String(), &Decision{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sequential(t, feature.Scheme{}, dedup.Rules{}, texts, 100, 300), got); diff != "" {
		t.Error(diff)
	}
}

// TestLostMarks checks that missing, foreign and out-of-order marks are refused.
func TestLostMarks(t *testing.T) {
	w := newWorld(5)
	texts := w.texts(1500)
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, 700, 800)
	set := readSet(t, dir)
	marks := slices.Collect(strings.Lines(reduce(t, rowsOf(t, set))))
	var rest []string
	for i, line := range marks {
		if i%2 == 0 {
			rest = append(rest, line)
		}
	}
	foreign := func(p Place) string { return string(p.AppendLine(nil)) }
	for name, c := range map[string]struct {
		marks string
		want  string
	}{
		"all":       {"", "marks are missing"},
		"second":    {strings.Join(marks[:len(marks)/2], ""), "marks are missing"},
		"each":      {strings.Join(rest, ""), "marks are missing"},
		"order":     {marks[1] + marks[0], "is less than the line before"},
		"text":      {"-1\n", `"-1\n", not a place`},
		"header":    {"v\n" + strings.Join(marks, ""), `"v\n", not a place`},
		"Parquet":   {"PAR1" + strings.Repeat("x", 400) + "\n", `"PAR1` + strings.Repeat("x", 36) + `", not a place`},
		"document":  {strings.Join(marks, "") + foreign(placeOf(1, 800, 0)), "there is no place"},
		"slot":      {foreign(placeOf(0, 3, 400)) + strings.Join(marks, ""), ""},
		"shard":     {strings.Join(marks, "") + foreign(placeOf(2, 0, 0)), "there is no place"},
		"half line": {strings.Join(marks, "")[:len(strings.Join(marks, ""))-6], "is less than the line before"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decide(t, set, c.marks, &Decision{})
			if !errors.Is(err, ErrMarks) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestSet checks that missing, duplicate and foreign shards are refused.
func TestSet(t *testing.T) {
	texts := newWorld(9).texts(60)
	good, other := t.TempDir(), t.TempDir()
	write(t, good, feature.Scheme{}, texts, 20, 20, 20)
	write(t, other, feature.Scheme{Segments: 9}, texts, 20, 20, 20)
	copyTo := func(t *testing.T, dir string, shards ...int) string {
		to := t.TempDir()
		for _, n := range shards {
			for _, ending := range []string{shardEnding, manifestEnding} {
				b, err := os.ReadFile(filepath.Join(dir, Name(n, 3)+ending))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(to, Name(n, 3)+ending), b, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		return to
	}
	for name, c := range map[string]struct {
		dirs []string
		want string
	}{
		"none":    {[]string{t.TempDir()}, "no finished shard"},
		"first":   {[]string{copyTo(t, good, 2, 3)}, "shard 1 of 3 is missing"},
		"middle":  {[]string{copyTo(t, good, 1), copyTo(t, good, 3)}, "shard 2 of 3 is missing"},
		"last":    {[]string{copyTo(t, good, 1, 2)}, "shard 3 of 3 is missing"},
		"doubled": {[]string{good, copyTo(t, good, 2)}, "shard 2 is there twice"},
		"twice":   {[]string{good, copyTo(t, good, 1)}, "shard 1 is there twice"},
		"scheme":  {[]string{copyTo(t, good, 1, 2), copyTo(t, other, 3)}, "has the scheme"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadSet(c.dirs); !errors.Is(err, ErrSet) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if set := readSet(t, copyTo(t, good, 3, 1), copyTo(t, good, 2)); len(set) != 3 || set[1].Shard != 2 {
		t.Errorf("%+v", set)
	}
	for name, text := range map[string]string{"empty": "", "version": `{"version":1}`, "shard": `{"version":2}`} {
		dir := t.TempDir()
		path := filepath.Join(dir, Name(1, 1)+manifestEnding)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSet([]string{dir}); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove it and make the shard again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	same := t.TempDir()
	for i := range 2 {
		m := &Manifest{Shard: i + 1, Of: 2, Scheme: "x", Inputs: []File{{Name: "a"}}}
		err := Write(same, m, func(add func(*Frame) error) error {
			var f Frame
			f.Add(&Doc{ID: []byte("1")}, nil, false)
			return add(&f)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ReadSet([]string{same}); !errors.Is(err, ErrSet) || !strings.Contains(err.Error(), "an input was given to both") {
		t.Error(err)
	}
}

// TestFlips checks that a shard is refused after any bit flip or truncation.
func TestFlips(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, newWorld(2).texts(3), 3)
	set := readSet(t, dir)
	path := set[0].path(shardEnding)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(b []byte, what string) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := eachRow(t.Context(), set, func(Row) error { return nil }); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	step := 1
	if testing.Short() {
		step = 3 // so that at takes every bit of a byte
	}
	for at := 0; at < len(whole); at += step {
		b := bytes.Clone(whole)
		b[at] ^= 1 << (at % 8)
		check(b, fmt.Sprint("flipped ", at))
	}
	for at := 0; at < len(whole); at += 37 {
		check(whole[:at], fmt.Sprint("cut at ", at))
	}
	check(append(bytes.Clone(whole), 0), "a byte more")
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	set[0].Rows++
	if err := eachRow(t.Context(), set, func(Row) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Error("a manifest with other counts:", err)
	}
	set = readSet(t, dir)
	set[0].Inputs[0].Name += "l"
	if err := eachRow(t.Context(), set, func(Row) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Error("a manifest with another input:", err)
	}
}

// TestOtherSketch checks that a document with data of another version is refused with its shard.
func TestOtherSketch(t *testing.T) {
	dir := t.TempDir()
	doc := &Doc{Sketch: feature.Sketch{Features: []feature.Feature{{Key: 7, Units: 20}}, Units: 20, Data: []byte("other")}}
	m := &Manifest{Shard: 1, Of: 1, Scheme: feature.Scheme{}.Name(), Inputs: []File{{Name: "a"}}}
	err := Write(dir, m, func(add func(*Frame) error) error {
		var f Frame
		f.Add(doc, nil, false)
		f.Add(doc, nil, false)
		return add(&f)
	})
	if err != nil {
		t.Fatal(err)
	}
	set := readSet(t, dir)
	_, err = decide(t, set, reduce(t, rowsOf(t, set)), &Decision{})
	if !errors.Is(err, errRecord) || !strings.Contains(err.Error(), set[0].path(shardEnding)) {
		t.Error(err)
	}
}

// TestOtherRules refuses features of rules that are gone by name, with a remedy. With a secret missing,
// the remedy is another.
func TestOtherRules(t *testing.T) {
	for scheme, want := range map[string]string{
		"fs3-u15b-xxh3-n50-w10":                      "extract them again from the documents, under another --out, or use the version that made them: fs3-u15b-xxh3-n50-w10",
		"fs4-u15b-siphash+highway(ac9c773a)-n50-w10": "give --secret",
	} {
		d := Decision{Set: []*Manifest{{Scheme: scheme}}}
		if err := d.Run(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// TestReduce checks that unsorted or malformed rows are refused with their line number.
func TestReduce(t *testing.T) {
	row := func(key uint64, p Place) string { return string(Row{key, p}.AppendLine(nil)) }
	for text, want := range map[string]string{
		row(2, 1) + row(1, 2):                   "line 2",
		row(1, 2) + row(1, 1):                   "line 2",
		"x\n":                                   "line 1",
		row(1, 1) + "\n":                        "line 2",
		strings.ToUpper(row(0xab, 1))[:10]:      "line 1",
		strings.Replace(row(1, 1), "0", "g", 1): "line 1",
	} {
		err := Reduce(strings.NewReader(text), func(Place) error { return nil })
		if !errors.Is(err, ErrRows) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	var got []Place
	text := row(1, 5) + row(3, 1) + row(3, 1) + row(7, 1) + row(7, 2) + row(7, 2) + row(7, 9)
	err := Reduce(strings.NewReader(strings.TrimSuffix(text, "\n")), func(p Place) error {
		got = append(got, p)
		return nil
	})
	if err != nil || !slices.Equal(got, []Place{1, 2, 9}) && !slices.Equal(got, []Place{1, 2, 2, 9}) {
		t.Errorf("%v, %v", got, err)
	}
	want := errors.New("full")
	if err := Reduce(strings.NewReader(text), func(Place) error { return want }); !errors.Is(err, want) {
		t.Error(err)
	}
}

// TestBinaryRows checks that 16-byte rows sort like their lines.
func TestBinaryRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		a, b := Row{r.Uint64() >> r.IntN(64), Place(r.Uint64() >> (1 + r.IntN(63)))}, Row{r.Uint64() >> r.IntN(64), Place(r.Uint64() >> (1 + r.IntN(63)))}
		if bytes.Compare(a.AppendBinary(nil), b.AppendBinary(nil)) != bytes.Compare(a.AppendLine(nil), b.AppendLine(nil)) {
			t.Fatal(a, b)
		}
		if got, ok := parseRow(bytes.TrimSpace(a.AppendLine(nil))); !ok || got != a {
			t.Fatal(a, got)
		}
	}
}

// TestCommonMarksLeftOut checks that all marks of a key held by eight documents may be missing.
func TestCommonMarksLeftOut(t *testing.T) {
	line := "A sentence that stands in each of these documents, word by word. "
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("%sThe %d. text has %d words of its own behind it, and some more.", line, i, i*i))
	}
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, len(texts))
	set := readSet(t, dir)
	holders := map[string]int{}
	rows := rowsOf(t, set)
	for _, row := range rows {
		holders[row[:16]]++
	}
	for _, c := range []struct {
		left int // keys in this many documents or more have no marks
		want error
	}{{8, nil}, {21, nil}, {20, nil}, {2, ErrMarks}} {
		marks := reduce(t, slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return holders[row[:16]] >= c.left }))
		if _, err := decide(t, set, marks, &Decision{}); !errors.Is(err, c.want) {
			t.Errorf("without marks of keys in %d documents: %v", c.left, err)
		}
	}
	marks := slices.Collect(strings.Lines(reduce(t, rows)))
	for at, mark := range marks {
		if at < 3 || at > len(marks)-4 {
			rest := slices.DeleteFunc(slices.Clone(marks), func(m string) bool { return m == mark })
			if _, err := decide(t, set, strings.Join(rest, ""), &Decision{}); !errors.Is(err, ErrMarks) {
				t.Errorf("without the mark %q: %v", mark, err)
			}
		}
	}
	few := t.TempDir()
	write(t, few, feature.Scheme{}, texts[:7], 7)
	if _, err := decide(t, readSet(t, few), "", &Decision{}); !errors.Is(err, ErrMarks) {
		t.Errorf("a key of seven documents without marks: %v", err)
	}
}

// TestSampleShrinks checks that the sample stays within its bound and still finds lost marks.
func TestSampleShrinks(t *testing.T) {
	s := newSample()
	s.most, s.bits = 100, sampleBits
	keys := []uint64{0}
	for i := range uint64(100_000) {
		keys[0] = i * 0x2545f4914f6cdd1d
		if err := s.check(placeOf(0, i, 0), keys, []bool{false}); err != nil {
			t.Fatal(err)
		}
		if len(s.first) > s.most {
			t.Fatal(len(s.first))
		}
	}
	for key := range s.first {
		keys[0] = key
	}
	if err := s.check(placeOf(1, 0, 0), keys, []bool{true}); !errors.Is(err, ErrMarks) {
		t.Error(err)
	}
}

// FuzzRecord checks that a record is refused, or has a key for each feature and one for the text.
func FuzzRecord(f *testing.F) {
	e, _ := feature.NewExtractor(feature.Scheme{})
	doc := Doc{ID: []byte("id"), Time: time.Unix(1, 2)}
	e.Extract(&doc.Sketch, []byte(strings.Join(newWorld(1).texts(3), "")))
	f.Add(appendRecord(nil, &doc, false))
	f.Add(appendRecord(nil, &doc, true))
	f.Add([]byte{0})
	broken, _ := hex.DecodeString("01000000000000000000000000000000000004")
	f.Add(broken)
	f.Fuzz(func(t *testing.T, record []byte) {
		var d Doc
		if d.read(record) == nil && (len(d.keys) != len(d.Sketch.Features)+1 || d.Sketch.Parts() < 0) {
			t.Errorf("%d keys of %d features", len(d.keys), len(d.Sketch.Features))
		}
	})
}

// FuzzShard checks that reading any file ends and takes no more memory than the file.
func FuzzShard(f *testing.F) {
	m := &Manifest{Shard: 1, Of: 1, Scheme: "x", Digest: strings.Repeat("0", 32)}
	f.Add(append(m.header(), m.end(0)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		m.dir = dir
		if err := os.WriteFile(m.path(shardEnding), append(m.header(), b...), 0o666); err != nil {
			t.Fatal(err)
		}
		err := m.eachRecord(t.Context(), func(*Manifest, Place, []byte) error { return nil })
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
}
