package page_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// got is the content of a record.
type got struct{ id, text, bad, raw string }

// read reads files in order.
func read(f page.Format, cfg corpus.SourceConfig, dir string, files ...[]byte) (all []got, err error) {
	var inputs []input.Input
	for i, data := range files {
		path := filepath.Join(dir, fmt.Sprintf("in-%d", i))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
		inputs = append(inputs, input.Input{Path: path, Name: fmt.Sprintf("in-%d", i), Size: int64(len(data))})
	}
	err = corpustest.Each(f, inputs, cfg, func(_ *corpus.Block, doc *corpus.Document) {
		g := got{id: string(doc.ID), text: string(doc.Text), raw: string(doc.Raw)}
		if doc.Bad != nil {
			g.bad = doc.Bad.Reason
		}
		all = append(all, g)
	})
	return all, err
}

func packed(members ...[]byte) []byte {
	var b bytes.Buffer
	for _, m := range members {
		w := gzip.NewWriter(&b)
		_, _ = w.Write(m)
		_ = w.Close()
	}
	return b.Bytes()
}

// TestOneDocumentAFile checks that any file is one record, however it is compressed and whatever
// the block size. The record is a document if it is text and not too long.
func TestOneDocumentAFile(t *testing.T) {
	const limit = 200
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var files [][]byte
		var want []got
		for i := range rapid.IntRange(1, 4).Draw(t, "files") {
			data := []byte(rapid.OneOf(rapid.String(), rapid.StringMatching(`(<p>[a-z ]*\n)*`)).Draw(t, "text"))
			if rapid.IntRange(0, 3).Draw(t, "binary") == 0 {
				data = rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "bytes")
			}
			data = append([]byte("a"), data...) // not empty, and of no other format
			g := got{id: fmt.Sprintf("in-%d", i), text: string(data), raw: string(data)}
			switch {
			case len(data) > limit:
				g = got{bad: fmt.Sprintf("the file is longer than the limit of %d bytes", limit)}
			case !utf8.Valid(data):
				g = got{bad: "it is not UTF-8", raw: g.raw}
			}
			want = append(want, g)
			switch rapid.IntRange(0, 2).Draw(t, "packed") {
			case 1:
				data = packed(data)
			case 2:
				at := rapid.IntRange(0, len(data)).Draw(t, "cut")
				data = packed(data[:at], data[at:])
			}
			files = append(files, data)
		}
		cfg := corpus.SourceConfig{MaxRecord: limit, BlockSize: rapid.SampledFrom([]int{1, 50, 150, 1 << 20}).Draw(t, "block")}
		all, err := read(page.Format{HTML: rapid.Bool().Draw(t, "html")}, cfg, dir, files...)
		for i := range all {
			if all[i].bad != "" && strings.HasPrefix(all[i].bad, "the file is longer") {
				all[i].raw = "" // only the beginning is kept
			}
		}
		if err != nil || fmt.Sprintf("%q", all) != fmt.Sprintf("%q", want) {
			t.Fatalf("%v\n got %q\nwant %q", err, all, want)
		}
	})
}

// TestText checks that the format's Text gets the content type and extracts the text.
func TestText(t *testing.T) {
	f := page.Format{Text: func() corpus.Text {
		return func(_ func(int) []byte, body []byte, contentType string) ([]byte, bool, error) {
			if bytes.Contains(body, []byte("none")) {
				return nil, false, errors.New("it has no text")
			}
			return []byte(contentType + ": " + strings.ToUpper(string(body))), true, nil
		}
	}}
	for html, want := range map[bool]string{false: "text/plain: A PAGE", true: "text/html: A PAGE"} {
		f.HTML = html
		all, err := read(f, corpus.SourceConfig{}, t.TempDir(), []byte("a page"), []byte("none"))
		if err != nil || len(all) != 2 || all[0].text != want || all[0].id != "in-0" || all[1].bad != "it has no text" || all[1].text != "" {
			t.Errorf("%v %q, want %q", err, all, want)
		}
	}
}

// TestDamaged checks that a file cut off yields no document.
func TestDamaged(t *testing.T) {
	whole := packed([]byte(strings.Repeat("A page that is cut off. ", 100)))
	all, err := read(page.Format{HTML: true}, corpus.SourceConfig{}, t.TempDir(), whole[:len(whole)-12], []byte("the next"))
	if err != nil || len(all) != 2 || all[0].bad == "" || all[0].text != "" || all[1].text != "the next" {
		t.Errorf("%v %q", err, all)
	}
}

// TestRecognize checks that a page is recognized by its first tag.
func TestRecognize(t *testing.T) {
	for head, want := range map[string]bool{
		"<!DOCTYPE html><p>": true, "\xef\xbb\xbf \n<HTML lang=en>": true, "<head>": true, "<BODY>": true, "<title>x": true, "<!-- x -->": true,
		"<?xml version=\"1.0\"?>": true, "<?xml version='1.0'?>\n<!-- x -->\n<HTML>": true, "<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD'><p>": true,
		"<?xml version='1.0'?><rss version='2.0'>": false, "<?xml?><!-- <html> --> <feed>": false, "<?xml?><!DOCTYPE TEI [<!ENTITY html ''>]>": false, "<p>a": false, "text <html>": false, "<": false, "": false, "{\"text\":\"<html>\"}": false,
	} {
		if got := (page.Format{HTML: true}).Recognize([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
		if (page.Format{}).Recognize([]byte(head)) {
			t.Errorf("%q is told to be plain text, which anything may be", head)
		}
	}
}

// TestNotAnnotated checks that a file that is one document takes no verdict.
func TestNotAnnotated(t *testing.T) {
	for _, f := range []page.Format{{}, {HTML: true}} {
		_, annotated := f.NewParser("firstseen")
		for what, err := range map[string]error{
			"Annotate": f.Annotate(nil, nil, corpus.Slot{}, nil), "Answer": f.Answer(nil, nil, "", nil), "NewParser": annotated,
		} {
			if err == nil {
				t.Errorf("%s, %s: no error", f.Name(), what)
			}
		}
		if len(f.Endings()) == 0 || f.Noun() != "file" {
			t.Errorf("%s: endings %q, noun %q", f.Name(), f.Endings(), f.Noun())
		}
	}
}
