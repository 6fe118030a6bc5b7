package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// columns lists the columns of the table.
var columns = []struct {
	name string
	cell func(*Row) string
}{
	{"set", func(r *Row) string { return r.Corpus }},
	{"method", func(r *Row) string { return r.Method }},
	{"threshold", func(r *Row) string { return r.threshold() }},
	{"removed", func(r *Row) string { return fmt.Sprint(r.Removed) }},
	{"precision", func(r *Row) string { return fmt.Sprintf("%.4f", r.Precision) }},
	{"recall", func(r *Row) string { return fmt.Sprintf("%.4f", r.Agreement.Recall) }},
	{"F1", func(r *Row) string { return fmt.Sprintf("%.4f", r.F1) }},
	{"ARI", func(r *Row) string { return fmt.Sprintf("%.4f", r.ARI) }},
	{"left", func(r *Row) string {
		if r.Alike == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f%%", 100*float64(r.Left)/float64(r.Alike))
	}},
	{"false", func(r *Row) string { return fmt.Sprint(r.False) }},
	{"grey", func(r *Row) string { return fmt.Sprint(r.Grey) }},
	{"long", func(r *Row) string { return fmt.Sprint(r.Long) }},
	{"documents/s", func(r *Row) string { return fmt.Sprintf("%.0f", r.PerSecond) }},
	{"bytes", func(r *Row) string { return fmt.Sprintf("%.0f", r.Bytes) }},
}

// threshold formats a threshold; SimHash's is in bits.
func (r *Row) threshold() string {
	text := "-"
	switch {
	case r.Method == "simhash":
		text = fmt.Sprintf("%.0f bits", 64*(1-r.Threshold))
	case r.Threshold > 0:
		text = fmt.Sprintf("%.3g", r.Threshold)
	}
	if r.Default {
		text += " *"
	}
	return text
}

// WriteTable writes a Markdown head and returns a function for rows. A star marks a default.
func WriteTable(out io.Writer) func(*Row) error {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	fmt.Fprintf(out, "| %s |\n%s|\n", strings.Join(names, " | "), strings.Repeat("|---", len(names)))
	return func(r *Row) error {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.cell(r))
		}
		_, err := fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
		return err
	}
}

// WriteJSON returns a function that writes each row as a line of JSON.
func WriteJSON(out io.Writer) func(*Row) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return func(r *Row) error { return enc.Encode(r) }
}
