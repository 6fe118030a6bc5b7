package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/base/lexical"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// linesTogether bounds the lines of a connection that are decided at once, if they have arrived.
const linesTogether = 256

// parting is the time limit for a client to read its answers once the service ends. Until then it
// may pause.
const parting = time.Minute

// ServeLines serves connections of lines: one line of JSON in, the same line with its verdict out.
// It returns when the listener is closed and all connections have ended. After [Service.Drain], a
// connection ends when the lines that have arrived are answered.
func (s *Service) ServeLines(l net.Listener) error {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := l.Accept()
		var passing interface{ Temporary() bool } // such as too many open files
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case errors.As(err, &passing) && passing.Temporary():
			time.Sleep(10 * time.Millisecond)
			continue
		case err != nil:
			return err
		}
		all.Go(func() {
			defer c.Close()
			// Draining ends the reading, and the lines read are answered.
			stop := context.AfterFunc(s.draining, func() {
				_ = errors.Join(c.SetReadDeadline(time.Now()), c.SetWriteDeadline(time.Now().Add(parting)))
			})
			defer stop()
			_ = s.serveLines(c) // an error ends the connection; one of the index closes Failed
		})
	}
}

func (s *Service) serveLines(c net.Conn) error {
	parser, err := jsonl.Format{Fields: s.cfg.Fields}.NewParser(pipeline.AnnotationField)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(c)
	in.Buffer(make([]byte, min(64<<10, s.cfg.MaxBody)), int(s.cfg.MaxBody))
	in.Split(s.wholeLines())
	for next := int64(1); in.Scan(); {
		lines := in.Bytes()
		if next == 1 {
			lines = bytes.TrimPrefix(lines, []byte(lexical.ByteOrderMark))
		}
		out, err := s.answerLines(parser, apply.Lines(lines, next))
		if err == nil {
			_, err = c.Write(out)
		}
		if err != nil {
			return err
		}
		next += int64(bytes.Count(lines, []byte{'\n'}))
	}
	return in.Err()
}

// wholeLines splits off the lines that have arrived, at most linesTogether. The last line may lack
// its end, unless the server ends the connection.
func (s *Service) wholeLines() bufio.SplitFunc {
	searched := 0 // no line ends before this
	return func(data []byte, atEnd bool) (size int, lines []byte, err error) {
		for range linesTogether {
			from := max(size, searched)
			i := bytes.IndexByte(data[from:], '\n')
			if i < 0 {
				break
			}
			size = from + i + 1
		}
		if size == 0 && atEnd && s.draining.Err() == nil {
			size = len(data)
		}
		if searched = 0; size == 0 {
			searched = len(data)
			return 0, nil, nil
		}
		return size, data[:size], nil
	}
}

func (s *Service) answerLines(p corpus.Parser, b *corpus.Block) (out []byte, err error) {
	var docs []*apply.Step
	var lines []corpus.Document
	for doc := range p.Parse(b) {
		lines = append(lines, *doc)
		if !doc.Empty {
			docs = append(docs, apply.Parsed(doc))
		}
	}
	if err := s.seePatiently(docs); err != nil {
		return nil, err
	}
	for _, line := range lines {
		if line.Empty {
			out = append(out, '\n')
			continue
		}
		doc := docs[0]
		if docs = docs[1:]; doc.Kind == 0 {
			out = fmt.Appendf(out, "{%q:%s}\n", pipeline.AnnotationField, doc.Answer)
		} else {
			before, after := line.Raw[:line.Slot.At], line.Raw[line.Slot.At:]
			out = fmt.Appendf(out, "%s%s%s%s\n", before, line.Slot.Lead, doc.Answer, after)
		}
	}
	return out, nil
}

// seePatiently decides documents for a connection, whose client gets no status to retry on. It
// waits while other requests are served, or the log is unreachable.
func (s *Service) seePatiently(docs []*apply.Step) error {
	r := &request{docs: docs}
	s.prepare(r)
	for {
		err := s.decide(r)
		later := errors.Is(err, apply.ErrLater) && s.draining.Err() == nil // a log may be away for days
		if !later && !errors.Is(err, apply.ErrBusy) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
