package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// batchBytes returns the size of a filled batch.
func batchBytes(b *block) int64 {
	size := int64(len(b.source.Data)) + int64(len(b.features))*int64(unsafe.Sizeof(feature.Feature{})) +
		int64(len(b.records))*int64(unsafe.Sizeof(record{}))
	for i := range b.records {
		r := &b.records[i]
		size += int64(len(r.Text))
		if r.Bad != nil {
			size += int64(unsafe.Sizeof(*r.Bad)) + int64(len(r.Bad.Reason))
		}
	}
	return size
}

// TestWeight checks that a batch's weight, known before parsing, bounds its size afterwards.
func TestWeight(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	text := func(unit string, n int) string {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, unit, i+'a')
		}
		return b.String()
	}
	for name, line := range map[string]string{
		"ordinary": `{"text":"` + text("The sentence %d is as long as most sentences are in English. ", 40) + "\"}\n",
		"dense":    `{"text":"` + text("%010d.", 60) + "\"}\n",
		"wide":     `{"text":"` + text("%c\uFDFA.", 26) + "\"}\n",
		"long":     `{"text":"\n` + text("A sentence with the number %d.", 70_000) + "\"}\n",
		"tiny":     "{\"text\":\"a\"}\n",
		"bad":      "x\n",
		"blank":    "\n",
	} {
		for _, workers := range []int{1, 64} {
			in := []input.Input{{Path: input.Stdin, Name: "in"}}
			job := Job{Workers: workers, Source: corpus.NewSource(in, jsonl.Format{}, corpus.SourceConfig{Stdin: strings.NewReader(strings.Repeat(line, 1+1<<20/len(line)))})}
			p := newPipeline(&job, nil)
			if n := cap(p.free); n*p.size > bufferBytes {
				t.Errorf("%d batches of %d bytes", n, p.size)
			}
			if err := checkWeights(p); err != nil {
				t.Errorf("%s, %d workers: %v", name, workers, err)
			}
		}
	}
}

func checkWeights(p *pipeline) error {
	w := <-p.workers
	for {
		b := <-p.free
		p.held = 0
		if err := p.job.Source.Next(context.Background(), &b.source); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		weight := p.weigh(b)
		if err := p.settle(context.Background(), weight); err != nil {
			return err
		}
		if p.held != min(weight, inFlightBytes) {
			return fmt.Errorf("%d bytes are held, the weight is %d", p.held, weight)
		}
		b.weight = p.held
		if err := w.fill(b); err != nil {
			return err
		}
		if got := batchBytes(b); got > weight {
			return fmt.Errorf("a batch holds %d bytes and was taken for %d", got, weight)
		}
		p.giveBack(b)
	}
}

// TestAlone checks that a line that takes all memory in flight waits until nothing else does.
func TestAlone(t *testing.T) {
	long := strings.Repeat("a", inFlightBytes/2)
	in := []input.Input{{Path: input.Stdin, Name: "in"}}
	job := Job{Workers: 1, Source: corpus.NewSource(in, jsonl.Format{}, corpus.SourceConfig{Stdin: strings.NewReader("{}\n" + long + "\n")})}
	p := newPipeline(&job, nil)
	go p.read(t.Context())
	first := <-p.order
	for range cap(p.free) - 2 {
		<-p.free // all but the one being filled
	}
	if len(p.order) != 0 || p.inFlight.TryAcquire(inFlightBytes) {
		t.Error("the long line did not wait")
	}
	indextest.Must(t, <-first.done)
	p.giveBack(first)
	second := <-p.order
	if !second.source.Long() || second.weight != inFlightBytes || p.inFlight.TryAcquire(1) {
		t.Errorf("it holds %d bytes", second.weight)
	}
	indextest.Must(t, <-second.done)
	p.giveBack(second)
	if b := <-p.order; b != nil || p.readErr != nil {
		t.Errorf("then came %v, %v", b, p.readErr)
	}
}
