package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/lexical"
	"github.com/firstseen/firstseen/internal/base/visible"
)

// forgotten is firstseen forget's line about an id. The JSON form is a contract.
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

// newForgetCommand returns a command that takes documents back and names them: when all is durable,
// unless they are many.
func newForgetCommand() *cobra.Command {
	file, batch := "", ""
	cmd := onIndex("index-forget", nil, func(cmd *cobra.Command, dir string, ids []string) (err error) {
		if len(ids) == 0 && file == "" && batch == "" {
			return usageError{errors.New("forget: give ids of documents, --from FILE or --batch NAME")}
		}
		edit, err := index.Edit(dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, edit.Close()) }()
		buffer := bufio.NewWriter(cmd.OutOrStdout())
		out, none := visible.NewEncoder(buffer), 0
		forget := func(id string) error {
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			n, err := edit.Forget(id)
			if err != nil {
				return err
			}
			if n == 0 {
				none++
			}
			return out.Encode(forgotten{id, n})
		}
		for _, id := range ids {
			if err := forget(id); err != nil {
				return err
			}
		}
		err = listed(cmd.InOrStdin(), file, forget)
		if err == nil && batch != "" {
			err = cancel(cmd.Context(), edit, batch, buffer, out)
		}
		if err == nil {
			err = edit.Save()
		}
		if err != nil {
			return err
		}
		if none > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d of the ids are not in the index\n", none)
		}
		return buffer.Flush()
	})
	fs := cmd.Flags()
	fs.StringVar(&file, "from", "", "forget the ids in this file too, one a line; - is standard input")
	fs.StringVar(&batch, "batch", "", "forget all documents of this batch, and its name; first list the documents removed because of it")
	return cmd
}

// maxID is the size of the longest line in a file of ids, in bytes.
const maxID = 1 << 20

// listed forgets the ids of a file, if there is one.
func listed(r io.Reader, name string, forget func(id string) error) error {
	switch name {
	case "":
		return nil
	case input.Stdin:
	default:
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("reading the ids: %w", err)
		}
		defer file.Close() // it is only read
		r = file
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxID)
	mark := lexical.ByteOrderMark // on the first line, as Windows editors write it
	for ; lines.Scan(); mark = "" {
		if id := strings.TrimRight(strings.TrimPrefix(lines.Text(), mark), "\r"); id != "" {
			if err := forget(id); err != nil {
				return err
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("reading the ids: %s has a line of more than %d bytes", name, maxID)
	case err != nil:
		return fmt.Errorf("reading the ids: %w", err)
	}
	return nil
}

// cancel forgets a batch. It writes the list before it takes anything back, so a user stopped in
// between has the list and repeats the command.
func cancel(ctx context.Context, edit *index.Editor, batch string, buffer *bufio.Writer, out *json.Encoder) error {
	list := func() error {
		return edit.Dependents(batch, func(v index.Dependent) error {
			return errors.Join(ctx.Err(), out.Encode(removedFor{v.ID, v.Batch, v.Of}))
		})
	}
	err := inTurn(edit.Save, list, buffer.Flush, func() error {
		n, err := edit.Cancel(batch)
		if err == nil {
			err = out.Encode(cancelled{batch, n})
		}
		return err
	})
	if errors.Is(err, index.ErrNoBatch) {
		err = fmt.Errorf("%w; firstseen index batches lists the existing ones", err)
	}
	return err
}
