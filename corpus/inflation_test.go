package corpus

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/compress"
)

// TestInflation checks that the bodies of an input may expand to a GiB, or to maxRatio times its
// stored bytes. Inputs are counted separately.
func TestInflation(t *testing.T) {
	block := func(input int, inflated, stored int64, most int) *Block {
		return &Block{Input: input, File: "x.warc.gz", Inflated: inflated, stored: stored, maxRatio: most}
	}
	for name, c := range map[string]struct {
		blocks []*Block
		fails  bool
	}{
		"nothing":               {[]*Block{block(0, 0, 0, 1000)}, false},
		"a GiB":                 {[]*Block{block(0, 1<<29, 1, 1000), block(0, 1<<29, 1, 1000)}, false},
		"more":                  {[]*Block{block(0, 1<<29, 1, 1000), block(0, 1<<29, 1, 1000), block(0, 1, 1, 1000)}, true},
		"more, of enough":       {[]*Block{block(0, 1<<29, 2<<20, 1000), block(0, 1<<30, 2<<20, 1000)}, false},
		"more, of any ratio":    {[]*Block{block(0, 1<<40, 1, -1)}, false},
		"a GiB of two inputs":   {[]*Block{block(0, 1<<30, 1, 1000), block(1, 1<<30, 1, 1000)}, false},
		"more, of the second":   {[]*Block{block(0, 1<<30, 1, 1000), block(1, 1<<30+1, 1, 1000)}, true},
		"more, by a ratio of 1": {[]*Block{block(0, 1<<31, 1<<30, 1)}, true},
	} {
		var n Inflation
		var err error
		for _, b := range c.blocks {
			err = errors.Join(err, n.Add(b))
		}
		if errors.Is(err, compress.ErrRatio) != c.fails || c.fails && !strings.Contains(err.Error(), "reading x.warc.gz: the bodies of its records: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
