package pipeline

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// longLines returns n different documents of about 15 KB.
func longLines(n int) string {
	var b strings.Builder
	for i := range n {
		var text strings.Builder
		for part := 0; text.Len() < 15_000; part++ {
			text.WriteString(indextest.Sentences(1000*i + part))
		}
		fmt.Fprintf(&b, "{\"id\":\"%d\",\"text\":%q}\n", i, text.String())
	}
	return b.String()
}

// TestManyWorkersDecideTogether checks that long documents are decided in groups, however many
// workers share the memory, and so small the blocks are.
func TestManyWorkersDecideTogether(t *testing.T) {
	t.Parallel()
	const documents = 2000
	lines := longLines(documents)
	for _, workers := range []int{16, 64} {
		job := Job{Workers: workers, MaxBad: -1, Source: sourceOf(lines)}
		x := opened(t, t.TempDir()+"/index", index.Options{})
		job.Scheme = x.Scheme()
		var c *committer
		together := 0
		job.Each = func(string, *dedup.Result, dedup.Counts) error {
			if len(c.decision.results) >= leastGroup {
				together++
			}
			return nil
		}
		c, err := newCommitter(x, &job)
		indextest.Must(t, err)
		indextest.Must(t, newPipeline(&job, c).run(t.Context()))
		if c.tally.Documents != documents || together < documents*9/10 {
			t.Errorf("%d workers: of %d documents, %d were decided together", workers, c.tally.Documents, together)
		}
	}
}

// TestJoinEnds checks which blocks are decided apart from those before them, and that they come next.
func TestJoinEnds(t *testing.T) {
	for name, prepare := range map[string]func(p *pipeline, b *block) error{
		"a block that waits for memory":     func(*pipeline, *block) error { return errStarved },
		"a block that failed":               func(*pipeline, *block) error { return io.ErrNoProgress },
		"a block with an output of its own": func(p *pipeline, _ *block) error { p.committer.out.Tree = new(output.Tree); return nil },
		"a block that begins with a head":   func(_ *pipeline, b *block) error { b.source.Frames = struct{ corpus.Frames }{}; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			job := Job{Workers: 64, Source: sourceOf("")}
			p := newPipeline(&job, &committer{out: new(Outputs)})
			ended := 0
			var blocks []*block
			for input := range 3 { // the first two are of one input
				b := &block{done: make(chan error, 2), isNext: func() { ended++ }, records: make([]record, 2)}
				b.source.Input = max(input-1, 0)
				blocks = append(blocks, b)
			}
			blocks[1].done <- nil
			err := prepare(p, blocks[2])
			blocks[2].done <- err
			p.order <- blocks[1]
			p.order <- blocks[2]
			p.join(t.Context(), blocks[0])
			if len(blocks[0].records) != 4 || len(blocks[0].joined) != 1 || ended != 1 {
				t.Errorf("%d blocks are joined, with %d records", len(blocks[0].joined), len(blocks[0].records))
			}
			if err == errStarved {
				blocks[2].done <- nil
				err = nil
			}
			if b, gotErr := p.next(t.Context()); b != blocks[2] || gotErr != err || ended != 2 {
				t.Errorf("then came %p, %v", b, gotErr)
			}
		})
	}
}

// TestJoinLeavesBlocks checks that the others keep half of the blocks.
func TestJoinLeavesBlocks(t *testing.T) {
	job := Job{Workers: 64, Source: sourceOf("")}
	p := newPipeline(&job, &committer{out: new(Outputs)})
	for range cap(p.order) {
		b := &block{done: make(chan error, 2), isNext: func() {}, records: make([]record, 1)}
		b.done <- nil
		p.order <- b
	}
	first := &block{records: make([]record, 1)}
	p.join(t.Context(), first)
	if n := len(first.joined) + 1; n != 32 {
		t.Errorf("%d blocks are decided together", n)
	}
}
