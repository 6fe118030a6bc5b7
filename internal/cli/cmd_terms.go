package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/feature/terms"
)

// termsTold is the output of firstseen terms. The JSON form is a contract.
type termsTold struct {
	Documents uint32 `json:"documents"`
	Terms     int    `json:"terms"`
	Missed    uint32 `json:"missed"` // the most documents by which a count is too low
	Digest    string `json:"digest"` // of the table, as in the names of schemes
	Bytes     int64  `json:"bytes"`
}

func newTermsCommand() *cobra.Command {
	var f options
	least := 0
	cmd := command("terms", needInput, func(cmd *cobra.Command, args []string) error {
		if f.Out == "" || f.Out == input.Stdin {
			return usageError{errors.New("terms: give the file of the table with --out FILE")}
		}
		if err := checkEnding("--out", f.Out, holdsTerms); err != nil {
			return err
		}
		return f.countTerms(cmd, args, uint32(least))
	})
	fs := cmd.Flags()
	fs.StringVarP(&f.Out, "out", "o", "", "write the table here; it is replaced when all is counted")
	fs.IntVar(&least, "min-docs", 2, "leave out terms that occur in fewer documents")
	f.registerInputs(fs)
	return cmd
}

func (f *options) countTerms(cmd *cobra.Command, args []string, least uint32) error {
	if err := f.findInputs(cmd, args); err != nil {
		return err
	}
	if err := output.CheckOutputs(f.Inputs, "", f.Out); err != nil {
		return err
	}
	var counter terms.Counter
	reader := terms.NewReader(nil)
	var found []uint64
	take := func(more []uint64) { found = terms.AppendDistinct(found, more) }
	// Bad records are reported and left out.
	bad := eachDocument(cmd, f, func(r corpus.Record) error {
		if counter.Documents() == math.MaxUint32 {
			return errors.New("more than 4,294,967,295 documents: give fewer")
		}
		found = found[:0]
		reader.Terms(r.Text, take)
		counter.Add(found)
		return nil
	})
	if bad != nil && !errors.Is(bad, errBadRecords) {
		return bad
	}
	table := counter.Table(least)
	if err := table.WriteFile(f.Out); err != nil {
		return err
	}
	if n := counter.Missed(); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: more than %d terms: the rarest were forgotten, and a count may be too low by up to %d documents\n", terms.MaxTerms, n)
	}
	err := json.NewEncoder(cmd.OutOrStdout()).Encode(termsTold{
		Documents: table.Documents(), Terms: table.Len(), Missed: counter.Missed(), Digest: table.Digest(), Bytes: table.Size(),
	})
	return errors.Join(err, bad)
}
