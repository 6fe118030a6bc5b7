package parquet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

// Dump prints all entries of all columns of a file, its schema and its metadata.
func Dump(path string) (string, error) {
	m, err := metaOf(input.Input{Path: path})
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	var out strings.Builder
	fmt.Fprintf(&out, "%q %q %q\n", m.Schema, m.Metadata, m.Orders)
	for i := range m.leaves {
		p := &pages{file: file, spend: func(int64) error { return nil }}
		c := &column{leaf: &m.leaves[i], pages: p}
		fmt.Fprintf(&out, "%s:", m.leaves[i].name())
		for g := range m.Groups {
			_, chunks, err := m.group(g)
			if err != nil {
				return "", err
			}
			if err := c.open(chunks[i]); err != nil {
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

// ErrSpent is returned by [ReadAll] if a file takes too much work.
var ErrSpent = errors.New("the reading takes more than it may")

// ReadAll reads all rows of a file and returns their size. Rows and work may each take most bytes.
func ReadAll(f Format, file io.ReaderAt, size, most int64) (total int64, err error) {
	spent := int64(0)
	spend := func(n int64) error {
		if spent += n; spent > most {
			return ErrSpent
		}
		return nil
	}
	rows, err := f.Open(file, size, corpus.Limits{Record: 1 << 16, Spend: spend})
	if err != nil {
		return 0, err
	}
	for {
		data, _, _, err := rows.Next(nil)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if total += int64(len(data)); total > most {
			return total, ErrSpent
		}
	}
}

var _ corpus.Rows = (*rows)(nil)

// Hold acquires pages of these sizes at once.
func Hold(sizes ...int) error {
	var p pages
	for _, n := range sizes {
		if err := p.hold(n); err != nil {
			return err
		}
	}
	return nil
}
