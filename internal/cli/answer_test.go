//go:build unix

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryLineIsAnswered sends lines of every kind, in every order, each after the answer to the
// one before. A client that counts lines is never off.
func TestEveryLineIsAnswered(t *testing.T) {
	t.Parallel()
	const empty = "(empty line)"
	kinds := []struct{ line, verdict string }{
		{"", empty},
		{" \t\r", empty},
		{"{}", "bad"},
		{"x", "bad"},
		{"PK", "bad"}, // the first bytes of a zip file
		{"BZh9", "bad"},
		{"\xff", "bad"},
		{`{"text":5}`, "bad"},
		{`{"text":"cut`, "bad"},
		{`{"text":"has it already","firstseen":1}`, "bad"},
		{`{"text":"a document of its own"}`, "unique"},
		{`{"text":"A document, of its own?"}`, "duplicate"},
	}
	for first := range kinds {
		d := startDaemon(t, t.TempDir(), "--docs", "1k")
		if first == 0 {
			d.send("\xef\xbb\xbf") // a byte order mark alone is a blank line
			if got := d.line(); got != "" {
				t.Errorf("a byte order mark: %q", got)
			}
		}
		for i := range kinds {
			k := kinds[(first+i)%len(kinds)]
			d.send(k.line)
			got := d.line()
			if k.verdict == empty {
				if got != "" {
					t.Errorf("%q: answer %q, want an empty line", k.line, got)
				}
				continue
			}
			v, want := parseVerdict(t, []byte(got)), k.verdict
			if first == len(kinds)-1 && want == "duplicate" {
				want = "unique" // it comes first
			} else if first == len(kinds)-1 && want == "unique" {
				want = "duplicate"
			}
			if v.Verdict != want || v.Kept != (want == "unique") || want == "bad" != (v.Reason != "") {
				t.Errorf("%q: answer %q, want %s", k.line, got, want)
			}
			if line := 1 + i; want == "bad" && first > 0 && v.Line != line {
				t.Errorf("%q: answered as line %d, is line %d", k.line, v.Line, line)
			}
		}
		d.end(exitBadRecords)
	}
}

// everyVerdict returns documents that together get every verdict.
func everyVerdict() (lines []string) {
	sentences := func(what string, from, to, words int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("This is %s %d%s. ", what, i, strings.Repeat(fmt.Sprint(" ", what, i), words))
		}
		return text
	}
	for i, text := range []string{
		sentences("book", 0, 60, 20), // more segments than are remembered
		sentences("verse", 0, 8, 5),
		sentences("song", 0, 8, 5),
		sentences("verse", 0, 8, 5) + "And a little more.",
		sentences("verse", 0, 4, 5) + sentences("song", 0, 4, 5),      // of both
		sentences("book", 40, 58, 20) + sentences("remark", 0, 16, 3), // quotes
	} {
		lines = append(lines, fmt.Sprintf(`{"id":"doc %d","text":%q}`, i, text))
	}
	return lines
}

// TestRetriedDocumentsDropped checks --same-id keep:again=drop, also after a restart. A client that
// stores the kept documents stores each once. Copies with other ids are not marked as again.
func TestRetriedDocumentsDropped(t *testing.T) {
	lines := everyVerdict()
	dir := t.TempDir()
	stored := map[int]int{}
	for run := range 2 {
		d := startDaemon(t, dir, "--docs", "1k", "--same-id", "keep:again=drop")
		for range 2 {
			for i, line := range lines {
				d.send(line)
				got := d.answer()
				if got.Kept {
					stored[i]++
				}
				if got.Again && (got.Kept || got.Verdict != "duplicate" || !got.SameID) || run > 0 && got.Again != (stored[i] > 0) {
					t.Errorf("document %d in run %d: %+v", i, run, got)
				}
			}
		}
		d.send(withID("another", 1))
		d.send(withID("one more", 1))
		if _, b := d.answer(), d.answer(); b.Kept || b.Again {
			t.Errorf("a text by another id: %+v", b)
		}
		d.end(exitDone)
	}
	for i, n := range stored {
		if n > 1 {
			t.Errorf("document %d is stored %d times", i, n)
		}
	}
	if len(stored) < 3 {
		t.Errorf("stored are %v", stored)
	}
}

// TestRetriedDocuments sends documents again whose answers got lost. A kept one gets its old
// answer, also after a restart; a removed one is a duplicate again. Of equal texts with two ids,
// exactly one is kept.
func TestRetriedDocuments(t *testing.T) {
	lines := everyVerdict()
	dir := t.TempDir()
	d := startDaemon(t, dir, "--docs", "1k", "--limit", "checkpoint=1ms")
	var first []verdict
	kinds := map[string]int{}
	for _, line := range lines {
		d.send(line)
		first = append(first, d.answer())
		kinds[first[len(first)-1].Verdict]++
	}
	if len(kinds) != 4 {
		t.Fatalf("the documents have only these verdicts: %v", kinds)
	}
	retry := func() {
		t.Helper()
		for i, line := range lines {
			d.send(line)
			got := d.answer()
			if first[i].Again || got.Kept != first[i].Kept || got.Verdict != first[i].Verdict || got.Again != got.Kept || got.Again && !got.SameID {
				t.Errorf("document %d: %+v, at first %+v", i, got, first[i])
			}
		}
	}
	retry()
	d.end(exitDone)
	d = startDaemon(t, dir)
	retry()
	d.send(withID("one", 1))
	d.send(withID("two", 1))
	if a, b := d.answer(), d.answer(); !a.Kept || b.Kept || b.Again {
		t.Errorf("two ids with one text: %+v, %+v", a, b)
	}
	d.end(exitDone)
	stats, _ := runProgram(t, dir, exitDone, "index", "stats", "index")
	if want := fmt.Sprintf("%d documents", kinds["unique"]+kinds["related"]+kinds["mosaic"]+1); !strings.Contains(stats, want) {
		t.Errorf("retried documents take room in the table: want %s in\n%s", want, stats)
	}
}

// TestRemovedAndSentAgain checks that a removed document that comes again is removed again. Once its
// segments are common, only exact copies and near copies with a score of 0.8 are: common segments say
// nothing about the origin of the rest.
func TestRemovedAndSentAgain(t *testing.T) {
	dir := t.TempDir()
	sentences := func(from, n, words int) (s []string) {
		for i := range n {
			sentence := ""
			for word := range words {
				sentence += fmt.Sprintf("%c%d ", 'a'+word, from+i)
			}
			s = append(s, sentence+"ends")
		}
		return s
	}
	line := func(id string, parts ...[]string) string {
		text := ""
		for _, p := range parts {
			text += strings.Join(p, ". ") + ". "
		}
		return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, text)
	}
	// near shares 120 of its 168 words (71%), in segments of weight 60 (36%). Once these are
	// common, the score must reach 0.78. most shares 130 words, of weight 110 of
	// 148.
	shared := sentences(1000, 30, 3)
	other := sentences(2000, 10, 12)
	witness := line("witness", shared)
	// The new sentences go in three places, so that none is a long passage.
	added := sentences(3000, 12, 3)
	exact, near := line("exact", shared), line("near", shared[:10], added[:4], shared[10:20], added[4:8], shared[20:], added[8:])
	wide, most := line("wide", other), line("most", other, sentences(4000, 2, 8))
	writeFile(t, filepath.Join(dir, "first"), witness+wide+exact+near+most)
	longer := ""
	for i := range 12 {
		longer += line(fmt.Sprint("longer ", i), shared, sentences(10_000+100*i, 20, 15))
		longer += line(fmt.Sprint("wider ", i), other, sentences(20_000+100*i, 20, 15))
	}
	writeFile(t, filepath.Join(dir, "longer"), longer)
	keeps := func(input, want string) {
		t.Helper()
		if kept, _ := runProgram(t, dir, exitDone, "dedup", "-q", "--docs", "1k", "--index", "index", "--out", "-", input); kept != want {
			t.Errorf("of %s it keeps %.300q, want %.300q", input, kept, want)
		}
	}
	keeps("first", witness+wide)
	keeps("first", "")
	keeps("longer", longer)
	keeps("first", near)
	keeps("first", "")
	renewed := strings.Replace(near, "a3000 ", "a3999 ", 1)
	writeFile(t, filepath.Join(dir, "renewed"), renewed)
	keeps("renewed", "")
}
