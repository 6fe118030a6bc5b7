//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/keylog"
)

// daemon is a run that reads a pipe and answers every line to another.
type daemon struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	answers *bufio.Reader
}

func startDaemon(t *testing.T, dir string, args ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, cmd: program(t, dir, append([]string{"dedup", "-q", "--annotate", "--index", "index", "--out", "-", "-"}, args...)...)}
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	d.cmd.Stdout, d.out, d.answers = w, r, bufio.NewReader(r)
	start(t, d.cmd)
	w.Close()
	return d
}

func (d *daemon) send(line string) {
	d.t.Helper()
	if _, err := io.WriteString(d.in, line+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

// verdict is what an annotated line says.
type verdict struct {
	Verdict, Reason        string
	Kept, Again            bool
	SameID                 bool `json:"same_id"`
	Line, Segments, Shared int
	Of                     *string
}

// line returns the answer to what was sent, which must come without anything more
// being sent.
func (d *daemon) line() string {
	d.t.Helper()
	if err := d.out.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		d.t.Fatal(err)
	}
	line, err := d.answers.ReadString('\n')
	if err != nil {
		d.t.Fatalf("no answer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (d *daemon) answer() verdict {
	d.t.Helper()
	return parseVerdict(d.t, []byte(d.line()))
}

func parseVerdict(t *testing.T, line []byte) verdict {
	t.Helper()
	var v struct{ Firstseen verdict }
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("answer %q: %v", line, err)
	}
	return v.Firstseen
}

// kill ends it as a crash does and returns the answers that were under way.
func (d *daemon) kill() (rest []verdict) {
	d.t.Helper()
	if err := d.cmd.Process.Kill(); err != nil {
		d.t.Fatal(err)
	}
	_ = d.cmd.Wait() // killed
	d.in.Close()
	left, err := io.ReadAll(d.answers)
	if err != nil {
		d.t.Fatal(err)
	}
	for line := range bytes.Lines(left) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // cut: nobody can use it
		}
		rest = append(rest, parseVerdict(d.t, line))
	}
	return rest
}

func (d *daemon) end(code int) (said string) {
	d.t.Helper()
	d.in.Close()
	exits(d.t, d.cmd, code)
	return d.cmd.Stderr.(*bytes.Buffer).String()
}

// withID is a document whose text depends on i alone.
func withID(id string, i int) string {
	return fmt.Sprintf(`{"id":%q,"text":%q}`, id, plainText(i))
}

// remembered asks for n documents by their texts, from a pipe again, and returns
// how many of them, from the first on, are known. Those after the first unknown
// one must be unknown too: what is remembered is a beginning.
func remembered(t *testing.T, dir string, n int, args ...string) (known int, said string) {
	t.Helper()
	d := startDaemon(t, dir, args...)
	known = -1
	for i := range n {
		d.send(withID(fmt.Sprint("asked", i), i))
		switch kept := d.answer().Kept; {
		case kept && known < 0:
			known = i
		case !kept && known >= 0:
			t.Errorf("document %d is remembered and document %d is not", i, known)
		}
	}
	if known < 0 {
		known = n
	}
	return known, d.end(exitDone)
}

// savedSomething reports whether an index knows documents, as a crash now would
// leave it.
func savedSomething(t *testing.T, dir string) bool {
	t.Helper()
	if logs, _ := filepath.Glob(filepath.Join(dir, "index", "*.log")); len(logs) == 1 {
		documents := uint64(0)
		_, _, _, err := keylog.Read(logs[0], func(g keylog.Group) error {
			documents = g.Documents
			return nil
		})
		return err == nil && documents > 0
	}
	data, err := os.ReadFile(filepath.Join(dir, "index", dedup.TableFile))
	if err != nil {
		return false
	}
	path := filepath.Join(t.TempDir(), dedup.TableFile)
	writeFile(t, path, string(data))
	table, err := docmap.Open(path, docmap.Options{ReadOnly: true})
	if err != nil {
		return false // copied while it was written
	}
	defer table.Close()
	return table.Stats().Docs > 0
}

// TestKilledPipe kills runs over pipes at random instants. What is remembered then
// was answered, all of it; what was answered is remembered but for the last
// moment; and the next run goes on by itself and says so.
func TestKilledPipe(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 9))
	for round := range 6 * *killings {
		var flags []string
		if round%2 == 1 {
			flags = []string{"--filter-only"}
		}
		dir := t.TempDir()
		d := startDaemon(t, dir, append(flags, "--docs", "20k", "--checkpoint-every", "5ms")...)
		answered, most := 0, 20_000
		go func() {
			for i := range most {
				if _, err := io.WriteString(d.in, withID(fmt.Sprint("d", i), i)+"\n"); err != nil {
					return
				}
			}
		}()
		for stop := rng.IntN(3000); answered < stop; answered++ {
			if !d.answer().Kept {
				t.Fatalf("round %d: document %d is not kept", round, answered)
			}
		}
		answered += len(d.kill())
		known, said := remembered(t, dir, answered+100, append(flags, "--checkpoint-every", "0")...)
		if known > answered {
			t.Errorf("round %d: %d documents are remembered, only %d were answered", round, known, answered)
		}
		// Nobody reads and sends while it asks, so these are those of the index.
		if !strings.Contains(said, fmt.Sprintf("did not end in order: it is remembered up to document %d (", known)) {
			t.Errorf("round %d: %d documents are remembered, and the next run said %q", round, known, said)
		}
		if _, said := remembered(t, dir, 1, flags...); said != "" {
			t.Errorf("round %d: after a run that ended in order, the next said %q", round, said)
		}
	}
}

// TestKilledIdlePipe: documents that were answered are remembered after a while,
// though nothing comes after them.
func TestKilledIdlePipe(t *testing.T) {
	for _, flags := range [][]string{{"--filter-only"}, {}} {
		dir := t.TempDir()
		d := startDaemon(t, dir, append(flags, "--docs", "1k", "--checkpoint-every", "1ms")...)
		d.send(withID("a", 0))
		if !d.answer().Kept {
			t.Fatal("it is not kept")
		}
		d.send(withID("b", 1))
		if !d.answer().Kept {
			t.Fatal("it is not kept")
		}
		for end := time.Now().Add(time.Minute); !savedSomething(t, dir); {
			if time.Now().After(end) {
				t.Fatal("an idle pipe was not saved")
			}
		}
		d.kill()
		known, said := remembered(t, dir, 3, flags...)
		if known < 1 || known > 2 || !strings.Contains(said, fmt.Sprintf("remembered up to document %d (checkpoint of 2023-11-14T22:13:20Z)", known)) {
			t.Errorf("%v: %d documents remembered, want 1 or 2; it said %q", flags, known, said)
		}
	}
}

// TestReaderOfAnswersGone: a document whose answer nobody took is not remembered, and
// those before it, saved a moment ago, are.
func TestReaderOfAnswersGone(t *testing.T) {
	for _, flags := range [][]string{{"--filter-only"}, {}} {
		dir := t.TempDir()
		d := startDaemon(t, dir, append(flags, "--docs", "1k", "--checkpoint-every", "1ms")...)
		d.send(withID("a", 0))
		d.answer()
		for end := time.Now().Add(time.Minute); !savedSomething(t, dir); {
			if time.Now().After(end) {
				t.Fatal("an idle pipe was not saved")
			}
		}
		if err := d.out.Close(); err != nil {
			t.Fatal(err)
		}
		d.send(withID("b", 1))
		exits(t, d.cmd, exitReaderGone)
		if known, said := remembered(t, dir, 3, flags...); known != 1 || !strings.Contains(said, "remembered up to document 1 (") {
			t.Errorf("%v: %d documents remembered, want 1; it said %q", flags, known, said)
		}
	}
}

// TestKilledWithFiles: where the run wrote files, they may be the only copy of what
// is remembered. The next run is refused until that is decided.
func TestKilledWithFiles(t *testing.T) {
	for _, flags := range [][]string{{"--filter-only"}, {}} {
		dir := t.TempDir()
		d := startDaemon(t, dir, append(flags, "--docs", "1k", "--checkpoint-every", "1ms", "--report", "dups.jsonl")...)
		d.send(withID("a", 0))
		d.answer()
		d.kill()
		writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
		args := append([]string{"dedup", "-q", "--index", "index", "--out", "-", "in.jsonl"}, flags...)
		if _, said := runProgram(t, dir, exitFailed, args...); !strings.Contains(said, "add --abandon") {
			t.Errorf("%v: it said %q", flags, said)
		}
		runProgram(t, dir, exitDone, append(args, "--abandon")...)
		runProgram(t, dir, exitDone, args...)
	}
}

// TestEndingSignals ends a run over a pipe in good order with each of the signals
// that do so: everything that was answered is remembered, without a checkpoint
// before.
func TestEndingSignals(t *testing.T) {
	// Where the tests run under nohup, so would the program.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		for _, flags := range [][]string{{"--filter-only"}, {}} {
			dir := t.TempDir()
			d := startDaemon(t, dir, append(flags, "--docs", "1k", "--checkpoint-every", "0")...)
			for i := range 3 {
				d.send(withID("a", i))
				d.answer()
			}
			if err := d.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			exits(t, d.cmd, exitInterrupted)
			if known, said := remembered(t, dir, 4, flags...); known != 3 || said != "" {
				t.Errorf("%v, %v: %d documents remembered, want 3; it said %q", sig, flags, known, said)
			}
		}
	}
}

// TestNohup: a hangup that is ignored from the start stays so.
func TestNohup(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	d := startDaemon(t, t.TempDir(), "--docs", "1k")
	d.send(withID("a", 1))
	d.answer()
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	d.send(withID("b", 2))
	if !d.answer().Kept {
		t.Error("the second document is not kept")
	}
	d.end(exitDone)
}

// TestEveryLineIsAnswered sends lines of every kind, each as the first one and each
// after the answer to the one before: whoever counts lines is never off.
func TestEveryLineIsAnswered(t *testing.T) {
	const empty = "(empty line)"
	kinds := []struct{ line, verdict string }{
		{"", empty},
		{" \t\r", empty},
		{"{}", "bad"},
		{"x", "bad"},
		{"PK", "bad"}, // as a zip file begins
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

// everyVerdict returns documents that get every verdict there is.
func everyVerdict() (lines []string) {
	sentences := func(what string, from, to, words int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("This is %s %d%s. ", what, i, strings.Repeat(fmt.Sprint(" of ", what, i), words))
		}
		return text
	}
	for i, text := range []string{
		sentences("book", 0, 60, 20), // more than are remembered
		sentences("verse", 0, 8, 3),
		sentences("song", 0, 8, 3),
		sentences("verse", 0, 8, 3) + "And a little more.",
		sentences("verse", 0, 4, 3) + sentences("song", 0, 4, 3),                     // of both
		sentences("book", 50, 58, 20) + sentences("remark about it by me", 0, 40, 3), // quotes
	} {
		lines = append(lines, fmt.Sprintf(`{"id":"doc %d","text":%q}`, i, text))
	}
	return lines
}

// TestRetriedDocuments sends documents again whose answers got lost: a kept one is
// answered as it was, also after a restart; a removed one is a duplicate again;
// and of two equal texts with different ids exactly one is kept.
func TestRetriedDocuments(t *testing.T) {
	lines := everyVerdict()
	dir := t.TempDir()
	d := startDaemon(t, dir, "--docs", "1k", "--checkpoint-every", "1ms")
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
	stats, _ := runProgram(t, dir, exitDone, "stats", "--index", "index")
	if want := fmt.Sprintf("%d documents", kinds["unique"]+kinds["related"]+kinds["mosaic"]+1); !strings.Contains(stats, want) {
		t.Errorf("retried documents take room in the table: want %s in\n%s", want, stats)
	}
}
