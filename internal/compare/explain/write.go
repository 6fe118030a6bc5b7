package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/firstseen/firstseen/internal/compare/textdiff"
)

// MaxBeside is the longest text shown side by side, in bytes.
const MaxBeside = 4 << 20

// maxListed is how many of the shared segments are quoted in a list.
const maxListed = 10

// Write prints an explanation for a person.
func (e *Explanation) Write(w io.Writer, style textdiff.Style) error {
	out := bufio.NewWriter(w)
	e.writeHead(out)
	e.writeScores(out)
	e.writeVerdict(out)
	e.writeShared(out)
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

func (e *Explanation) writeHead(out *bufio.Writer) {
	for _, d := range []struct {
		name string
		*Document
	}{{"earlier", &e.Earlier}, {"later", &e.Later}} {
		fmt.Fprintf(out, "%-8s %s: %d bytes, %d words or characters, %d segments\n", d.name, plain(d.ID), d.Bytes, d.Units, d.Segments)
	}
}

func (e *Explanation) writeScores(out *bufio.Writer) {
	s := &e.Scores
	fmt.Fprintf(out, "\nScores of the two texts, each read whole\n")
	line := func(name, value, what string) { fmt.Fprintf(out, "  %-12s %6s  %s\n", name, value, what) }
	number := func(v float64) string { return fmt.Sprintf("%.4f", v) }
	measured := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return number(*v)
	}
	line("jaccard", number(s.Jaccard), "of the runs of five words that both have of all")
	line("containment", number(s.Containment), "of the runs of the smaller text, in the other")
	line("contained", number(s.Contained), "of the runs of the later text, in the earlier")
	line("lcs", measured(s.LCS), "longest common subsequence of words, of the mean length")
	line("edit", measured(s.Edit), "characters that need no edit, of the longer text")
	weighed := "all words weighed alike"
	if e.Weighed > 0 {
		weighed = fmt.Sprintf("words weighed by %d documents", e.Weighed)
	}
	line("cosine", number(s.Cosine), "of TF-IDF vectors, "+weighed)
	line("simhash", fmt.Sprint(s.Hamming), "of 64 bits differ")
	if s.LCS == nil || s.Edit == nil {
		fmt.Fprintln(out, "  -  the texts are too long and too different for it")
	}
}

func (e *Explanation) writeVerdict(out *bufio.Writer) {
	fmt.Fprintf(out, "\nVerdict of these two alone: %s\n", e.Verdict.Verdict)
	for _, r := range e.Reasons {
		rule := "rule " + r.Rule
		if r.Rule == "" {
			rule = "method"
		}
		fmt.Fprintf(out, "  %-8s %s\n", rule, r.Says)
	}
}

func (e *Explanation) writeShared(out *bufio.Writer) {
	fmt.Fprintf(out, "\nShared: %d of the %d segments of the later text, and %d other keys\n", len(e.Shared), e.Later.Segments, e.OtherKeys)
	for i, s := range e.Shared {
		if i == maxListed {
			fmt.Fprintf(out, "  and %d more\n", len(e.Shared)-i)
			break
		}
		fmt.Fprintf(out, "  « %s »\n", plain(s.Text))
	}
}

// plain is text as it can be shown in a line of a terminal, whatever it holds.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return '·'
		}
		return r
	}, s)
}
