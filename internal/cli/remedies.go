package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/hugemem"
)

// Remedies for inputs that differ from the format they were taken for.

// fetched is the way to read an address, by its scheme.
var fetched = map[string]string{
	"http": "curl -sSfL %s", "https": "curl -sSfL %s", "ftp": "curl -sSf %s", "s3": "aws s3 cp %s -", "gs": "gcloud storage cat %s",
}

// noAddresses refuses an argument that names a web address and no local file.
func noAddresses(args []string) error {
	for _, arg := range args {
		scheme, rest, found := strings.Cut(arg, "://")
		if !found || strings.ContainsAny(scheme, `/\`) {
			continue
		}
		if _, err := os.Lstat(arg); err == nil {
			continue
		}
		advice := "fetch it first, and give the file"
		if command, ok := fetched[strings.ToLower(scheme)]; ok {
			advice += fmt.Sprintf(", or, but for Parquet and zip, read it from a pipe: "+command+" | firstseen ... -", arg)
		} else if parts := strings.SplitN(rest, "/", 4); scheme == "hf" && len(parts) > 2 && parts[0] == "datasets" {
			advice = fmt.Sprintf("hf download %s/%s --repo-type dataset --local-dir DIR fetches it; then give DIR", parts[1], parts[2])
		}
		return fmt.Errorf("input %s is an address, and only files are read: %s", arg, advice)
	}
	return nil
}

// notAFolder refuses a file in place of an index, which is a folder.
func notAFolder(flag *pflag.Flag) error {
	dirs := []string{flag.Value.String()}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		dirs = list.GetSlice()
	}
	for _, dir := range dirs {
		if flag.Name != "index" && flag.Name != "against" {
			return nil
		}
		if err := isFolder(dir); err != nil {
			return usageError{fmt.Errorf("--%s %w", flag.Name, err)}
		}
	}
	return nil
}

// isFolder refuses a file in place of an index.
func isFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usageError{fmt.Errorf("%s: it is a file, and an index is a folder: name another", dir)}
	}
	return nil
}

// leastFilter is the smallest filter that can be asked for, in bytes.
const leastFilter = 64 << 10

// filterOf returns the filter that --memory asks for, if a document has so many keys.
func filterOf(memory string, perDoc uint64) (bloomstore.Shape, error) {
	bytes, err := parseSize(memory)
	if err != nil {
		return bloomstore.Shape{}, fmt.Errorf("--memory: %w", err)
	}
	docs := func(bytes uint64) string { return countText(float64(bloomstore.ForMemory(bytes).Capacity() / perDoc)) }
	if bytes < leastFilter {
		return bloomstore.Shape{}, fmt.Errorf("--memory %s is %s, and a filter wants at least %s, for %s documents: 1GiB is for %s, and firstseen plan --docs N says what N take",
			memory, sizeText(bytes), sizeText(leastFilter), docs(leastFilter), docs(1<<30))
	}
	return bloomstore.ForMemory(bytes), nil
}

// fitsMachine refuses a filter larger than the memory of the machine, if the memory is known.
func fitsMachine(filter bloomstore.Shape) error {
	if has := hugemem.Machine(); has > 0 && filter.Bytes() > has {
		return fmt.Errorf("a filter of %s is more than the %s of memory that this machine has: give less with --memory or --docs; firstseen plan --docs N says what N documents take",
			sizeText(filter.Bytes()), sizeText(has))
	}
	return nil
}

// passedOver are formats that a directory includes only on request.
var passedOver = []struct{ format, holds, advice string }{
	{"csv", "tables (.csv, .tsv)", "which are not read beside other formats: read them in a run of their own, with the same --index"},
	{"html", "pages (.html)", "which may be parts of something else: add --format html to read each as a document"},
	{"text", "texts (.txt, .md)", "which may be anything: add --format text if each is a document, lines or paragraphs if it has many"},
}

// holdsOther returns the error for a directory with nothing to read. It names the other formats
// present there and the ways to read them; if there are none, it extends err.
func (f *formats) holdsOther(args, usual []string, cfg corpus.SourceConfig, err error) error {
	all := f.all()
	for _, arg := range args {
		_, _, none := input.ExpandWithin([]string{arg}, usual, cfg.Bounds())
		if !errors.Is(none, input.ErrNone) {
			continue
		}
		var others []string
		for _, other := range passedOver {
			if _, _, err := input.ExpandWithin([]string{arg}, all[other.format].Endings(), cfg.Bounds()); err == nil {
				others = append(others, fmt.Sprintf("it holds %s, %s", other.holds, other.advice))
			}
		}
		if others != nil {
			return fmt.Errorf("%w; %s", none, strings.Join(others, "; "))
		}
	}
	return fmt.Errorf("%w, and no table (.csv, .tsv)", err)
}

// tellLines reports the number of lines of a text if it is the only document: each may have been
// meant for one.
func (f *options) tellLines(ctx context.Context, stderr io.Writer) {
	one, ok := f.found.(page.Format)
	if !ok || one.HTML || f.formats.chosen != "auto" || len(f.Inputs) != 1 || f.quiet {
		return
	}
	source := f.documents()
	defer source.Close() // only read
	var b corpus.Block
	defer b.Release()
	if source.Next(ctx, &b) != nil {
		return // the run will report the reason
	}
	if n := 1 + bytes.Count(bytes.TrimSpace(b.Data), []byte("\n")); n > 1 {
		fmt.Fprintf(stderr, "firstseen: %s is read as one document of %d lines; if each is a document add --format lines, if each paragraph is --format paragraphs\n", b.File, n)
	}
}
