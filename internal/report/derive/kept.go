package derive

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/internal/report/lines"
)

// Kept writes the names of the kept files of inputs, or of the removed ones. Each file has one
// document or none. It calls check with each record, which reports whether it is good.
func Kept(ctx context.Context, source *corpus.Source, inputs []input.Input, all *lines.Reports, removed bool, names io.Writer, check func(corpus.Record, error) (bool, error)) error {
	// A file given twice, also by its folder, is its own copy: it is removed if removed each time.
	given := map[string]int{}
	for _, in := range inputs {
		given[filepath.Clean(in.Path)]++
	}
	for r, err := range Records(ctx, source, all) {
		good, err := check(r.Record, err)
		if err != nil {
			return err
		}
		if !good || removed != (r.Line != nil && !r.Line.Kept) {
			continue
		}
		path := inputs[r.Block.Input].Path
		file := filepath.Clean(path)
		if given[file]--; removed && given[file] > 0 {
			continue
		}
		if strings.Contains(path, "\n") {
			return fmt.Errorf("the list has one name a line, and %q contains a line break: rename that file and run firstseen dedup again", path)
		}
		if _, err := fmt.Fprintln(names, path); err != nil {
			return err
		}
	}
	return nil
}
