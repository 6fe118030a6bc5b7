// Package corpustest reads inputs and packs archives in tests of formats.
package corpustest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

// Stdin is cfg.Stdin as the only input, named "f".
var Stdin = []input.Input{{Path: input.Stdin, Name: "f", Size: -1}}

// Each reads inputs to their end, or to an error, and calls f for each document, even a bad one,
// with its block. A document is valid until f returns.
func Each(format corpus.Format, inputs []input.Input, cfg corpus.SourceConfig, f func(b *corpus.Block, doc *corpus.Document)) error {
	for r, err := range corpus.Records(context.Background(), corpus.NewSource(inputs, format, cfg)) {
		if err != nil {
			return err
		}
		f(r.Block, r.Document)
	}
	return nil
}

// Pack writes the files below a folder, in lexical order, to an archive. The ending of its name
// sets the kind: .zip, .tar, .tgz or .tar.zst. A zip archive stores every other file uncompressed.
func Pack(name, folder string) error {
	var packed bytes.Buffer
	var err error
	if strings.HasSuffix(name, ".zip") {
		err = packZip(zip.NewWriter(&packed), os.DirFS(folder))
	} else {
		w := tar.NewWriter(&packed)
		err = errors.Join(w.AddFS(os.DirFS(folder)), w.Close())
	}
	data := packed.Bytes()
	switch {
	case strings.HasSuffix(name, ".tgz"):
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, writeErr := w.Write(data)
		err = errors.Join(err, writeErr, w.Close())
		data = b.Bytes()
	case strings.HasSuffix(name, ".zst"):
		w, _ := zstd.NewWriter(nil) // fails only on options
		data = w.EncodeAll(data, nil)
	}
	return errors.Join(err, os.WriteFile(name, data, 0o666))
}

func packZip(z *zip.Writer, folder fs.FS) error {
	methods := [2]uint16{zip.Store, zip.Deflate}
	err := fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: path, Method: methods[0]})
		if err != nil {
			return err
		}
		methods[0], methods[1] = methods[1], methods[0]
		_, err = w.Write(content)
		return err
	})
	return errors.Join(err, z.Close())
}
