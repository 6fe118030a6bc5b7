package explain

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/firstseen/firstseen/internal/compare/textdiff"
)

// MaxBeside is the longest text shown side by side, in bytes.
const MaxBeside = 4 << 20

// maxListed is how many of the shared segments are quoted in a list.
const maxListed = 10

// Write prints an explanation for a person.
func (e *Explanation) Write(w io.Writer, style textdiff.Style) error {
	out := bufio.NewWriter(w)
	data := struct {
		*Explanation
		Listed []Segment
		More   int
	}{e, e.Shared[:min(len(e.Shared), maxListed)], max(len(e.Shared)-maxListed, 0)}
	if err := page.Execute(out, data); err != nil {
		return err
	}
	if max(e.Earlier.Bytes, e.Later.Bytes) > MaxBeside {
		fmt.Fprintf(out, "\nThe texts are longer than %d MiB and not shown side by side.\n", MaxBeside>>20)
		return out.Flush()
	}
	legend := "⟦ ⟧ stands in one text alone, ⟨ ⟩ in both but elsewhere, « » is a shared segment."
	if style.Color {
		legend = "\x1b[31mRed\x1b[0m stands in one text alone, \x1b[33myellow\x1b[0m in both but elsewhere, \x1b[32mgreen\x1b[0m is a shared segment."
	}
	fmt.Fprintf(out, "\nSide by side, the earlier text at the left. %s\n\n", legend)
	style.Left, style.Right = e.Ranges()
	if err := textdiff.Write(out, e.Earlier.Text, e.Later.Text, style); err != nil {
		return err
	}
	return out.Flush()
}

//go:embed explain.txt
var pageText string

var page = template.Must(template.New("explanation").Funcs(template.FuncMap{"plain": plain, "share": share, "measured": measured}).Parse(pageText))

func share(v float64) string { return fmt.Sprintf("%6.4f", v) }

// measured is a share that is nil if measuring it took too long.
func measured(v *float64) string {
	if v == nil {
		return "     -"
	}
	return share(*v)
}

func plain(s string) string { return strings.Map(textdiff.Plain, s) }
