package corpustest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Pack writes the files below a folder, in lexical order, to an archive of the kind that the
// ending of its name tells: .zip, .tar, .tgz or .tar.zst. Every other file of a zip archive
// is stored.
func Pack(name, folder string) error {
	var packed bytes.Buffer
	zipped, tarred := zip.NewWriter(&packed), tar.NewWriter(&packed)
	add := func(file string, content []byte) error {
		header := &tar.Header{Name: file, Mode: 0o644, Size: int64(len(content)), Format: tar.FormatPAX}
		if err := tarred.WriteHeader(header); err != nil {
			return err
		}
		_, err := tarred.Write(content)
		return err
	}
	finish := tarred.Close
	if strings.HasSuffix(name, ".zip") {
		stored := false
		add = func(file string, content []byte) error {
			header := &zip.FileHeader{Name: file, Method: zip.Deflate}
			if stored = !stored; stored {
				header.Method = zip.Store
			}
			w, err := zipped.CreateHeader(header)
			if err != nil {
				return err
			}
			_, err = w.Write(content)
			return err
		}
		finish = zipped.Close
	}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return add(filepath.ToSlash(file), content)
	})
	if err = errors.Join(err, finish()); err != nil {
		return err
	}
	data := packed.Bytes()
	switch {
	case strings.HasSuffix(name, ".tgz"):
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err = w.Write(data)
		err = errors.Join(err, w.Close())
		data = b.Bytes()
	case strings.HasSuffix(name, ".zst"):
		w, _ := zstd.NewWriter(nil) // fails on options only
		data = w.EncodeAll(data, nil)
	}
	return errors.Join(err, os.WriteFile(name, data, 0o666))
}
