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
	"github.com/firstseen/firstseen/internal/base/lexical"
	"github.com/firstseen/firstseen/internal/base/visible"
)

// forgetting takes documents back and names them: when all is durable, unless they are many.
type forgetting struct {
	file, name string // flags: file of ids, and name of a batch
	cmd        *cobra.Command
	edit       *index.Editor
	buffer     *bufio.Writer
	out        *json.Encoder
	none       int // number of ids without documents
}

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

func newForgetCommand() *cobra.Command {
	var f forgetting
	cmd := onIndex("index-forget", nil, f.run)
	fs := cmd.Flags()
	fs.StringVar(&f.file, "from", "", "forget the ids in this file too, one a line; - is standard input")
	fs.StringVar(&f.name, "batch", "", "forget all documents of this batch, and its name; first list the documents removed because of it")
	return cmd
}

func (f *forgetting) run(cmd *cobra.Command, dir string, ids []string) (err error) {
	if len(ids) == 0 && f.file == "" && f.name == "" {
		return usageError{errors.New("forget: give ids of documents, --from FILE or --batch NAME")}
	}
	if f.edit, err = index.Edit(dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.edit.Close()) }()
	f.cmd, f.buffer = cmd, bufio.NewWriter(cmd.OutOrStdout())
	f.out = visible.NewEncoder(f.buffer)
	for _, id := range ids {
		if err := f.forget(id); err != nil {
			return err
		}
	}
	if err := inTurn(f.listed, f.batch, f.edit.Save); err != nil {
		return err
	}
	if f.none > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d of the ids are not in the index\n", f.none)
	}
	return f.buffer.Flush()
}

func (f *forgetting) forget(id string) error {
	if err := f.cmd.Context().Err(); err != nil {
		return err
	}
	n, err := f.edit.Forget(id)
	if err != nil {
		return err
	}
	if n == 0 {
		f.none++
	}
	return f.out.Encode(forgotten{id, n})
}

// maxID is the size of the longest line in a file of ids, in bytes.
const maxID = 1 << 20

// listed forgets the ids of a file, if there is one.
func (f *forgetting) listed() error {
	r := f.cmd.InOrStdin()
	switch f.file {
	case "":
		return nil
	case input.Stdin:
	default:
		file, err := os.Open(f.file)
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
			if err := f.forget(id); err != nil {
				return err
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("reading the ids: %s has a line of more than %d bytes", f.file, maxID)
	case err != nil:
		return fmt.Errorf("reading the ids: %w", err)
	}
	return nil
}

// batch forgets a batch, if one is named. It writes the list before it takes anything back, so a
// user stopped in between has the list and repeats the command.
func (f *forgetting) batch() error {
	if f.name == "" {
		return nil
	}
	list := func() error {
		return f.edit.Dependents(f.name, func(v index.Dependent) error {
			return errors.Join(f.cmd.Context().Err(), f.out.Encode(removedFor{v.ID, v.Batch, v.Of}))
		})
	}
	err := inTurn(f.edit.Save, list, f.buffer.Flush, func() error {
		n, err := f.edit.Cancel(f.name)
		if err == nil {
			err = f.out.Encode(cancelled{f.name, n})
		}
		return err
	})
	if errors.Is(err, index.ErrNoBatch) {
		err = fmt.Errorf("%w; firstseen index batches lists the existing ones", err)
	}
	return err
}
