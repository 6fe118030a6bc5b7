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
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/ending"
)

// termsTold is the output of firstseen index terms. The JSON form is a contract.
type termsTold struct {
	Documents uint32 `json:"documents"`
	Terms     int    `json:"terms"`
	Missed    uint32 `json:"missed"` // the most documents by which a count is too low
	Digest    string `json:"digest"` // of the table, as in the names of schemes
	Bytes     int64  `json:"bytes"`
}

func newTermsCommand() *cobra.Command {
	var f inputFlags
	out, least := "", int64(2)
	cmd := command("index-terms", needInput, func(cmd *cobra.Command, args []string) error {
		if out == "" || out == input.Stdin {
			return usageError{errors.New("index terms: give the file of the table with --out FILE")}
		}
		if err := checkEnding("--out", out, ending.Terms); err != nil {
			return err
		}
		err := f.findInputs(cmd, args)
		if err == nil {
			err = output.CheckOutputs(f.inputs, "", out)
		}
		if err != nil {
			return err
		}
		var counter terms.Counter
		bad := countTerms(cmd, &f, &counter) // bad records are reported and left out
		if bad != nil && !errors.Is(bad, badrecords.Err) {
			return bad
		}
		table := counter.Table(uint32(least))
		if err := table.WriteFile(out); err != nil {
			return err
		}
		if n := counter.Missed(); n > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: more than %d terms: the rarest were forgotten, and a count may be too low by up to %d documents\n", terms.MaxTerms, n)
		}
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(termsTold{
			Documents: table.Documents(), Terms: table.Len(), Missed: counter.Missed(), Digest: table.Digest(), Bytes: table.Size(),
		})
		return errors.Join(err, bad)
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", "", "write the table here; it is replaced when all is counted")
	flags.Integer(fs, &least, "min-docs", 1, math.MaxUint32, "leave out terms that occur in fewer documents")
	f.register(fs)
	return cmd
}

func countTerms(cmd *cobra.Command, f *inputFlags, counter *terms.Counter) error {
	reader := terms.NewReader(nil)
	var found []uint64
	take := func(more []uint64) { found = terms.AppendDistinct(found, more) }
	return eachDocument(cmd, f, func(r corpus.Record) error {
		if counter.Documents() == math.MaxUint32 {
			return errors.New("more than 4,294,967,295 documents: give fewer")
		}
		found = found[:0]
		reader.Terms(r.Text, take)
		counter.Add(found)
		return nil
	})
}
