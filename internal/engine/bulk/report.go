package bulk

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// Reports writes the report of a decision to one file, or to a file for each shard in a folder.
type Reports struct {
	name  string         // with a separator at its end for a folder
	out   *output.Writer // the last file; nil for none
	lines *json.Encoder  // to out
	count report.End     // of out
}

// NewReports returns the reports with a name; a separator at its end, or a folder, stands for files.
func NewReports(name string) *Reports { return &Reports{name: name} }

// Begin begins the lines of a shard.
func (r *Reports) Begin(m *Manifest) (err error) {
	defer func() {
		r.count.Add(report.End{Documents: int64(m.Documents), Bad: int64(m.Bad), Texts: m.Texts})
	}()
	path := r.name
	if info, statErr := os.Stat(path); strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) || statErr == nil && info.IsDir() {
		if err := errors.Join(r.Close(), os.MkdirAll(path, 0o777)); err != nil {
			return err
		}
		path = filepath.Join(path, Name(m.Shard, m.Of)+".jsonl")
	} else if r.out != nil {
		return nil
	}
	r.out, err = output.Create(path)
	r.lines = json.NewEncoder(r.out)
	r.lines.SetEscapeHTML(false)
	return err
}

// Line writes a line.
func (r *Reports) Line(line *report.Reported) error {
	r.count.Lines++
	return r.lines.Encode(line)
}

// Close writes the counts as the last line of a file, and gives the file its name.
func (r *Reports) Close() error {
	if r.out == nil {
		return nil
	}
	if err := r.lines.Encode(map[string]report.End{"end": r.count}); err != nil {
		return err
	}
	r.count = report.End{}
	return r.out.Close()
}

// Discard ends an unfinished file without a name.
func (r *Reports) Discard() error { return r.out.Discard() }
