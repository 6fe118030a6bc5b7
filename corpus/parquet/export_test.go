package parquet

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/firstseen/firstseen/corpus"
)

// Dump tells all entries of all columns of a file, its schema and its metadata.
func Dump(path string) (string, error) {
	m, err := metaOf(path)
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var out strings.Builder
	fmt.Fprintf(&out, "%q %q %q\n", m.schemaRaw, m.kvRaw, m.ordersRaw)
	held := int64(0)
	for i := range m.leaves {
		tool := new(decompressor)
		defer tool.close()
		c := &column{leaf: &m.leaves[i], file: file, tool: tool, held: &held}
		fmt.Fprintf(&out, "%s:", m.leaves[i].name())
		for _, g := range m.groups {
			if err := c.open(g.chunks[i]); err != nil {
				return "", err
			}
			for c.more {
				fmt.Fprintf(&out, " %d,%d,%q", c.rep, c.def, c.value)
				if err := c.advance(); err != nil {
					return "", err
				}
			}
		}
		out.WriteString("\n")
	}
	return out.String(), nil
}

// ReadAll reads all rows of a file, whatever they hold, and returns how many bytes.
func ReadAll(f Format, file io.ReaderAt, size int64) (total int, err error) {
	rows, err := f.Open(file, size, 1<<16)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for n := 0; n < 10_000; n++ {
		data, _, _, err := rows.Next(nil)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		total += len(data)
	}
	return total, nil
}

var _ corpus.Rows = (*rows)(nil)
