package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/mbox"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/corpus/text"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/base/html"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
)

// formats holds the formats of inputs. The first is for inputs that no other recognizes.
type formats struct {
	jsonl    jsonl.Format
	parquet  parquet.Format
	warc     warc.Format
	mbox     mbox.Format
	text     func() corpus.Text
	chosen   string    // "auto", or the format of all inputs
	html     html.Mode // part of a page to read as its text; the whole page, with tags, if negative
	encoding encodingFlag
	decoder  corpus.Encoding
	columns  bool          // output columns for the verdicts of rows
	arrays   bool          // outputs are arrays if inputs are
	lists    []input.Input // the lists among the arguments

	accept func(corpus.Format) error // refuses formats that an output cannot have; nil for none
}

func (f *formats) register(fs *pflag.FlagSet, revisits bool) {
	f.chosen = "auto"
	r := flags.Refine(fs, &f.chosen, "format", "format of the inputs: "+strings.Join(formatWords, ", ")+"; auto recognizes each by its beginning. Settings: warc:status=2xx,mime=text/html html:visible, jsonl:html=FIELD (the field is a page), jsonl:time=FIELD (when a document was made), see firstseen dedup --help", formatWords...)
	fields, web := &f.jsonl.Fields, &f.warc
	fs.StringVar(&fields.Text, "text-field", "text", "field or column with the text; dots lead into objects; title,abstract joins several")
	fs.StringVar(&fields.ID, "id-field", "", "field with the id, such as metadata.url, or in a WARC or a mail a header such as WARC-Record-ID (default id, WARC-Target-URI, Message-ID); without one the id is FILE:LINE")
	r.Add("warc arc auto", "status", flags.Parsed(&web.Status, warc.ParseStatus))
	r.Add("warc arc auto", "mime", flags.Parsed(&web.Types, warc.ParseTypes))
	r.Add("html warc arc auto", "html", flags.Word(&f.html, []string{"main", "visible", "off"}, html.Main, html.Visible, html.Mode(-1)))
	if revisits {
		r.Add("warc auto", "revisit", flags.Word(&web.Revisit.Write, []string{"false", "true"}, false, true))
		r.Add("warc auto", "near", flags.Word(&web.Revisit.Keep, []string{"drop", "keep"}, false, true))
	}
	r.Add("jsonl array csv auto", "time", flags.Text(&fields.Time))
	r.Add("jsonl array", "html", flags.Text(&fields.HTML))
	web.Status, _ = warc.ParseStatus("200")
	web.Types = warc.DefaultTypes
	fs.StringVar((*string)(&f.encoding), "encoding", "utf-8", "encoding of lines, arrays and tables without a byte order mark: gbk, utf-16le, big5, windows-1251 and so on, or auto to detect it from the beginning of each file; outputs are UTF-8")
}

// complete checks the flags and adds the limits.
func (f *formats) complete(limits corpus.SourceConfig) (err error) {
	f.chosen = cmp.Or(f.chosen, "auto")
	if !slices.Contains(formatWords, f.chosen) {
		return fmt.Errorf("--format %q: want one of %s", f.chosen, strings.Join(formatWords, ", "))
	}
	fields := &f.jsonl.Fields
	switch texts := strings.Split(fields.Text, ","); {
	case fields.HTML == "" || slices.Contains(texts, fields.HTML):
	case fields.Text == "text":
		fields.Text = fields.HTML
	default:
		return fmt.Errorf("--format jsonl:html=%s names none of the fields of --text-field %s: name it there, too", fields.HTML, fields.Text)
	}
	f.parquet.Text, f.parquet.ID = f.jsonl.Fields.Text, f.jsonl.Fields.ID
	f.warc.IDField, f.warc.MaxBody, f.warc.Ratio = f.jsonl.Fields.ID, limits.MaxRecord, limits.MaxRatio
	f.mbox.ID, f.mbox.Text = f.jsonl.Fields.ID, page.TextOf(html.Visible)
	f.text = page.TextOf(f.html)
	f.warc.Text, fields.Page = f.text, f.text
	if f.decoder, err = corpus.EncodingNamed(string(f.encoding)); err != nil {
		return err
	}
	_, err = f.jsonl.NewParser("")
	return err
}

// htmlWords names the parts of a page in the ledger of a run.
var htmlWords = map[html.Mode]string{html.Main: "main", html.Visible: "visible", -1: "off"}

var formatWords = append([]string{"auto", "jsonl", "array", "csv", "parquet", "warc", "arc", "html", "mbox", "text", "subtitles"}, slices.Sorted(maps.Keys(text.Formats))...)

// all returns the formats by the words of --format.
func (f *formats) all() map[string]corpus.Format {
	arc := f.warc
	arc.ARC = true
	all := map[string]corpus.Format{
		"csv": csv.Format{Text: f.parquet.Text, ID: f.parquet.ID, Time: f.jsonl.Fields.Time, Annotated: f.columns}, "jsonl": f.jsonl, "array": jsonarray.Format{Fields: f.jsonl.Fields, Arrays: f.arrays}, "parquet": f.parquet, "mbox": f.mbox, "warc": f.warc, "arc": arc, "html": page.Format{HTML: true, Text: f.text}, "text": page.Format{Text: f.text}, "subtitles": page.Format{Subtitles: true, Text: f.text},
	}
	maps.Copy(all, text.Formats)
	return all
}

// of returns the format of inputs, and those recognized by content.
func (f *formats) of() (format corpus.Format, others []corpus.Format) {
	all := f.all()
	if f.chosen != "auto" {
		return all[f.chosen], nil
	}
	values := jsonarray.Format{Fields: f.jsonl.Fields, Stream: true}
	others = []corpus.Format{values, f.jsonl, f.parquet, all["warc"], all["arc"], f.mbox, all["html"], all["text"], all["subtitles"], all["csv"], all["array"]}
	for _, word := range slices.Sorted(maps.Keys(text.Formats)) {
		others = append(others, text.Formats[word])
	}
	return f.jsonl, others
}

func (f *formats) source(inputs []input.Input, cfg corpus.SourceConfig) *corpus.Source {
	format, others := f.of()
	cfg.Formats, cfg.Encoding, cfg.Accept = others, f.decoder, f.accept
	return corpus.NewSource(inputs, format, cfg)
}

// String names the formats with their settings, for the ledger of a run.
func (f *formats) String() string {
	name := fmt.Sprintf("%s text %q id %q status %v types %q html %s", f.chosen, f.jsonl.Fields.Text, f.jsonl.Fields.ID, f.warc.Status, f.warc.Types, htmlWords[f.html])
	if f.warc.Revisit.Write {
		name += fmt.Sprintf(" revisit, near kept %t", f.warc.Revisit.Keep)
	}
	if f.encoding.given() {
		name += fmt.Sprintf(" encoding %q", string(f.encoding))
	}
	if f.jsonl.Fields.Time != "" {
		name += fmt.Sprintf(" time %q", f.jsonl.Fields.Time)
	}
	if f.jsonl.Fields.HTML != "" {
		name += fmt.Sprintf(" html %q", f.jsonl.Fields.HTML)
	}
	return name
}

// check refuses options that the format of the inputs does not support; nil is unknown.
func (f *formats) check(found corpus.Format, out string, annotate bool) error {
	if found == nil {
		return nil
	}
	err := f.encoding.check(found)
	if err == nil && annotate {
		_, err = found.NewParser(pipeline.AnnotationField)
	}
	if err != nil {
		return usageError{err}
	}
	if _, one := found.(page.Format); one && out != "" {
		return usageError{errors.New("each input is a file with one document: write the kept files with --out-dir, or leave out --out and find the removed files in --report")}
	}
	archive, isWARC := found.(warc.Format)
	if f.warc.Revisit.Write && !isWARC {
		return usageError{fmt.Errorf("--format warc:revisit writes records of web archives, and the inputs are %s: leave it out", found.Name())}
	}
	if archive.ARC && out != "" {
		return usageError{warc.ErrARC}
	}
	return nil
}

// encodingFlag is the encoding of text inputs without a byte order mark: a name, or auto.
type encodingFlag string

// given reports whether the flag names an encoding other than UTF-8.
func (f encodingFlag) given() bool { return f != "" && strings.ToLower(string(f)) != "utf-8" }

// check refuses the flag for formats that detect encodings, or have none.
func (f encodingFlag) check(found corpus.Format) error {
	if _, mails := found.(mbox.Format); !f.given() || corpus.Decodes(found) && !mails {
		return nil
	}
	why := "which declare their own encoding" // or each part of a mail
	if p, ok := found.(page.Format); ok && !p.HTML {
		why = "whose encoding is detected"
	}
	return fmt.Errorf("--encoding %s is for lines, paragraphs, arrays and tables; the inputs are %s, %s: leave it out", f, found.Name(), why)
}

// conflicts are those of dedup for any inputs.
func (f *formats) conflicts(d *dedupOptions) []conflict {
	revisit := f.warc.Revisit
	return []conflict{
		{!revisit.Write && revisit.Keep, "--format warc:near concerns records that no revisit record can replace: give warc:revisit,near=keep"},
		{revisit.Write && d.Out == "", "--format warc:revisit writes to --out: give that too"},
		{revisit.Write && d.filterOnly, "--format warc:revisit needs the side table, which knows the earlier record: leave --filter-only out"},
		{d.window == 0 && f.jsonl.Fields.Time != "", "--format auto:time=FIELD is for an index with a window: make it with firstseen index create DIR --window TIME"},
	}
}

// checkTimes decides by the format of the inputs whether documents carry their times.
func (f *dedupOptions) checkTimes() error {
	format := f.found
	if format == nil {
		format = f.formats.all()[f.formats.chosen] // of a pipe; nil if it is unknown
	}
	switch format.(type) {
	case warc.Format, mbox.Format:
		f.Window.Told = f.window > 0
	case jsonl.Format, jsonarray.Format, csv.Format, nil:
	default:
		if f.Window.Told {
			return usageError{fmt.Errorf("--format auto:time=FIELD: firstseen reads no times from %s: leave it out to use the time of arrival", format.Name())}
		}
	}
	return nil
}
