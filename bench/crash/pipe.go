package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firstseen/firstseen/bench/texts"
)

// The workloads of a stream: a feeder sends documents down a pipe and reads an answer to each.
// After a kill it restarts the program and resends unanswered documents. In pipe-reader the reader
// of the answers dies with the program, so answers already given are lost.
const (
	pipeTable      = "pipe"
	pipeFilterOnly = "pipe-filter-only"
	pipeReader     = "pipe-reader"
)

var pipeWorkloads = []*workload{{name: pipeTable}, {name: pipeFilterOnly, filterOnly: true}, {name: pipeReader}}

const (
	streamDocs = 240
	// saveEvery is the interval at which the program saves by time, if it can. saveSlack is the
	// maximum delay on a busy machine.
	saveEvery = 200 * time.Millisecond
	saveSlack = time.Second
	// saveBytes is the number of bytes of lines after which it saves at the latest, with a table.
	saveBytes = 30 << 10
)

// A message is a document on its way: a text under an ID.
type message struct {
	id   string
	text int
}

// answered is a line of output.
type answered struct {
	ID        any `json:"id"`
	Firstseen struct {
		Kept  bool `json:"kept"`
		Again bool `json:"again"`
	} `json:"firstseen"`
}

// feeder is the other side of the pipe.
type feeder struct {
	*killing
	record  *record
	texts   *texts.Maker
	queue   []message // unanswered, in order
	abandon bool
	pace    time.Duration // maximum between documents
	window  int           // maximum number of unanswered documents
}

func (k *killing) pipe(ctx context.Context) []string {
	f := &feeder{killing: k, texts: texts.New(k.rng.Uint64()), window: 1 + k.rng.IntN(16)}
	f.record = newRecord(true, !k.filterOnly)
	f.pace = time.Duration(k.rng.Int64N(int64(20 * time.Millisecond)))
	f.fillQueue()
	kills := 1 + k.rng.IntN(4)
	for attempt := 0; len(f.queue) > 0; attempt++ {
		if ctx.Err() != nil {
			return nil
		}
		if difference := f.session(ctx, attempt < kills); difference != "" {
			return []string{difference}
		}
	}
	f.askAll(ctx)
	k.ledger.count("answers", f.record.answers)
	k.ledger.count("kept again, the first time forgotten", f.record.again)
	return f.record.differences
}

// fillQueue makes the stream: new texts and, for a third, exact copies.
func (f *feeder) fillQueue() {
	for i := range streamDocs {
		text := len(f.texts.Made)
		if i > 10 && f.rng.IntN(3) == 0 {
			text = f.rng.IntN(text)
		} else {
			f.texts.Unique()
		}
		f.queue = append(f.queue, message{strconv.Itoa(i), text})
	}
	f.record.texts = make([]history, len(f.texts.Made))
}

func (f *feeder) args() []string {
	args := []string{"dedup", "-q", "--index", indexDir, "--annotate", "--out", "-", "--memory", "4MiB"}
	switch {
	case f.filterOnly:
		args = append(args, "--filter-only")
	default:
		args = append(args, "--memtable-keys=1500", "--checkpoint-bytes="+strconv.Itoa(saveBytes))
	}
	args = append(args, "--limit=checkpoint="+saveEvery.String())
	return append(args, "-")
}

// A session is one life of the program.
type session struct {
	*feeder
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan answered
	sent    int // messages of the queue
	bytes   int // of lines answered
	ended   chan struct{}
}

// session runs the program until the queue is empty or it is killed.
func (f *feeder) session(ctx context.Context, kill bool) (difference string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s := &session{feeder: f, cmd: f.program.command(ctx, f.dir, f.args()...), answers: make(chan answered), ended: make(chan struct{})}
	if err := s.start(); err != nil {
		return err.Error()
	}
	killAt := len(f.queue) + 1
	if kill {
		killAt = f.rng.IntN(len(f.queue) + 1)
	}
	f.record.begin()
	by, sent := s.feed(killAt)
	// The program's last output is still in the pipe. A killed one does not see the end of
	// its input, which would be an order to end.
	if by == nil {
		_ = s.in.Close() // fails only if it has ended
	}
	s.drain(by != nil && f.name == pipeReader)
	err := s.cmd.Wait()
	code := s.cmd.ProcessState.ExitCode()
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("no end after %v: %s", patience, said(s.cmd))
	case isOurFault(said(s.cmd)):
		return "it panicked: " + said(s.cmd)
	case by == nil && code == 1 && !f.abandon && strings.Contains(said(s.cmd), "index abandon"):
		f.abandon = true
		if code, stderr := f.program.run(ctx, f.dir, "index", "abandon", indexDir); code != done {
			return fmt.Sprintf("abandoning the run ends with code %d: %s", code, stderr)
		}
		return ""
	case by != nil && wasKilled(s.cmd):
		return s.killed(by, sent, code)
	case code != done && code != bad || len(f.queue) > 0:
		return fmt.Sprintf("%q: %v, %d documents not answered: %s", s.cmd.Args[1:], err, len(f.queue), said(s.cmd))
	}
	f.abandon = false
	return ""
}

func (s *session) start() error {
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(s.answers)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var a answered
			// The last line of a killed program may be torn.
			if json.Unmarshal(lines.Bytes(), &a) == nil {
				s.answers <- a
			}
		}
	}()
	return nil
}

// feed sends and reads until everything is answered, the program ends, or the time to kill comes.
// It then returns the signals it killed with.
func (s *session) feed(killAt int) (by *signals, sent time.Time) {
	for got := 0; len(s.queue) > 0; {
		if got >= killAt {
			return s.kill()
		}
		if s.sent < min(len(s.queue), s.window) {
			if s.send() != nil {
				return nil, time.Time{} // it has ended
			}
			continue
		}
		a, ok := <-s.answers
		if !ok {
			return nil, time.Time{}
		}
		if s.take(a) {
			got++
		}
	}
	return nil, time.Time{}
}

// send sends the next document of the queue, sometimes after a bad line.
func (s *session) send() error {
	if s.pace > 0 {
		time.Sleep(time.Duration(s.rng.Int64N(int64(s.pace))))
	}
	text := ""
	if s.rng.IntN(40) == 0 {
		text = "{\"id\":\n"
	}
	m := s.queue[s.sent]
	s.sent++
	_, err := io.WriteString(s.in, text+s.line(m))
	return err
}

func (s *session) line(m message) string {
	return texts.Line(m.id, s.texts.Made[m.text])
}

// take records an answer, unless it is to a bad line.
func (s *session) take(a answered) bool {
	for i, m := range s.queue[:s.sent] {
		if a.ID == m.id {
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
			s.sent--
			s.bytes += len(s.line(m))
			s.record.answer(m, a.Firstseen.Kept, a.Firstseen.Again, s.bytes)
			return true
		}
	}
	return false
}

// kill waits a moment, in which documents sent may be decided, and kills.
func (s *session) kill() (*signals, time.Time) {
	for range s.rng.IntN(s.window + 1) {
		if s.sent < len(s.queue) && s.send() != nil {
			break
		}
	}
	time.Sleep(time.Duration(s.rng.Int64N(int64(3 * time.Millisecond))))
	by, now := s.signals(), time.Now()
	s.history = append(s.history, fmt.Sprintf("%d not answered%s", len(s.queue), by.send(s.cmd.Process, true, s.ended)))
	return by, now
}

// drain reads the answers left in the pipe, or discards them.
func (s *session) drain(lose bool) {
	for a := range s.answers {
		if !lose {
			s.take(a)
		}
	}
}

// killed records a kill. An orderly end by a signal forgets nothing.
func (s *session) killed(by *signals, sent time.Time, code int) string {
	s.sent, s.abandon = 0, false
	switch {
	case code == exitInterrupted:
		s.ledger.arrive("orderly end")
		return ""
	case s.bytes == 0:
		s.ledger.arrive("before the first answer")
	default:
		s.ledger.arrive("in the stream")
	}
	s.record.killed(sent, s.bytes)
	if len(by.list) == 1 && by.list[0] != syscall.SIGKILL && s.bytes > 0 {
		return fmt.Sprintf("%v ended it at once, as a kill does: a pipe cannot be read again", by.list[0])
	}
	return ""
}

// askAll sends every text once more under another id, after an orderly end.
func (f *feeder) askAll(ctx context.Context) {
	if len(f.record.differences) > 0 {
		return
	}
	for text := range f.texts.Made {
		f.queue = append(f.queue, message{"again " + strconv.Itoa(text), text})
	}
	if difference := f.session(ctx, false); difference != "" {
		f.record.differences = append(f.record.differences, difference)
	}
	f.record.checkLost()
}
