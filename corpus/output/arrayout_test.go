package output_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"

	. "github.com/firstseen/firstseen/corpus/output"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// TestArrayOut checks that an output is one array, closed once, even if it was aborted and
// continued before a record or after the closing bracket.
func TestArrayOut(t *testing.T) {
	for _, name := range []string{"a.json", "a.json.gz"} {
		for records := range 3 {
			want := ""
			for stop := range records + 2 {
				path := filepath.Join(t.TempDir(), name)
				w, err := Create(path)
				filetest.Must(t, err, w.Lead([]byte(ArrayHead)))
				for n := range records + 1 {
					if n == stop || n == records && stop > records {
						at := Mark{}
						if at, err = w.Sync(); n == records {
							at, err = w.Seal()
						}
						filetest.Must(t, err, w.Abort())
						if at.Size > 0 {
							w, err = OpenAt(path, at)
						} else {
							w, err = Create(path)
						}
						filetest.Must(t, err, w.Lead([]byte(ArrayHead)))
					}
					if n < records {
						filetest.Must(t, w.WriteElement(fmt.Appendf(nil, `{"n":%d`, n), []byte("}")))
					}
				}
				filetest.Must(t, w.Close())
				data, err := os.ReadFile(path)
				filetest.Must(t, err)
				if filepath.Ext(name) == ".gz" {
					r, err := gzip.NewReader(bytes.NewReader(data))
					filetest.Must(t, err)
					var all bytes.Buffer
					_, err = all.ReadFrom(r)
					filetest.Must(t, err)
					data = all.Bytes()
				}
				var got []struct{ N int }
				if err := json.Unmarshal(data, &got); err != nil || len(got) != records || records > 0 && got[records-1].N != records-1 {
					t.Errorf("%s, stopped at %d of %d: %q, %v", name, stop, records, data, err)
				}
				if want == "" {
					want = string(data)
				}
				if string(data) != want {
					t.Errorf("%s, stopped at %d of %d: %q, and else %q", name, stop, records, data, want)
				}
			}
		}
	}
}
