package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/bench/texts"
)

// inputDocs is how many documents the inputs have, copies included: enough for
// dozens of checkpoints and, with a small table in memory, merges of two levels.
const inputDocs = 1200

// largeDocs is how many there are in c.jsonl: 54,000 keys, so that merges are of runs
// with several bins and take several checkpoints.
const largeDocs = 3500

// writeInputs writes a.jsonl and b.jsonl, plain and compressed: documents of all
// kinds, bad records, blank lines, a menu that everybody has, and no line end at
// the end. c.jsonl has new documents only.
func writeInputs(dir string) error {
	t := texts.New(1)
	var files [2]bytes.Buffer
	for id := range inputDocs {
		out := &files[id*len(files)/inputDocs]
		doc := t.Next()
		if id%5 == 0 {
			doc = append([]string{"Home, products, news of the week and how to reach us."}, doc...)
		}
		out.WriteString(texts.Line(fmt.Sprintf("d%d", id), doc))
		switch {
		case id%90 == 31:
			fmt.Fprintf(out, "{\"id\":\"bad %d\",\n", id)
		case id%90 == 57:
			out.WriteString("\n")
		}
	}
	files[1].Truncate(files[1].Len() - 1)
	for i, name := range []string{"a.jsonl", "b.jsonl"} {
		data := files[i].Bytes()
		for ending, pack := range map[string]func([]byte) ([]byte, error){"": plain, ".gz": gzipped, ".zst": zstdPacked} {
			packed, err := pack(data)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name+ending), packed, 0o666); err != nil {
				return err
			}
		}
	}
	more, out := texts.New(2), new(bytes.Buffer)
	for id := range largeDocs {
		out.WriteString(texts.Line(fmt.Sprintf("c%d", id), more.Unique()))
	}
	return os.WriteFile(filepath.Join(dir, "c.jsonl"), out.Bytes(), 0o666)
}

// unpack decompresses by the ending of a name.
func unpack(name string, data []byte) ([]byte, error) {
	switch filepath.Ext(name) {
	case ".gz":
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	case ".zst":
		r, err := zstd.NewReader(nil)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.DecodeAll(data, nil)
	}
	return data, nil
}

func plain(data []byte) ([]byte, error) { return data, nil }

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(data)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

func zstdPacked(data []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(data, nil), nil
}
