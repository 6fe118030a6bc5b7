package cli

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/bulk"
	"github.com/firstseen/firstseen/internal/engine/ending"
	"github.com/firstseen/firstseen/internal/engine/pipeline/choose"
)

func newBulkCommand() *cobra.Command {
	return group("bulk", newFeaturesCommand(), newRowsCommand(), newMarksCommand(), newDecideCommand())
}

func newRowsCommand() *cobra.Command {
	as, out, jobs := "lines", "", 0
	cmd := command("bulk-rows", needShards, func(cmd *cobra.Command, args []string) (err error) {
		kind := map[string]ending.Kind{"lines": ending.Text, "binary": ending.Rows, "documents": ending.JSON}[as]
		if err := checkEnding("--out", out, kind, ending.Parquet); err != nil {
			return err
		}
		set, err := bulk.ReadShards(args)
		if err != nil {
			return err
		}
		to, appendRow := file{name: out}, bulk.Row.AppendLine
		switch {
		case as == "documents" && isTable(out):
			to.around, err = parquet.Features()
		case isTable(out):
			to.around, err = parquet.Integers("k", "v")
			appendRow = appendNumbers
		case as == "binary":
			appendRow = bulk.Row.AppendBinary
		}
		if err != nil {
			return err
		}
		form := bulk.Rows(appendRow)
		if as == "documents" {
			form = bulk.Documents
		}
		jobs = checkJobs(jobs, cmd.ErrOrStderr())
		runtime.GOMAXPROCS(jobs)
		return writeOutput(cmd, to, func(w *output.Writer) error {
			return bulk.Export(cmd.Context(), w, set, jobs, form)
		})
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", input.Stdin, "write the rows to this `file`; .parquet, or .gz or .zst to compress; - is standard output")
	flags.OneWord(fs, &as, "as", "rows as lines or binary, or documents: a line of JSON for each, with all of its keys", "lines", "binary", "documents")
	flags.Jobs(fs, &jobs, "processors to use; the output is the same for any number")
	return cmd
}

// appendNumbers appends a row as two numbers of a table.
func appendNumbers(r bulk.Row, dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, r.Key), uint64(r.Place))
}

func newMarksCommand() *cobra.Command {
	return command("bulk-marks", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		in := cmd.InOrStdin()
		if len(args) > 0 && args[0] != input.Stdin {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close() // only read
			in = f
		}
		out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<20)
		var line []byte
		return flushed(out, bulk.Reduce(in, func(p bulk.Place) error {
			line = p.AppendLine(line[:0])
			_, err := out.Write(line)
			return err
		}))
	})
}

func registerSecret(fs *pflag.FlagSet, secret *string) {
	fs.StringVar(secret, "secret", "", "`file` with a secret for the keys, 32 hexadecimal digits, the same for all shards")
}

type decideOptions struct {
	methodFlags
	policy          choose.Policy
	marks, secret   string
	report, summary string
	quiet           bool
}

func newDecideCommand() *cobra.Command {
	var f decideOptions
	cmd := command("bulk-decide", needShards, func(cmd *cobra.Command, dirs []string) error {
		if err := f.check(); err != nil {
			return usageError{err}
		}
		return f.run(cmd, dirs)
	})
	fs := cmd.Flags()
	fs.StringVar(&f.marks, "marks", "", "sorted `file`, or folder of sorted files, with the places of keys that two documents share; see firstseen bulk rows --help")
	registerSecret(fs, &f.secret)
	flags.Share(fs, &f.rules.Threshold, "threshold", "as for dedup")
	f.registerMethod(fs).Add("segments", "mosaics", flags.Word(&f.rules.RemoveMosaics, []string{"keep", "remove"}, false, true))
	registerPolicy(fs, &f.policy)
	fs.StringVarP(&f.report, "report", "r", "", "write to this `file`, or below this folder for each shard, one JSON line for every document that is not unique")
	fs.StringVar(&f.summary, "summary", "", "write the counts to this `file` as JSON")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no forecast, no counts on standard error")
	return cmd
}

func (f *decideOptions) check() error {
	p := &f.policy
	ranked := p.Field == "" || p.Field == choose.Folder && p.By == "" || p.Field == "time" && p.By != "longest" && p.By != ""
	if err := meaning(
		conflict{f.marks == "", "bulk decide needs the marks of keys that two documents share: make them as firstseen bulk features --help says, and give them with --marks"},
		conflict{!ranked || p.Batch != "", "features have no document fields: use --prefer folder=A,B, time=newest or time=oldest, and --remove-within folder"},
		conflict{p.Given() && f.marks == input.Stdin, "--prefer and --remove-within read the marks twice, and these are a pipe: give a file"},
	); err != nil {
		return err
	}
	return checkEnding("--report", f.report, ending.JSON)
}

// gcPercent lets the heap exceed the table of a decision by a quarter. The table has hardly any
// pointers, so collecting it costs little.
const gcPercent = 25

func (f *decideOptions) run(cmd *cobra.Command, dirs []string) (err error) {
	set, err := bulk.ReadSet(dirs)
	if err != nil {
		return err
	}
	key, err := readSecret(f.secret)
	if err != nil {
		return usageError{err}
	}
	if made := feature.MethodOf(set[0].Scheme); f.method != "" && f.method != made {
		return usageError{fmt.Errorf("--method %s: the features were made with the method %s", f.method, made)}
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	d := &bulk.Decision{Set: set, Marks: f.marks, Stdin: cmd.InOrStdin(), Key: key, Rules: f.rules}
	if !f.quiet {
		d.Forecast = func(e bulk.Forecast) {
			fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: about %d marks of %d documents: at most %s of memory\n", e.Marks, e.Documents, amount.Size(uint64(e.Bytes)))
		}
	}
	copies, dated := false, false
	if f.policy.Given() {
		d.Prefer = func(file string, made time.Time) (string, int64) {
			copies, dated = true, dated || !made.IsZero()
			return f.policy.GroupOf(file, nil), f.policy.Rank(file, nil, made)
		}
	}
	out := bulk.NewReports(f.report)
	if f.report != "" {
		d.Begin, d.Line = out.Begin, out.Line
	}
	defer func() { err = errors.Join(err, out.Discard()) }()
	if err := d.Run(cmd.Context()); err != nil {
		return err
	}
	if copies {
		tellUnmet(cmd.ErrOrStderr(), &f.policy)
		if f.policy.By != "" && !dated {
			return usageError{errors.New("--prefer time: no copy has a time: make the features of web archives, or with --format auto:time=FIELD")}
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	t := &d.Tally
	if !f.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d documents: %d kept, %d removed; unique %d, duplicate %d (%d exact, %d of the same id), mosaic %d, related %d; %d keys marked, %s of memory for them\n",
			t.Documents, t.Kept, t.Removed, t.Unique, t.Duplicates, t.Exact, t.SameID, t.Mosaics, t.Related, d.Marked, amount.Size(uint64(d.Bytes())))
	}
	return writeSummary(cmd, f.summary, t)
}
