package ask

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/visible"
)

// OpenTable opens an index for reading, and requires a side table. lacks says what there is not without.
func OpenTable(dir, lacks string) (*index.Files, error) {
	files, err := index.OpenFiles(dir)
	if err == nil && files.Table == nil {
		err = errors.Join(fmt.Errorf("index %s: an index without a side table %s", dir, lacks), files.Close())
	}
	return files, err
}

// Dump writes the documents, keys, runs or batches of an index as lines of JSON.
func Dump(ctx context.Context, files *index.Files, what string, to io.Writer) (err error) {
	buffer := bufio.NewWriterSize(to, 64<<10)
	out := visible.NewEncoder(buffer)
	switch what {
	case "keys":
		err = dump(ctx, out, files.Keys())
	case "runs":
		err = encodeAll(out, files.Table.Runs())
	case "batches":
		err = encodeAll(out, files.Table.Batches())
	default:
		err = dump(ctx, out, files.Documents())
	}
	return cmp.Or(err, buffer.Flush())
}

func dump[T any](ctx context.Context, out *json.Encoder, lines iter.Seq2[T, error]) error {
	for line, err := range lines {
		if err = cmp.Or(err, ctx.Err()); err == nil {
			err = out.Encode(line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func encodeAll[T any](out *json.Encoder, values []T) error {
	for _, v := range values {
		if err := out.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
