package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/visible"
)

type forgetting struct {
	from, batch string
}

// forgotten is firstseen forget's line about an id. The JSON form is a contract.
type forgotten struct {
	ID        string `json:"id"`
	Forgotten int    `json:"forgotten"` // documents of this id; 0 if there were none
}

// removedFor is the line about a document removed for the sake of one in the forgotten batch.
// The JSON form is a contract.
type removedFor struct {
	Removed string `json:"removed"`         // its id
	Batch   string `json:"batch,omitempty"` // it came with
	Of      string `json:"of"`              // id of the cancelled document
}

// cancelled is the line about a forgotten batch. The JSON form is a contract.
type cancelled struct {
	Cancelled string `json:"cancelled"` // the batch
	Documents int    `json:"documents"` // taken back
}

func newForgetCommand() *cobra.Command {
	var f forgetting
	cmd := onIndex("index-forget", nil, f.run)
	fs := cmd.Flags()
	fs.StringVar(&f.from, "from", "", "forget the ids in this file too, one a line; - is standard input")
	fs.StringVar(&f.batch, "batch", "", "forget all documents of this batch, and its name; list first the documents removed for its sake")
	return cmd
}

func (f *forgetting) run(cmd *cobra.Command, dir string, ids []string) (err error) {
	if len(ids) == 0 && f.from == "" && f.batch == "" {
		return usageError{errors.New("forget: give ids of documents, --from FILE or --batch NAME")}
	}
	e, err := index.Edit(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	w := &forgetter{cmd: cmd, edit: e, buffer: bufio.NewWriter(cmd.OutOrStdout())}
	w.out = visible.NewEncoder(w.buffer)
	for _, id := range ids {
		if err := w.forget(id); err != nil {
			return err
		}
	}
	if f.from != "" {
		err = w.from(f.from)
	}
	if err == nil && f.batch != "" {
		err = w.batch(f.batch)
	}
	if err == nil {
		err = e.Save()
	}
	if err != nil {
		return err
	}
	if w.none > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d of the ids are not in the index\n", w.none)
	}
	return w.buffer.Flush()
}

// newCancelCommand is the earlier name of forget --batch.
func newCancelCommand() *cobra.Command {
	cmd := onIndex("index-forget", cobra.ExactArgs(1), func(cmd *cobra.Command, dir string, args []string) error {
		f := forgetting{batch: args[0]}
		return f.run(cmd, dir, nil)
	})
	cmd.Use = "cancel DIR NAME"
	return cmd
}

// A forgetter takes documents back and names them. It prints its lines when all is durable, unless
// they are many.
type forgetter struct {
	cmd    *cobra.Command
	edit   *index.Editor
	buffer *bufio.Writer
	out    *json.Encoder
	none   int // ids without any document
}

func (w *forgetter) forget(id string) error {
	if err := w.cmd.Context().Err(); err != nil {
		return err
	}
	n, err := w.edit.Forget(id)
	if err != nil {
		return err
	}
	if n == 0 {
		w.none++
	}
	return w.out.Encode(forgotten{id, n})
}

// maxID is the longest line of a file of ids, in bytes.
const maxID = 1 << 20

func (w *forgetter) from(path string) (err error) {
	r := w.cmd.InOrStdin()
	if path != input.Stdin {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("reading the ids: %w", err)
		}
		defer file.Close() // it is only read
		r = file
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxID)
	for lines.Scan() {
		if id := strings.TrimRight(lines.Text(), "\r"); id != "" {
			if err := w.forget(id); err != nil {
				return err
			}
		}
	}
	err = lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("reading the ids: %s has a line of more than %d bytes", path, maxID)
	case err != nil:
		return fmt.Errorf("reading the ids: %w", err)
	}
	return nil
}

// batch forgets a batch. It writes the list before it takes anything back: a user stopped in
// between has the list and repeats the command.
func (w *forgetter) batch(name string) error {
	if err := w.edit.Save(); err != nil {
		return err
	}
	err := w.edit.Dependents(name, func(v index.Dependent) error {
		return errors.Join(w.cmd.Context().Err(), w.out.Encode(removedFor{v.ID, v.Batch, v.Of}))
	})
	if err == nil {
		err = w.buffer.Flush()
	}
	if err != nil {
		return noBatch(err)
	}
	n, err := w.edit.Cancel(name)
	if err != nil {
		return noBatch(err)
	}
	return w.out.Encode(cancelled{name, n})
}

// noBatch adds the remedy if there is no such batch.
func noBatch(err error) error {
	if errors.Is(err, index.ErrNoBatch) {
		return fmt.Errorf("%w; firstseen index batches lists those there are", err)
	}
	return err
}
