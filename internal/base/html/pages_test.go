package html

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstseen/firstseen/internal/base/charset"
)

// BenchmarkPages finds the text of the pages that PAGES names, such as 'DIR/*.html', decoded.
func BenchmarkPages(b *testing.B) {
	files, err := filepath.Glob(os.Getenv("PAGES"))
	if err != nil {
		b.Fatal(err)
	}
	var pages [][]byte
	size := 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		page, _, err := charset.Decode(nil, body, "")
		if err != nil {
			b.Logf("%s: %v", file, err)
			continue
		}
		pages = append(pages, page)
		size += len(page)
	}
	for _, mode := range []Mode{Main, Visible} {
		b.Run(fmt.Sprint(mode), func(b *testing.B) {
			e := New(mode)
			b.SetBytes(int64(size))
			var text []byte
			room := make([]byte, 0, size)
			for b.Loop() {
				for _, page := range pages {
					text = e.Append(text[:0], page, room)
				}
			}
		})
	}
}
