package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/firstseen/firstseen/internal/charset"
	"github.com/firstseen/firstseen/internal/html"
)

// leastExtracting is the minimum time for measuring extraction.
const leastExtracting = 3 * time.Second

// extract measures how fast web/html finds the text of pages, on one core.
func extract(ctx context.Context, files []string, out io.Writer) error {
	if len(files) == 0 {
		return errors.New("extract: give the files of pages")
	}
	var pages [][]byte
	size := 0
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		page, _, err := charset.Decode(nil, body, "")
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", file, err)
			continue
		}
		pages = append(pages, page)
		size += len(page)
	}
	for _, mode := range modes {
		e := html.New(mode.mode)
		var text []byte
		room := make([]byte, 0, size)
		rounds, found := 0, 0
		from := time.Now()
		for ; time.Since(from) < leastExtracting && ctx.Err() == nil; rounds++ {
			found = 0
			for _, page := range pages {
				text = e.Append(text[:0], page, room)
				found += len(text)
			}
		}
		rate := float64(size) * float64(rounds) / 1e6 / time.Since(from).Seconds()
		fmt.Fprintf(out, "%s: %d pages of %.1f MB, %.1f MB of text, %.0f MB/s\n", mode.name, len(pages), float64(size)/1e6, float64(found)/1e6, rate)
	}
	return ctx.Err()
}
