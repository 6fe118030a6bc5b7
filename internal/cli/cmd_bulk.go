package cli

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/bulk"
	"github.com/firstseen/firstseen/internal/report"
)

func newRowsCommand() *cobra.Command {
	as, out := "lines", ""
	cmd := command("rows", needShards, func(cmd *cobra.Command, args []string) (err error) {
		kind := map[string]holds{"lines": holdsText, "binary": {"binary rows", ".bin"}, "documents": holdsJSON}[as]
		if err := checkEnding("--out", out, kind, holdsParquet); err != nil {
			return err
		}
		set, err := bulk.ReadSet(args)
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
		return writeOutput(cmd, to, func(w *output.Writer) error {
			if as == "documents" {
				lines := json.NewEncoder(w)
				return bulk.EachDocument(cmd.Context(), set, func(d *bulk.Document) error { return lines.Encode(d) })
			}
			var record []byte
			return bulk.EachRow(cmd.Context(), set, func(r bulk.Row) error {
				record = appendRow(r, record[:0])
				_, err := w.Write(record)
				return err
			})
		})
	})
	fs := cmd.Flags()
	fs.StringVarP(&out, "out", "o", input.Stdin, "write the rows to this `file`; .parquet, or .gz or .zst to compress; - is standard output")
	oneWord(fs, &as, "as", "rows as lines or binary, or documents: a line of JSON for each, with all of its keys", "lines", "binary", "documents")
	return cmd
}

// appendNumbers appends a row as two numbers of a table.
func appendNumbers(r bulk.Row, dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, r.Key), uint64(r.Place))
}

func newMarksCommand() *cobra.Command {
	return command("marks", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
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

type bulkFlags struct {
	dirs          []string
	marks, secret string
}

func (b *bulkFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&b.dirs, "features", nil, "decide from the shards in this `folder`, without INPUT and texts; may be given several times")
	fs.StringVar(&b.marks, "marks", "", "with --features: `file` with the places of keys that two documents share; see firstseen features --help")
	registerSecret(fs, &b.secret)
	hide(fs, "secret")
}

// given reports whether dedup decides from features.
func (b *bulkFlags) given() bool { return len(b.dirs) > 0 || b.marks != "" }

func registerSecret(fs *pflag.FlagSet, secret *string) {
	fs.StringVar(secret, "secret", "", "`file` with a secret for the keys, 32 hexadecimal digits, the same for all shards")
}

// bulkAllowed lists the flags with a meaning for decisions from features.
var bulkAllowed = []string{"features", "marks", "secret", "threshold", "method", "score", "mosaics", "report", "summary", "quiet", "jobs", "config", "prefer", "remove-within"}

func (f *options) checkBulk(cmd *cobra.Command, args []string) (err error) {
	switch {
	case len(f.bulk.dirs) == 0:
		return errors.New("--marks belongs to --features: give the folder of the shards too")
	case len(args) > 0:
		return fmt.Errorf("with --features there are no inputs to read: leave out %s", args[0])
	case f.bulk.marks == "":
		return errors.New("--features needs the marks of keys that two documents share: make them as firstseen features --help says, and give them with --marks")
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if err == nil && !slices.Contains(bulkAllowed, flag.Name) {
			err = fmt.Errorf("%s has no meaning with --features, which decides from features alone", spelled(flag.Name))
		}
	})
	if err != nil {
		return err
	}
	ranked := f.policy.field == "" || f.policy.field == folderWord && f.policy.by == "" || f.policy.field == "time" && f.policy.by != "longest" && f.policy.by != ""
	if err := meaning([]conflict{
		{!ranked || f.policy.batch != "", "--features have no document fields: use --prefer folder=A,B, time=newest or time=oldest, and --remove-within folder"},
		{f.policy.given() && f.bulk.marks == input.Stdin, "--prefer and --remove-within read the marks twice, and these are a pipe: give a file"},
	}); err != nil {
		return err
	}
	return checkEnding("--report", f.Report, holdsJSON)
}

// gcPercent lets the heap exceed the table of a decision by a quarter. The table has hardly any
// pointers, so collecting it costs little.
const gcPercent = 25

func (f *options) decideBulk(cmd *cobra.Command, args []string) (err error) {
	if err := f.checkBulk(cmd, args); err != nil {
		return usageError{err}
	}
	set, err := bulk.ReadSet(f.bulk.dirs)
	if err != nil {
		return err
	}
	key, err := readSecret(f.bulk.secret)
	if err != nil {
		return usageError{err}
	}
	if made := feature.MethodOf(set[0].Scheme); f.method.name != "" && f.method.name != made {
		return usageError{fmt.Errorf("--method %s: the features were made with the method %s", f.method.name, made)}
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	d := &bulk.Decision{Set: set, Marks: f.bulk.marks, Stdin: cmd.InOrStdin(), Key: key, Rules: f.Rules}
	if e, err := d.Expect(); err == nil && !f.quiet { // fails for a pipe, and for compressed marks
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: about %d marks of %d documents: at most %s of memory\n", e.Marks, e.Documents, sizeText(uint64(e.Bytes)))
	}
	copies, dated := false, false
	if f.policy.given() {
		d.Prefer = func(file string, made time.Time) (string, int64) {
			copies, dated = true, dated || !made.IsZero()
			return f.policy.groupOf(file, nil), f.policy.rankOf(file, nil, made)
		}
	}
	out := &bulkReport{name: f.Report}
	if f.Report != "" {
		d.Begin, d.Line = out.begin, out.line
	}
	defer func() { err = errors.Join(err, out.out.Discard()) }()
	if err := d.Run(cmd.Context()); err != nil {
		return err
	}
	if copies {
		f.policy.tellUnmet(cmd.ErrOrStderr())
		if f.policy.by != "" && !dated {
			return usageError{errors.New("--prefer time: no copy has a time: make the features of web archives, or with --format auto:time=FIELD")}
		}
	}
	if err := out.end(); err != nil {
		return err
	}
	if !f.quiet {
		t := &d.Tally
		fmt.Fprintf(cmd.ErrOrStderr(), "firstseen: %d documents: %d kept, %d removed; unique %d, duplicate %d (%d exact, %d of the same id), mosaic %d, related %d; %d keys marked, %s of memory for them\n",
			t.Documents, t.Kept, t.Removed, t.Unique, t.Duplicates, t.Exact, t.SameID, t.Mosaics, t.Related, d.Marked, sizeText(uint64(d.Bytes())))
	}
	return f.writeSummary(cmd, &d.Tally)
}

// bulkReport writes the report of a decision to one file, or to a file for each shard in a folder.
type bulkReport struct {
	name  string         // with a separator at its end for a folder
	out   *output.Writer // the last file; nil for none
	lines *json.Encoder  // to out
	count report.End     // of out
}

func (r *bulkReport) begin(m *bulk.Manifest) (err error) {
	defer func() {
		r.count.Add(report.End{Documents: int64(m.Documents), Bad: int64(m.Bad), Texts: m.Texts})
	}()
	path := r.name
	if info, statErr := os.Stat(path); strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) || statErr == nil && info.IsDir() {
		if err := errors.Join(r.end(), os.MkdirAll(path, 0o777)); err != nil {
			return err
		}
		path = filepath.Join(path, bulk.Name(m.Shard, m.Of)+".jsonl")
	} else if r.out != nil {
		return nil
	}
	r.out, err = output.Create(path)
	r.lines = newEncoder(r.out)
	return err
}

func (r *bulkReport) line(line *report.Reported) error {
	r.count.Lines++
	return r.lines.Encode(line)
}

// end writes the counts as the last line of a file, and gives the file its name.
func (r *bulkReport) end() error {
	if r.out == nil {
		return nil
	}
	if err := r.lines.Encode(map[string]report.End{"end": r.count}); err != nil {
		return err
	}
	r.count = report.End{}
	return r.out.Close()
}
