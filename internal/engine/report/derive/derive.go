// Package derive reads inputs again, with the report of their run, for the attributes of every
// document and the list of kept files. A report has the order of the inputs, so memory is fixed.
package derive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// ErrOther is returned if a report does not belong to the inputs.
var ErrOther = errors.New("the report belongs to other inputs, or they have changed since, or are read with another --format, --text-field or --id-field: give those of that run, or run firstseen dedup again")

// Record is a record of an input with its line of the report, or nil.
type Record struct {
	corpus.Record
	Line *lines.Line
}

// Records yields every record of a source, bad ones too, with its line of the report. Ids are as in
// the report. An error comes last.
func Records(ctx context.Context, source *corpus.Source, all *lines.Reports) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		next, stop := iter.Pull2(all.All(ctx))
		defer stop()
		line, err, _ := next() // the next line of the report, nil at its end
		var met report.End
		for r, failed := range corpus.Records(ctx, source) {
			if err = cmp.Or(err, failed); err != nil {
				break
			}
			switch {
			case r.Bad != nil:
				met.Bad++
			case !r.Empty && !r.Other:
				met.Documents++
				met.Texts += report.SumText(r.At, r.ID, r.Text)
			}
			if !utf8.Valid(r.ID) {
				r.ID = []byte(asReported(string(r.ID)))
			}
			own := line
			if own == nil || r.At != own.Line || asReported(r.Block.File) != own.File {
				own = nil
			} else if r.Bad != nil || string(r.ID) != own.ID {
				err = fmt.Errorf("%w; %s:%v is not the document %q", ErrOther, r.Block.File, r.At, own.ID)
				break
			}
			if !yield(Record{r, own}, nil) {
				return
			}
			if own != nil {
				line, err, _ = next()
			}
		}
		if err == nil && line != nil {
			err = fmt.Errorf("%w; %s:%v is in the report, but not in the inputs", ErrOther, line.File, line.Line)
		}
		if err == nil {
			err = compare(all.End, met)
		}
		if err != nil {
			yield(Record{}, err)
		}
	}
}

// compare compares the counts of a report, or nil, with the inputs read.
func compare(end *report.End, met report.End) error {
	switch {
	case end == nil:
		return nil
	case end.Documents != met.Documents || end.Bad != met.Bad:
		return fmt.Errorf("%w; it is about %d documents and %d bad records, and the inputs have %d and %d", ErrOther, end.Documents, end.Bad, met.Documents, met.Bad)
	case end.Texts != met.Texts:
		return fmt.Errorf("%w; the inputs have other texts or ids than firstseen bulk features has read", ErrOther)
	}
	return nil
}

// CheckNames refuses inputs that share a name, and so lines, in a report. A file may come twice.
func CheckNames(inputs []input.Input) error {
	seen := map[string]*input.Input{} // inputs with names that can be equal
	for i := range inputs {
		in := &inputs[i]
		name := asReported(in.Name)
		if in.Member == nil && !strings.ContainsRune(name, utf8.RuneError) {
			continue
		}
		other := seen[name]
		seen[name] = in
		switch {
		case other == nil:
		case in.Member != nil && other.Member != nil && in.Member.At() != other.Member.At():
			return fmt.Errorf("two members of an archive have the name %s, and a report cannot distinguish them: unpack the archive, and run firstseen dedup over its folder", name)
		case in.Path != other.Path:
			return fmt.Errorf("%q and %q have the same name in a report, which is UTF-8: rename one, and run firstseen dedup again", other.Path, in.Path)
		}
	}
	return nil
}

// asReported returns a file name, or an id made of one, as in JSON: U+FFFD for bytes outside UTF-8.
func asReported(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return string([]rune(name))
}

// Kept writes the names of the kept files of inputs, or of the removed ones. Each file has one
// document or none. It calls check with each record, which reports whether it is good.
func Kept(ctx context.Context, source *corpus.Source, inputs []input.Input, all *lines.Reports, removed bool, names io.Writer, check func(corpus.Record, error) (bool, error)) error {
	// A file given twice, also by its folder, is its own copy: it is removed if removed each time.
	given := map[string]int{}
	for _, in := range inputs {
		given[filepath.Clean(in.Path)]++
	}
	for r, err := range Records(ctx, source, all) {
		good, err := check(r.Record, err)
		if err != nil {
			return err
		}
		if !good || removed != (r.Line != nil && !r.Line.Kept) {
			continue
		}
		path := inputs[r.Block.Input].Path
		file := filepath.Clean(path)
		if given[file]--; removed && given[file] > 0 {
			continue
		}
		if strings.Contains(path, "\n") {
			return fmt.Errorf("the list has one name a line, and %q contains a line break: rename that file and run firstseen dedup again", path)
		}
		if _, err := fmt.Fprintln(names, path); err != nil {
			return err
		}
	}
	return nil
}

// treeNames returns the names of inputs in a tree of outputs: their path in a given folder, else
// their name. Equal names are an error.
func treeNames(args []string, inputs []input.Input) ([]string, error) {
	args, _, err := input.ReadLists(args)
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, arg := range args {
		matches := []string{arg}
		if _, err := os.Stat(arg); err != nil {
			matches, _ = filepath.Glob(arg) // it was a pattern
		}
		for _, m := range matches {
			if info, err := os.Stat(m); err == nil && info.IsDir() {
				roots = append(roots, m)
			}
		}
	}
	names := make([]string, len(inputs))
	whose := map[string]string{}
	for i, in := range inputs {
		file := in.File() // the archive, for its members
		names[i] = filepath.Base(file) + in.Path[len(file):]
		for _, root := range roots {
			if inside, err := filepath.Rel(root, in.Path); err == nil && filepath.IsLocal(inside) {
				names[i] = inside
				break
			}
		}
		if other, twice := whose[names[i]]; twice {
			return nil, fmt.Errorf("%s and %s would have the same name in the tree, %s: give the folder that holds both", other, in.Path, names[i])
		}
		whose[names[i]] = in.Path
	}
	return names, nil
}

// AttributeNames returns the names of inputs in a tree of attributes. It refuses a tree that would
// overwrite an input, or cannot be made.
func AttributeNames(dir string, args []string, inputs []input.Input) ([]string, error) {
	names, err := treeNames(args, inputs)
	if err != nil || dir == "" {
		return names, err
	}
	real := map[string]string{} // real paths of folders
	path := func(name string) string {
		folder, base := filepath.Split(name)
		if _, known := real[folder]; !known {
			real[folder], _ = filepath.EvalSymlinks(cmp.Or(folder, "."))
			if abs, err := filepath.Abs(real[folder]); err == nil && real[folder] != "" {
				real[folder] = abs
			}
		}
		return filepath.Join(real[folder], base)
	}
	read := map[string]bool{}
	for _, in := range inputs {
		read[path(in.File())] = true
	}
	attributes := make([]string, len(names))
	for i, name := range names {
		attributes[i] = AttributesName(name)
		if to := filepath.Join(dir, attributes[i]); read[path(to)] {
			return nil, fmt.Errorf("%s is an input, and the tree in %s would overwrite it: choose another folder", to, dir)
		}
	}
	if err := output.CheckTreeNames(dir, attributes, inputs); err != nil {
		return nil, err
	}
	return names, output.CheckTreeFolders(dir, attributes)
}

// Names of attributes: lists of spans [start, end, value], in characters (code points) as in dolma.
const (
	Removed = "firstseen__removed" // the whole text of a document that was not kept, with its score
	Related = "firstseen__related" // the same, for a kept document related to another
	Mosaic  = "firstseen__mosaic"  // the same, for a document made of several
	Shared  = "firstseen__shared"  // passages that the earlier document has too, with 1
	Bad     = "firstseen__bad"     // an empty span of a bad record, with 1
	// Passage lists passages that stand in earlier documents, with their word counts. PassageOf and
	// PassageCount list the earlier document of each, and the number of documents with it.
	Passage      = "firstseen__passage"
	PassageOf    = "firstseen__passage_of"
	PassageCount = "firstseen__passage_count"
)

// ErrNoSpans is returned for a report written without the spans of shared passages.
var ErrNoSpans = errors.New("the report does not say where the shared passages are: run firstseen dedup with --spans")

// span is one value of an attribute.
type span struct {
	Start, End int
	Value      float64
}

// MarshalJSON writes [start, end, value].
func (s span) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{s.Start, s.End, s.Value})
}

// row is a line of a file of attributes.
type row struct {
	ID         string         `json:"id"`
	Attributes map[string]any `json:"attributes"`
}

// Count returns the number of documents with a passage.
type Count func(id string, p *report.Passage) int

// rowOf returns the row of a record with its line of the report, or nil.
func rowOf(doc *corpus.Document, line *lines.Line, count Count) (r row, err error) {
	r.ID, r.Attributes = string(doc.ID), map[string]any{}
	if doc.Bad != nil {
		r.Attributes[Bad] = []span{{0, 0, 1}}
		return r, nil
	}
	if line == nil {
		return r, nil
	}
	length := utf8.RuneCount(doc.Text)
	whole := []span{{0, length, float64(line.Score)}}
	switch {
	case !line.Kept:
		r.Attributes[Removed] = whole
	case line.Verdict == "related":
		r.Attributes[Related] = whole
	case line.Verdict == "mosaic":
		r.Attributes[Mosaic] = whole
	}
	var shared, passages []span
	var of []string
	var counts []int
	for i := range line.Passages {
		p := &line.Passages[i]
		passages, of, counts = append(passages, span{p.Start, p.End, float64(p.Units)}), append(of, p.Of), append(counts, count(line.ID, p))
	}
	for _, s := range line.Spans {
		shared = append(shared, span{s[0], s[1], 1})
	}
	for _, s := range slices.Concat(shared, passages) {
		if s.Start < 0 || s.Start > s.End || s.End > length {
			return r, fmt.Errorf("%w; the passages of %q do not lie in its text", ErrOther, line.ID)
		}
	}
	if len(passages) > 0 {
		r.Attributes[Passage], r.Attributes[PassageOf], r.Attributes[PassageCount] = passages, of, counts
	}
	switch {
	case len(shared) > 0:
		r.Attributes[Shared] = shared
	case line.Spans == nil && line.Verdict != "unique":
		return r, ErrNoSpans
	}
	return r, nil
}

// AttributesName returns the name of an input's file of attributes. It is the input's name if that
// file is JSON Lines, plain, .gz or .zst. Otherwise .jsonl.gz is added.
func AttributesName(name string) string {
	plain, _ := output.CutPacking(name)
	switch filepath.Ext(plain) {
	case ".jsonl", ".json", ".ndjson":
		return name
	}
	return name + ".jsonl.gz"
}

// Attributes writes a file of attributes below dir for each name, with a row for each record in
// order. It replaces files atomically. It calls opened with each file, and check with each record.
func Attributes(ctx context.Context, source *corpus.Source, names []string, all *lines.Reports, count Count, dir string, opened func(*output.Writer), check func(corpus.Record, error) (good bool, err error)) (err error) {
	var out *output.Writer
	defer func() { err = errors.Join(err, out.Discard()) }()
	begun := 0
	begin := func(behind int) (err error) {
		for ; begun < behind && err == nil; begun++ {
			path := filepath.Join(dir, AttributesName(names[begun]))
			if err = out.Close(); err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o777)
			}
			if err == nil {
				out, err = output.Create(path)
			}
			if err == nil {
				opened(out)
			}
		}
		return err
	}
	var buf []byte
	for r, err := range Records(ctx, source, all) {
		var made row
		if _, err = check(r.Record, err); err == nil {
			err = begin(r.Block.Input + 1)
		}
		if err == nil {
			made, err = rowOf(r.Document, r.Line, count)
		}
		if err == nil {
			buf, err = report.AppendJSON(buf[:0], made)
		}
		if err == nil {
			err = out.WriteRecord(append(buf, '\n'))
		}
		if err != nil {
			return fmt.Errorf("writing attributes: %w", err)
		}
	}
	if err := begin(len(names)); err != nil {
		return fmt.Errorf("writing attributes: %w", err)
	}
	return out.Close()
}
