package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// treeText returns the ith input of a tree in a format. They are hard to resume: copies of each
// other, bad records, blank lines at an end. One is empty, some have no last newline.
func treeText(format corpus.Format, i int) string {
	var records []string
	for n := range i * 7 % 9 {
		records = append(records, fmt.Sprintf("{\"id\":\"%d-%d\",\"text\":%q}", i, n, indextest.Sentences(5*i+n)))
	}
	end := []string{"\n", "", "\n \n\n"}[i%3]
	switch format.(type) {
	case csv.Format:
		head := fmt.Sprintf("text,\"column\n%d\",id\r\n", i)
		for n := range records {
			records[n] = fmt.Sprintf("%q,\"a\nb\",%d", indextest.Sentences(5*i+n), n)
		}
		if i == 4 {
			records = append(records, "one field")
		}
		return head + strings.Join(records, "\r\n") + strings.TrimSpace(end)
	case jsonarray.Format:
		if i == 4 {
			records = append(records, "null")
		}
		return "[\n  " + strings.Join(records, ",\n  ") + "\n]" + end
	}
	if i%4 == 3 {
		records = slices.Insert(records, len(records)/2, "{\"id\":\"broken", "")
	}
	return strings.Join(records, "\n") + end
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// newTreeTold returns a run over 9 inputs in folders, with an output for each. Every fourth is
// compressed. encode returns an input's bytes in its encoding.
func newTreeTold(t *testing.T, format corpus.Format, encode func(i int, data []byte) []byte) *told {
	t.Helper()
	r := newTold(t)
	r.reads = format
	for i := range 9 {
		data, name := encode(i, []byte(treeText(format, i))), fmt.Sprintf("in/%d/f%d%s", i%3, i, format.Endings()[0])
		if i%4 == 2 {
			data, name = zipped(t, data), name+".gz"
		}
		indextest.Must(t, os.MkdirAll(filepath.Dir(r.path(name)), 0o777))
		indextest.Must(t, os.WriteFile(r.path(name), data, 0o666))
	}
	r.plan("in")
	return r
}

// plan makes inputs of the files below names.
func (r *told) plan(names ...string) {
	r.t.Helper()
	names = slices.Clone(names)
	for i := range names {
		names[i] = r.path(names[i])
	}
	inputs, _, err := input.Expand(names, r.reads.Endings())
	indextest.Must(r.t, err)
	tree, err := output.PlanTree(r.path("out"), names, inputs)
	indextest.Must(r.t, err)
	tree.Early = !r.alone
	if _, ok := r.reads.(csv.Format); ok {
		tree.Head = func(n int) ([]byte, error) {
			return corpus.Head(context.Background(), inputs[n], r.reads, corpus.SourceConfig{})
		}
	}
	r.command.Args, r.command.Inputs, r.command.Out, r.command.Tree = names, inputs, "", tree
}

func asItIs(_ int, data []byte) []byte { return data }

// reencoded returns data in GB18030 or UTF-16 of either byte order.
func reencoded(i int, data []byte) []byte {
	e := []interface{ Bytes([]byte) ([]byte, error) }{
		simplifiedchinese.GB18030.NewEncoder(),
		unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(), unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder(),
	}[i%3]
	if len(data) == 0 {
		return data
	}
	data, err := e.Bytes(data)
	if err != nil {
		panic(err)
	}
	return data
}

// TestTreeStoppedBetweenSteps stops runs over trees of each kind of input as TestStoppedBetweenSteps
// does. Each output has its header once and its array is closed once, however often a run stops.
// Any number of workers and any encoding give the same bytes.
func TestTreeStoppedBetweenSteps(t *testing.T) {
	every := 2
	if testing.Short() {
		every = 7
	}
	check := func(name string, r *told, want map[string]string) (got map[string]string) {
		t.Run(name, func(t *testing.T) {
			r.t, r.workers = t, 3
			indextest.Must(t, r.run())
			got = r.files()
			if want != nil && !maps.Equal(got, want) {
				t.Fatalf("other files (-want +got):\n%s", cmp.Diff(want, got))
			}
			r.reset()
			r.workers = 1
			indextest.Must(t, r.run())
			if again := r.files(); !maps.Equal(got, again) {
				t.Fatalf("with one worker (-want +got):\n%s", cmp.Diff(got, again))
			}
			checkStoppedEvery(t, r, every, 25, "placed output")
		})
		return got
	}
	lines := check("lines", newTreeTold(t, jsonl.Format{}, asItIs), nil)
	annotated := newTreeTold(t, jsonl.Format{}, asItIs)
	annotated.command.Annotate, annotated.command.Tree.SkipEmpty = true, true
	check("annotated", annotated, nil)
	encoded := newTreeTold(t, jsonl.Format{}, reencoded)
	var err error
	encoded.encoding, err = corpus.EncodingNamed("gbk")
	indextest.Must(t, err)
	check("encoded", encoded, lines)
	check("tables", newTreeTold(t, csv.Format{}, asItIs), nil)
	check("arrays", newTreeTold(t, jsonarray.Format{}, asItIs), nil)
	archives := newTreeTold(t, jsonl.Format{}, asItIs)
	names := []string{"a.zip", "b.tar", "c.tgz"}
	for _, name := range names {
		indextest.Must(t, corpustest.Pack(archives.path(name), archives.path("in")))
		archives.plan(name)
		indextest.Must(t, archives.run())
		got := map[string]string{}
		for path, data := range archives.files() {
			got[strings.Replace(path, name+"/", "", 1)] = strings.ReplaceAll(data, name, "in")
		}
		if !maps.Equal(got, lines) {
			t.Errorf("%s (-folder +archive):\n%s", name, cmp.Diff(lines, got))
		}
		archives.reset()
	}
	archives.plan(names...)
	check("archives", archives, nil)
}
