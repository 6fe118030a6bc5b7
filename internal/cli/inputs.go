package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/base/amount"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/badrecords"
	"github.com/firstseen/firstseen/internal/engine/temporary"
)

// inputFlags are the flags about inputs, and the inputs found by them.
type inputFlags struct {
	formats       formats
	source        corpus.SourceConfig // limits on inputs
	maxBad        int64               // bad records; negative: any number
	maxUnreadable int                 // inputs; negative: any number

	args    []string // that name the inputs
	inputs  []input.Input
	passed  []input.Passed
	refused input.Unreadable
	found   corpus.Format // format of the files among the inputs; nil for none
}

func (f *inputFlags) register(fs *pflag.FlagSet) {
	f.formats.register(fs, false)
	f.registerLimits(fs, "")
}

// registerLimits registers the flag that limits the cost of an input, and of a run.
func (f *inputFlags) registerLimits(fs *pflag.FlagSet, runs string) *flags.Refined {
	c := &f.source
	c.MaxRecord, c.MaxWindow, c.MaxRatio, f.maxBad = corpus.DefaultMaxRecord, compress.DefaultMaxWindow, compress.DefaultMaxRatio, -1
	r := flags.Refine(fs, nil, "limit", "record=64MiB (a longer one is bad), window=128MiB (of zstd --long, held in memory), ratio=1000 (expansion of an input to over 1 GiB; 0: any), bad=-1 (stop at more bad records than this; -1: never), unreadable=0 (pass over this many inputs that cannot be read; -1: any number)"+runs)
	r.Add("", "record", flags.Bytes(&c.MaxRecord, leastLimit, mostLimit))
	r.Add("", "window", flags.Bytes(&c.MaxWindow, leastLimit, mostLimit))
	r.Add("", "ratio", func(text string) (err error) {
		if c.MaxRatio, err = strconv.Atoi(text); err != nil || c.MaxRatio < 0 {
			return errors.New("want 0 or more")
		}
		if c.MaxRatio == 0 {
			c.MaxRatio = -1 // no limit, as 0 is the default of package corpus
		}
		return nil
	})
	r.Add("", "bad", flags.Whole(&f.maxBad, -1, math.MaxInt64))
	r.Add("", "unreadable", flags.Whole(&f.maxUnreadable, math.MinInt, math.MaxInt))
	return r
}

// The least and the most for limits in bytes. A line of leastLimit can still hold a document, and
// an int can still count mostLimit.
const (
	leastLimit = 1 << 10
	mostLimit  = min(1<<40, math.MaxInt/4)
)

// findInputs finds the inputs named by arguments and their format. It reports the files passed over.
func (f *inputFlags) findInputs(cmd *cobra.Command, args []string) error {
	err := f.formats.complete(f.source)
	if err != nil {
		return usageError{err}
	}
	f.source.Stdin = cmd.InOrStdin()
	f.inputs, f.passed, err = f.formats.expand(args, f.source)
	if err = f.leaveOut(err); err == nil {
		f.found, err = f.readable()
	}
	if err == nil {
		f.tellPassed(cmd.ErrOrStderr())
	}
	return err
}

func (f *inputFlags) documents() *corpus.Source { return f.formats.source(f.inputs, f.source) }

// openInput opens a file, or standard input.
func openInput(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if name == input.Stdin {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(name)
}

// counter counts the records of the inputs, and names the bad ones on standard error.
func (f *inputFlags) counter(cmd *cobra.Command) *badrecords.Counter {
	return &badrecords.Counter{Most: f.maxBad, Named: cmd.ErrOrStderr()}
}

// eachDocument reads the documents of all inputs. Bad records do not end it.
func eachDocument(cmd *cobra.Command, f *inputFlags, do func(corpus.Record) error) error {
	bad := f.counter(cmd)
	bad.Fate = "are passed over"
	return bad.Each(cmd.Context(), f.documents(), do)
}

// isFolder returns an error for a file in place of an index.
func isFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usageError{fmt.Errorf("%s is a file, and an index is a folder: name another", dir)}
	}
	if strings.HasPrefix(dir, "http://") || strings.HasPrefix(dir, "https://") {
		return usageError{fmt.Errorf("%s is an address, and an index is a folder: send documents to a server with curl --data-binary @FILE %s/v1/see", dir, strings.TrimRight(dir, "/"))}
	}
	return nil
}

// passedOver lists formats that a directory includes only on request.
var passedOver = []struct{ format, holds, advice string }{
	{"csv", "tables (.csv, .tsv)", "which are not read beside other formats: read them in a run of their own, with the same --index"},
	{"mbox", "mails (.mbox, .mbx)", "which are not read beside other formats: add --format mbox"},
	{"html", "pages (.html)", "which may be parts of something else: add --format html to read each as a document"},
	{"subtitles", "subtitles (.srt, .vtt)", "which may belong to something else: add --format subtitles to read each as a document"},
	{"text", "texts (.txt, .md)", "which may be anything: add --format text if each is a document, lines or paragraphs if it has many"},
}

// otherNames says how to read files whose names end like no format.
const otherNames = "to read files of other names give a pattern, such as 'DIR/*.py', or a list, @LIST"

// holdsOther returns the error for a directory with nothing to read. It names other formats there
// and the ways to read them, or else extends err.
func (f *formats) holdsOther(args, usual []string, cfg corpus.SourceConfig, err error) error {
	all := f.all()
	for _, arg := range args {
		_, _, none := input.ExpandWithin([]string{arg}, usual, cfg.Bounds)
		if !errors.Is(none, input.ErrNone) {
			continue
		}
		var others []string
		for _, other := range passedOver {
			if _, _, err := input.ExpandWithin([]string{arg}, all[other.format].Endings(), cfg.Bounds); err == nil {
				others = append(others, fmt.Sprintf("it holds %s, %s", other.holds, other.advice))
			}
		}
		if others != nil {
			return fmt.Errorf("%w; %s", none, strings.Join(others, "; "))
		}
	}
	return fmt.Errorf("%w, and no table (.csv, .tsv); %s", err, otherNames)
}

// tellLines reports the lines of a lone document of text: each may be meant as one.
func (f *inputFlags) tellLines(ctx context.Context, stderr io.Writer) {
	one, ok := f.found.(page.Format)
	if !ok || one.HTML || one.Subtitles || f.formats.chosen != "auto" || len(f.inputs) != 1 {
		return
	}
	for r, err := range corpus.Records(ctx, f.documents()) {
		if err != nil {
			return // the run will report the reason
		}
		if n := 1 + bytes.Count(bytes.TrimSpace(r.Raw), []byte("\n")); n > 1 {
			fmt.Fprintf(stderr, "firstseen: %s is read as one document of %d lines; add --format lines if each line is a document, or --format paragraphs if each paragraph is\n", r.Block.File, n)
		}
	}
}

// leaveOut removes unreadable inputs. It returns any other error.
func (f *inputFlags) leaveOut(err error) error {
	var refused input.Unreadable
	if !errors.As(err, &refused) {
		return err
	}
	f.refused = append(f.refused, refused...)
	f.inputs = slices.DeleteFunc(f.inputs, func(in input.Input) bool {
		return slices.ContainsFunc(refused, func(r input.Refused) bool { return r.Name == in.Name })
	})
	return nil
}

// readsPipe reports whether an input can be read only once.
func (f *inputFlags) readsPipe() bool {
	return slices.ContainsFunc(f.inputs, func(in input.Input) bool { return in.Size < 0 || in.Path == input.Stdin })
}

// readable leaves out unreadable inputs, up to --limit unreadable, and returns the format of the
// other files, or nil without files. It reads only the first bytes of every file.
func (f *inputFlags) readable() (corpus.Format, error) {
	format, others := f.formats.of()
	cfg := f.source
	cfg.Formats, cfg.Encoding, cfg.Accept = others, f.formats.decoder, f.formats.accept
	found, err := corpus.Recognize(f.inputs, format, cfg)
	if err := f.leaveOut(err); err != nil {
		return nil, err
	}
	switch n := len(f.refused); {
	case n > 0 && len(f.inputs) == 0:
		return nil, f.refused
	case f.maxUnreadable < 0 || n <= f.maxUnreadable:
		return found, nil
	case n == 1:
		return nil, fmt.Errorf("%w; to read the others alone, give --limit unreadable=1", f.refused)
	default:
		return nil, fmt.Errorf("%w\nto read the others alone, give --limit unreadable=%d", f.refused, n)
	}
}

// tellPassed reports the unreadable inputs, and the files of directories that are not read.
func (f *inputFlags) tellPassed(stderr io.Writer) {
	for _, r := range f.refused {
		fmt.Fprintln(stderr, "firstseen: passed over an input:", r.Err)
	}
	if n := len(f.refused); n > 0 {
		fmt.Fprintf(stderr, "firstseen: %d of %d inputs cannot be read and are passed over\n", n, n+len(f.inputs))
	}
	for _, p := range f.passed {
		if p.Like > 0 {
			p.Why = fmt.Sprintf("%s (as are %d more)", p.Why, p.Like)
		}
		switch {
		case p.Others != nil:
			fmt.Fprintln(stderr, "firstseen:", p.SayOthers())
		case p.Unpacked > 0:
			fmt.Fprintf(stderr, "firstseen: %s is unpacked into a temporary file of %s; set %s to have it elsewhere\n", p.Path, amount.Size(uint64(p.Unpacked)), temporary.Variable())
		default:
			fmt.Fprintf(stderr, "firstseen: passed over %s: it is %s, not a file\n", p.Path, p.Why)
		}
	}
}

// tellTwice names inputs that stand twice: the second time, all their documents are copies.
func tellTwice(inputs []input.Input, stderr io.Writer) {
	if n, first := input.Twice(inputs); n > 0 {
		fmt.Fprintf(stderr, "firstseen: %d of %d inputs stand twice, and all their documents will be copies of their own; the first is %s\n", n, len(inputs), first)
	}
}

// tellEmpty counts empty files if each file is a document: a copied tree would lack them unnoticed.
func (f *inputFlags) tellEmpty(stderr io.Writer) {
	if _, single := f.found.(page.Format); !single {
		return
	}
	isEmpty := func(in input.Input) bool { return in.Size == 0 }
	if first := slices.IndexFunc(f.inputs, isEmpty); first >= 0 {
		n := len(f.inputs) - len(slices.DeleteFunc(slices.Clone(f.inputs), isEmpty))
		fmt.Fprintf(stderr, "firstseen: %d of %d files are empty and hold no documents, so no list or output has them; the first is %s\n", n, len(f.inputs), f.inputs[first].Name)
	}
}

// expand turns arguments into inputs. From a directory it takes the files of the given format or,
// if none is given, JSON, Parquet and web archives. Pages, texts and tables beside those may be
// anything. Tables are taken only if there are no such files.
func (f *formats) expand(args []string, cfg corpus.SourceConfig) ([]input.Input, []input.Passed, error) {
	all := f.all()
	args, lists, err := input.ReadLists(args)
	f.lists = lists
	if err == nil {
		err = input.NoAddresses(args)
	}
	if err != nil {
		return nil, nil, err
	}
	if f.chosen != "auto" {
		inputs, passed, err := input.ExpandWithin(args, all[f.chosen].Endings(), cfg.Bounds)
		if errors.Is(err, input.ErrNone) {
			err = fmt.Errorf("%w; %s", err, otherNames)
		}
		return inputs, passed, err
	}
	usual := slices.Concat(f.jsonl.Endings(), f.parquet.Endings(), all["warc"].Endings(), all["arc"].Endings())
	inputs, passed, err := input.ExpandWithin(args, usual, cfg.Bounds)
	if !errors.Is(err, input.ErrNone) {
		return inputs, passed, err
	}
	tables := all["csv"].Endings()
	if inputs, passed, err := input.ExpandWithin(args, tables, cfg.Bounds); !errors.Is(err, input.ErrNone) {
		return inputs, passed, err
	}
	return nil, nil, f.holdsOther(args, usual, cfg, err)
}
