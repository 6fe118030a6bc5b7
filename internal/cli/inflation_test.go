//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestPackedInPacked checks that an archive is refused if its pages expand beyond 1 GiB and to more
// than a thousand times its size. The same limits hold for any compressed input.
func TestPackedInPacked(t *testing.T) {
	packed := func(data []byte) []byte {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = w.Write(data)
		_ = w.Close()
		return b.Bytes()
	}
	content := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(packed(make([]byte, 60<<20)))
	member := packed(fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: urn:x\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(content), content))
	dir := t.TempDir()
	bomb := filepath.Join(dir, "bomb.warc.gz")
	writeFile(t, bomb, strings.Repeat(string(member), 19))
	for _, args := range [][]string{{"read"}, {"dedup", "-q", "--docs", "1k", "--limit", "bad=-1", "-j", "2"}} {
		_, errs := runProgram(t, dir, exitFailed, append(args, bomb)...)
		if !strings.Contains(errs, "bomb.warc.gz: the bodies of its records: ") || !strings.Contains(errs, "--limit ratio=0") {
			t.Errorf("%s: %.300s", args, errs)
		}
	}
	if testing.Short() {
		return
	}
	if _, errs := runProgram(t, dir, exitBadRecords, "dedup", "-q", "--docs", "1k", "--limit", "bad=-1,ratio=0", bomb); strings.Contains(errs, "ratio") {
		t.Errorf("any ratio: %.300s", errs)
	}
}
