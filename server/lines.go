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
	"github.com/firstseen/firstseen/internal/apply"
	"github.com/firstseen/firstseen/internal/pipeline"
)

// linesTogether is how many lines of a connection are decided at once, if they have come already.
const linesTogether = 256

// writing is how long a client may take to read an answer.
const writing = time.Minute

// ServeLines answers connections of lines until the listener is closed and the connections have ended:
// one line of JSON in, the same line with its verdict out. After [Service.Drain] a connection ends when
// the lines that have come are answered.
func (s *Service) ServeLines(l net.Listener) error {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		all.Go(func() {
			defer c.Close()
			// Reading ends with the service, and what was read is answered.
			stop := context.AfterFunc(s.draining, func() { _ = c.SetReadDeadline(time.Now()) })
			defer stop()
			_ = s.serveLines(c) // it ends with the connection; an error of the index closes failed
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
		out, err := s.answerLines(parser, apply.Lines(in.Bytes(), next))
		if err == nil {
			err = c.SetWriteDeadline(time.Now().Add(writing))
		}
		if err == nil {
			_, err = c.Write(out)
		}
		if err != nil {
			return err
		}
		next += int64(bytes.Count(in.Bytes(), []byte{'\n'}))
	}
	return in.Err()
}

// wholeLines finds the lines that have come, at most linesTogether. The last line of a connection may lack
// its end, but not when it is the server that ends the connection.
func (s *Service) wholeLines() bufio.SplitFunc {
	searched := 0 // there is no end of a line before
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

// answerLines decides the lines of a block and returns their answers. While others are served, it waits.
func (s *Service) answerLines(p corpus.Parser, b *corpus.Block) (out []byte, err error) {
	var docs []*apply.Step
	var lines []corpus.Document
	for doc := range p.Parse(b) {
		lines = append(lines, *doc)
		if !doc.Empty {
			docs = append(docs, apply.Parsed(doc))
		}
	}
	r := &request{docs: docs}
	s.prepare(r)
	err = s.decide(r)
	for errors.Is(err, apply.ErrBusy) || errors.Is(err, apply.ErrLater) { // the client reads no code to try again
		time.Sleep(10 * time.Millisecond)
		err = s.decide(r)
	}
	if err != nil {
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
