package crash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/bench/texts"
)

// inputDocs is the number of documents in the inputs, copies included: enough for dozens of
// checkpoints and, with a small memtable, merges of two levels.
const inputDocs = 1200

// largeDocs is the number of documents in c.jsonl. Their 54,000 keys make merges of runs with
// several bins, which take several checkpoints.
const largeDocs = 3500

// writeInputs writes a.jsonl and b.jsonl, plain and compressed: documents of all kinds, bad
// records, blank lines, a common menu, no final line end. c.jsonl has new documents only.
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
	if err := writeArchives(dir); err != nil {
		return err
	}
	more, out := texts.New(2), new(bytes.Buffer)
	for id := range largeDocs {
		out.WriteString(texts.Line(fmt.Sprintf("c%d", id), more.Unique()))
	}
	return os.WriteFile(filepath.Join(dir, "c.jsonl"), out.Bytes(), 0o666)
}

// archiveDocs is the number of documents in the archives.
const archiveDocs = 500

// writeArchives writes a.warc.gz, with a member per record, and b.warc: documents of all kinds,
// failed responses, revisits, rubbish. Some records of 1.2 MB are longer than any block, with short
// ones after them.
func writeArchives(dir string) error {
	t := texts.New(3)
	var files [2]bytes.Buffer
	for id := range archiveDocs {
		doc, status := t.Next(), 200
		switch {
		case id%60 == 17:
			doc = append(doc, strings.Repeat("A line of a long page that says nothing new. ", 27_000))
		case id%60 == 40:
			status = 404
		}
		r := archived(fmt.Sprintf("http://d/%d", id), status, strings.Join(doc, " "))
		if id%60 == 50 {
			r = append(r, "what is no record\r\n"...)
		}
		if id%20 == 10 {
			r = append(r, "WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Target-URI: http://d/0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"...)
		}
		i := id * len(files) / archiveDocs
		if i == 0 {
			packed, err := gzipped(r)
			if err != nil {
				return err
			}
			r = packed
		}
		files[i].Write(r)
	}
	for i, name := range []string{"a.warc.gz", "b.warc"} {
		if err := os.WriteFile(filepath.Join(dir, name), files[i].Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// archived returns the record of a response.
func archived(uri string, status int, text string) []byte {
	answer := fmt.Sprintf("HTTP/1.1 %d x\r\nContent-Type: text/plain\r\n\r\n%s", status, text)
	return fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: 2024-01-02T03:04:05Z\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		uri, len(answer), answer)
}

// unpack decompresses data by the extension of its name.
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
