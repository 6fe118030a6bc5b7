//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// reencode rewrites every file below a folder in GB18030 or UTF-16 of either byte order.
func reencode(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		packed := strings.HasSuffix(path, ".gz")
		if packed {
			if data, err = unpacked(data); err != nil {
				return err
			}
		}
		e := []encoding.Encoding{
			simplifiedchinese.GB18030,
			unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		}[n%3]
		if n++; len(data) > 0 {
			if data, err = e.NewEncoder().Bytes(data); err != nil {
				return err
			}
		}
		if packed {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			if _, err := w.Write(data); err != nil || w.Close() != nil {
				return fmt.Errorf("packing %s: %v", path, err)
			}
			data = b.Bytes()
		}
		return os.WriteFile(path, data, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEncodingsKilled checks that reencoded inputs give the outputs and the index of their UTF-8
// originals, for any number of jobs and kills.
func TestEncodingsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	k := newTreeKilling(t)
	reencode(t, filepath.Join(k.dir, "in"))
	k.args = append([]string{"dedup", "--encoding", "gbk"}, k.args[1:]...)
	for _, jobs := range []string{"1", "3"} {
		k.reset()
		runProgram(t, k.dir, exitBadRecords, append([]string{"dedup", "-j", jobs}, k.args[1:]...)...)
		k.compare("with -j " + jobs)
	}
	k.stopSome()
}
