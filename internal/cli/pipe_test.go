//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// daemon is a run that reads one pipe and answers every line on another.
type daemon struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
}

func startDaemon(t *testing.T, dir string, args ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, cmd: program(t, dir, append([]string{"dedup", "-q", "--annotate", "--index", "index", "--out", "-", "-"}, args...)...)}
	d.in, d.answers = startPiped(t, d.cmd)
	return d
}

func (d *daemon) send(line string) {
	d.t.Helper()
	give(d.t, d.in, line+"\n")
}

// verdict has the verdict fields of an annotated line.
type verdict struct {
	Verdict, Reason        string
	Kept, Again            bool
	SameID                 bool `json:"same_id"`
	Line, Segments, Shared int
	Of                     *string
}

// line returns the next answer. It must come before anything more is sent, or the test times out.
func (d *daemon) line() string {
	d.t.Helper()
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

// kill kills the run and returns the answers in flight.
func (d *daemon) kill() (rest []verdict) {
	d.t.Helper()
	indextest.Must(d.t, d.cmd.Process.Kill())
	_ = d.cmd.Wait() // killed
	d.in.Close()
	left, err := io.ReadAll(d.answers)
	indextest.Must(d.t, err)
	for line := range bytes.Lines(left) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // cut off and useless
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

// withID returns a document whose text depends on i alone.
func withID(id string, i int) string {
	return fmt.Sprintf(`{"id":%q,"text":%q}`, id, plainText(i))
}

// remembered sends n texts to a new run and counts the known ones, from the first on. All texts
// after the first unknown one must be unknown too, since the index remembers a prefix.
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

// savedSomething reports whether the index would know documents after a crash now.
func savedSomething(t *testing.T, dir string) bool {
	t.Helper()
	if logs, _ := filepath.Glob(filepath.Join(dir, "index", "*.log")); len(logs) == 1 {
		documents := uint64(0)
		_, _, err := filterlog.ReadLog(logs[0], func(g filterlog.Group) error {
			documents = g.Documents
			return nil
		})
		return err == nil && documents > 0
	}
	data, err := os.ReadFile(filepath.Join(dir, "index", index.TableFile))
	if err != nil {
		return false
	}
	path := filepath.Join(t.TempDir(), index.TableFile)
	writeFile(t, path, string(data))
	table, err := docmap.Open(path, docmap.Options{ReadOnly: true})
	if err != nil {
		return false // copied while it was written
	}
	defer table.Close()
	return table.Stats().Documents > 0
}

// TestKilledIdlePipe checks that answered documents are remembered after a while without new ones.
func TestKilledIdlePipe(t *testing.T) {
	for _, flags := range [][]string{{"--filter-only"}, {}} {
		dir := t.TempDir()
		d := startDaemon(t, dir, append(flags, "--docs", "1k", "--limit", "checkpoint=1ms")...)
		for i, id := range []string{"a", "b"} {
			d.send(withID(id, i))
			if !d.answer().Kept {
				t.Fatal("it is not kept")
			}
		}
		for !savedSomething(t, dir) { // an idle pipe is saved
			time.Sleep(time.Millisecond)
		}
		d.kill()
		known, said := remembered(t, dir, 3, flags...)
		if known < 1 || known > 2 || !strings.Contains(said, fmt.Sprintf("remembered up to document %d (checkpoint of 2023-11-14T22:13:20Z)", known)) {
			t.Errorf("%v: %d documents remembered, want 1 or 2; it said %q", flags, known, said)
		}
	}
}

// TestEndingSignals ends a run over a pipe in good order with each signal that does so. All
// answered documents are remembered without an earlier checkpoint.
func TestEndingSignals(t *testing.T) {
	// If the tests run under nohup, the program would inherit the ignored SIGHUP.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		for _, flags := range [][]string{{"--filter-only"}, {}} {
			dir := t.TempDir()
			d := startDaemon(t, dir, append(flags, "--docs", "1k", "--limit", "checkpoint=0")...)
			for i := range 3 {
				d.send(withID("a", i))
				d.answer()
			}
			indextest.Must(t, d.cmd.Process.Signal(sig))
			exits(t, d.cmd, exitInterrupted)
			if known, said := remembered(t, dir, 4, flags...); known != 3 || said != "" {
				t.Errorf("%v, %v: %d documents remembered, want 3; it said %q", sig, flags, known, said)
			}
		}
	}
}

// TestInterruptedPipeIsSpared checks that another run does not replace the output of an interrupted
// pipe. It is the only copy, since the index already knows its documents.
func TestInterruptedPipeIsSpared(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--filter-only"}, {}} {
		dir := t.TempDir()
		args := append([]string{"dedup", "-q", "--docs", "1k", "--limit", "checkpoint=1ms", "--index", "index", "--out", "kept.jsonl.zst", "-"}, flags...)
		run := program(t, dir, args...)
		in, _ := startPiped(t, run)
		give(t, in, withID("a", 0)+"\n")
		partial := filepath.Join(dir, "kept.jsonl.zst"+input.PartialSuffix)
		for info, err := os.Stat(partial); err != nil || info.Size() == 0; info, err = os.Stat(partial) {
			time.Sleep(time.Millisecond)
		}
		indextest.Must(t, run.Process.Signal(os.Interrupt))
		exits(t, run, exitInterrupted)
		kept := filepath.Join(dir, "kept.jsonl.zst")
		before := readFile(t, kept)
		writeFile(t, filepath.Join(dir, "in.jsonl"), documents(3))
		for _, again := range [][]string{args, append([]string{"dedup", "--index", "index", "--out", "kept.jsonl.zst", "in.jsonl"}, flags...)} {
			_, said := runProgram(t, dir, exitFailed, again...)
			if readFile(t, kept) != before || !strings.Contains(said, "name another output, or move it away") {
				t.Errorf("%v: it said %q", flags, said)
			}
		}
		indextest.Must(t, os.Rename(kept, kept+".old"))
		runProgram(t, dir, exitDone, args...)
	}
}

// TestNohup checks that a hangup ignored from the start stays ignored.
func TestNohup(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	d := startDaemon(t, t.TempDir(), "--docs", "1k")
	d.send(withID("a", 1))
	d.answer()
	indextest.Must(t, d.cmd.Process.Signal(syscall.SIGHUP))
	d.send(withID("b", 2))
	if !d.answer().Kept {
		t.Error("the second document is not kept")
	}
	d.end(exitDone)
}

// TestFramedPipe checks that rows, multi-line values and array values are answered as they come.
func TestFramedPipe(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		sent  []string
		want  [][]string
	}{
		"values on many lines": {
			nil,
			[]string{"{\n\"text\":\"one two three\"}\n", "{\n\"text\":\"four\"}"},
			[][]string{{`"one two three","firstseen":{"verdict":"unique"`}, {`"four","firstseen":{"verdict":"unique"`}},
		},
		"array": {
			nil,
			[]string{`[{"text":"one two three"}`, `,{"text":"one two three"}`, `,` + "\n" + `{"text":"four"}]`},
			[][]string{{`"one two three","firstseen":{"verdict":"unique"`}, {`"one two three","firstseen":{"verdict":"duplicate"`}, {`"four","firstseen":{"verdict":"unique"`}},
		},
		"csv": {
			[]string{"--format", "csv"},
			[]string{"id,text\n1,one two three\n", "2,one two three\n", "3,\"four\nfive\"\n"},
			[][]string{{"id,text,firstseen_verdict,firstseen_of,firstseen_score", "1,one two three,unique,,"}, {"2,one two three,duplicate,1,1"}, {`3,"four`, `five",unique,,`}},
		},
		"csv in gbk": {
			[]string{"--format", "csv", "--encoding", "gbk"},
			[]string{gbk("id,text\n1,第一\n"), gbk("2,第一\n")},
			[][]string{{"id,text,firstseen_verdict,firstseen_of,firstseen_score", "1,第一,unique,,"}, {"2,第一,duplicate,1,1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := startDaemon(t, t.TempDir(), append(c.flags, "--docs", "1k")...)
			for i, text := range c.sent {
				give(t, d.in, text)
				for _, want := range c.want[i] {
					if got := d.line(); !strings.Contains(got, want) {
						t.Errorf("answer %q to %q, want %q", got, text, want)
					}
				}
			}
			d.end(exitDone)
		})
	}
}

// TestMarkedPipe checks that pipes may have a byte order mark before arrays and multi-line values.
func TestMarkedPipe(t *testing.T) {
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		for _, c := range []string{
			"[\n{\"text\":\"第一 first\"},{\"text\":\"second\"}]",
			"{\n\"text\":\"第一 first\"}\n{\n\"text\":\"second\"}\n",
			"{\"text\":\"第一 first\"}\n{\"text\":\"second\"}\n",
		} {
			text, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(c)
			indextest.Must(t, err)
			cmd := program(t, t.TempDir(), "read", "-")
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout = strings.NewReader(text), &out
			start(t, cmd)
			exits(t, cmd, exitDone)
			if got := out.String(); !strings.Contains(got, "第一 first") || !strings.Contains(got, "second") {
				t.Errorf("%q: %q", c, got)
			}
		}
	}
}

func gbk(text string) string {
	encoded, err := simplifiedchinese.GBK.NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	return encoded
}
