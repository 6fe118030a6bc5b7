// Package forget takes documents back from an index, and names each.
package forget

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/lexical"
	"github.com/firstseen/firstseen/internal/base/visible"
)

// forgotten is the line about an id. The JSON form is a contract.
type forgotten struct {
	ID        string `json:"id"`
	Forgotten int    `json:"forgotten"` // number of documents of this id
}

// removedFor is the line about a removed copy of a forgotten document. The JSON form is a contract.
type removedFor struct {
	Removed string `json:"removed"`         // id of the copy
	Batch   string `json:"batch,omitempty"` // batch of the copy
	Of      string `json:"of"`              // id of the cancelled document
}

// cancelled is the line about a forgotten batch. The JSON form is a contract.
type cancelled struct {
	Cancelled string `json:"cancelled"` // the batch
	Documents int    `json:"documents"` // number of documents taken back
}

// Asked says what to take back.
type Asked struct {
	IDs   []string
	List  io.Reader // further ids, one a line; nil for none
	Name  string    // of the list
	Batch string    // with its documents; "" for none
}

// Run takes documents back, and writes a line about each id. The lines come when all is durable, unless
// they are many. It returns the number of ids without documents.
func Run(ctx context.Context, edit *index.Editor, asked Asked, to io.Writer) (none int, err error) {
	buffer := bufio.NewWriter(to)
	out := visible.NewEncoder(buffer)
	for id, err := range asked.ids() {
		n := 0
		if err = cmp.Or(err, ctx.Err()); err == nil {
			n, err = edit.Forget(id)
		}
		if err == nil {
			err = out.Encode(forgotten{id, n})
		}
		if err != nil {
			return none, err
		}
		if n == 0 {
			none++
		}
	}
	if asked.Batch != "" {
		if err := cancel(ctx, edit, asked.Batch, buffer, out); err != nil {
			return none, err
		}
	}
	if err := edit.Save(); err != nil {
		return none, err
	}
	return none, buffer.Flush()
}

// maxID is the size of the longest line in a list of ids, in bytes.
const maxID = 1 << 20

// ids yields the ids, and those of the list.
func (a *Asked) ids() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range a.IDs {
			if !yield(id, nil) {
				return
			}
		}
		if a.List == nil {
			return
		}
		lines := bufio.NewScanner(a.List)
		lines.Buffer(nil, maxID)
		mark := lexical.ByteOrderMark // on the first line, as Windows editors write it
		for ; lines.Scan(); mark = "" {
			if id := strings.TrimRight(strings.TrimPrefix(lines.Text(), mark), "\r"); id != "" && !yield(id, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield("", fmt.Errorf("reading the ids: %s has a line of more than %d bytes", a.Name, maxID))
		case err != nil:
			yield("", fmt.Errorf("reading the ids: %w", err))
		}
	}
}

// cancel forgets a batch. It writes the list before it takes anything back, so a user stopped in
// between has the list and repeats the command.
func cancel(ctx context.Context, edit *index.Editor, batch string, buffer *bufio.Writer, out *json.Encoder) error {
	err := edit.Save()
	if err == nil {
		err = edit.Dependents(batch, func(v index.Dependent) error {
			return errors.Join(ctx.Err(), out.Encode(removedFor{v.ID, v.Batch, v.Of}))
		})
	}
	if err == nil {
		err = buffer.Flush()
	}
	n := 0
	if err == nil {
		n, err = edit.Cancel(batch)
	}
	switch {
	case errors.Is(err, index.ErrNoBatch):
		return fmt.Errorf("%w; firstseen index batches lists the existing ones", err)
	case err != nil:
		return err
	}
	return out.Encode(cancelled{batch, n})
}
