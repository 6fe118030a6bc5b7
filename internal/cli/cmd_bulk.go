package cli

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
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
		to, form, err := rowsFile(out, as)
		if err != nil {
			return err
		}
		useJobs(&jobs, cmd.ErrOrStderr())
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

// rowsFile returns an output of rows, and the form of a document in it.
func rowsFile(name, as string) (to file, form bulk.Form, err error) {
	to.name = name
	appendRow := bulk.Row.AppendLine
	switch {
	case as == "documents":
		if isTable(name) {
			to.around, err = bulk.TabledDocuments()
		}
		return to, bulk.Documents, err
	case isTable(name):
		to.around, err = parquet.Integers("k", "v")
		appendRow = appendNumbers
	case as == "binary":
		appendRow = bulk.Row.AppendBinary
	}
	return to, bulk.Rows(appendRow), err
}

// appendNumbers appends a row as two numbers of a table.
func appendNumbers(r bulk.Row, dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, r.Key), uint64(r.Place))
}

func newMarksCommand() *cobra.Command {
	return command("bulk-marks", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		in, err := openInput(cmd, append(args, input.Stdin)[0])
		if err != nil {
			return err
		}
		defer in.Close() // only read
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

// decideOptions are flags of the run with an index, and those of a decision without.
type decideOptions struct {
	dedupOptions
	marks, secretFile string
}

func newDecideCommand() *cobra.Command {
	var f decideOptions
	cmd := command("bulk-decide", needShards, func(cmd *cobra.Command, dirs []string) error {
		if err := f.check(); err != nil {
			return usageError{err}
		}
		if f.dir != "" {
			return f.remember(cmd, dirs)
		}
		return f.run(cmd, dirs)
	})
	fs := cmd.Flags()
	fs.StringVar(&f.marks, "marks", "", "sorted `file`, or folder of sorted files, with the places of keys that two documents share; see firstseen bulk rows --help")
	fs.StringVar(&f.dir, "index", "", "`folder` of the index that remembers the documents, as for dedup; it takes the place of --marks")
	fs.StringArrayVar(&f.against, "against", nil, "with --index, as for dedup")
	fs.StringVar(&f.docs, "docs", "", "with --index, as for dedup (default the documents of the shards)")
	flags.Jobs(fs, &f.Workers, "processors to use; the output is the same for any number")
	registerSecret(fs, &f.secretFile)
	flags.Share(fs, &f.rules.Threshold, "threshold", "as for dedup")
	f.registerMethod(fs).Add("segments", "mosaics", flags.Word(&f.rules.RemoveMosaics, []string{"keep", "remove"}, false, true))
	registerPolicy(fs, &f.policy)
	fs.StringVarP(&f.Report, "report", "r", "", "write to this `file`, or below this folder for each shard, one JSON line for every document that is not unique")
	fs.StringVar(&f.summary, "summary", "", "write the counts to this `file` as JSON")
	flags.Size(fs, &f.CheckpointBytes, "checkpoint-bytes", 1, math.MaxInt64, "with --index, bytes of features between checkpoints")
	flags.Hide(fs, "checkpoint-bytes")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no forecast, no counts on standard error")
	return cmd
}

func (f *decideOptions) check() error {
	p, indexed := &f.policy, f.dir != ""
	ranked := p.Field == "" || p.Field == choose.Folder && p.By == "" || p.Field == "time" && p.By != "longest" && p.By != ""
	if err := meaning(
		conflict{f.marks == "" && !indexed, "bulk decide needs the marks of keys that two documents share: make them as firstseen bulk features --help says, and give them with --marks; or give an --index, which needs none"},
		conflict{f.marks != "" && indexed, "--index finds by itself the keys that documents share: leave out --marks"},
		conflict{!indexed && (f.docs != "" || len(f.against) > 0), "--docs and --against need an --index"},
		conflict{p.Given() && indexed, "--prefer and --remove-within need --marks: an index remembers the first copy of each; leave out --index"},
		conflict{indexed && bulk.IsFolder(f.Report), "with --index, --report is one file: name a file, or decide with --marks for a report of each shard"},
		conflict{!ranked || p.Batch != "", "features have no document fields: use --prefer folder=A,B, time=newest or time=oldest, and --remove-within folder"},
		conflict{p.Given() && f.marks == input.Stdin, "--prefer and --remove-within read the marks twice, and these are a pipe: give a file"},
	); err != nil {
		return err
	}
	return checkEnding("--report", f.Report, ending.JSON)
}

// read reads the set of shards and its secret.
func (f *decideOptions) read(dirs []string) (set []*bulk.Manifest, key []byte, err error) {
	if set, err = bulk.ReadSet(dirs); err != nil {
		return nil, nil, err
	}
	if key, err = readSecret(f.secretFile); err != nil {
		return nil, nil, usageError{err}
	}
	if made := feature.MethodOf(set[0].Scheme); f.method != "" && f.method != made {
		return nil, nil, usageError{fmt.Errorf("--method %s: the features were made with the method %s", f.method, made)}
	}
	return set, key, nil
}

// remember decides with an index, as dedup does over the inputs of the shards.
func (f *decideOptions) remember(cmd *cobra.Command, dirs []string) (err error) {
	d := &f.dedupOptions
	if d.shards, d.secret, err = f.read(dirs); err != nil {
		return err
	}
	if d.scheme, err = bulk.Scheme(d.shards, d.secret); err != nil {
		return err
	}
	d.scheme.Key = nil // the index stores the secret
	d.method, d.Sketch = d.scheme.Method, bulk.ParseSketch
	if err := d.checkShards(dirs); err != nil {
		return err
	}
	if err := output.CheckOutputs(d.inputs, d.dir, d.outputs()...); err != nil {
		return err
	}
	return d.run(cmd)
}

// checkShards completes the job of a run over shards.
func (f *dedupOptions) checkShards(dirs []string) error {
	f.keyed, f.unkeyed, f.onFull = f.secret != nil, f.secret == nil, onFullDefault
	made, err := index.ReadMade(f.dir)
	if made != nil {
		made.Scheme.Key, err = index.ReadKey(f.dir)
	}
	switch {
	case made == nil || err != nil: // opening it reports the reason
	case made.FilterOnly || made.Window > 0:
		return usageError{fmt.Errorf("index %s has no side table, or a window, and bulk decide supports neither: give another --index", f.dir)}
	case made.Scheme.Name() != f.shards[0].Scheme:
		return usageError{fmt.Errorf("index %s has the scheme %s, and the features have %s: give another --index, or make the features again with its --method and --secret", f.dir, made.Scheme.Name(), f.shards[0].Scheme)}
	}
	if err := f.chooseIndex(); err != nil {
		return usageError{err}
	}
	if f.docs == "" && made == nil {
		documents := uint64(0)
		for _, m := range f.shards {
			documents += m.Documents
		}
		f.shape = index.ShapeFor(max(documents, index.DefaultDocs), f.scheme, false)
	}
	f.inputs = bulk.Inputs(f.shards)
	f.Args, f.Inputs, f.Format, f.MaxBad = dirs, f.inputs, "features", -1
	f.Scheme, f.Rules, f.OnFull, f.Now = f.scheme, f.rules, f.onFull, f.now
	return nil
}

// gcPercent lets the heap exceed the table of a decision by a quarter. The table has hardly any
// pointers, so collecting it costs little.
const gcPercent = 25

func (f *decideOptions) run(cmd *cobra.Command, dirs []string) (err error) {
	set, key, err := f.read(dirs)
	if err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	useJobs(&f.Workers, cmd.ErrOrStderr())
	d := &bulk.Decision{Set: set, Marks: f.marks, Stdin: cmd.InOrStdin(), Key: key, Rules: f.rules, Jobs: f.Workers}
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
	out := bulk.NewReports(f.Report)
	if f.Report != "" {
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
