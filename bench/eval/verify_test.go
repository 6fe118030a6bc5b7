package eval

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// articles returns 100 stretches of 1,500 bytes of a manual in English or Chinese, each with another one
// that has no sentence of it.
func articles(t *testing.T, chinese bool) (texts [][2]string) {
	t.Helper()
	file, err := os.Open("../../testdata/bilingual/guide.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var sentences []string
	seen := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var doc struct{ ID, Text string }
		if err := json.Unmarshal(lines.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(doc.ID, "amd64/") && strings.Contains(doc.ID, "zh") == chinese { // the others differ little
			for sentence := range strings.FieldsFuncSeq(doc.Text, func(r rune) bool { return r == '.' || r == '。' || r == '\n' }) {
				if !seen[sentence] {
					seen[sentence] = true
					sentences = append(sentences, sentence)
				}
			}
		}
	}
	end := map[bool]string{false: ". ", true: "。"}[chinese]
	from := func(at int) string {
		var b strings.Builder
		for ; b.Len() < 1500; at++ {
			b.WriteString(sentences[at%len(sentences)] + end)
		}
		return b.String()
	}
	for i := range 100 {
		texts = append(texts, [2]string{from(37 * i), from(37*i + len(sentences)/2)})
	}
	return texts
}

// removed decides pairs, each in a run of its own, and counts the second texts that are removed.
func removed(t *testing.T, verify bool, pairs [][2]string) (n int) {
	t.Helper()
	for _, p := range pairs {
		rules, condition := dedup.Rules{}, (*similarity.Condition)(nil)
		if verify {
			rules.Verify, condition = true, &similarity.Verified
		}
		program, err := NewProgram(feature.Scheme{}, rules, condition)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range p {
			_, gone, err := program.Decide(Doc{ID: fmt.Sprint(i), Text: text})
			if err != nil {
				t.Fatal(err)
			}
			if gone && i == 1 {
				n++
			}
		}
	}
	return n
}

// part returns the first share of a text.
func part(text string, share float64) string {
	runes := []rune(text)
	return string(runes[:int(share*float64(len(runes)))])
}

// TestVerifyKeepsNewText checks that texts of which a third is new, or three tenths, stay with --verify,
// wherever it stands, and that mails with the one before quoted below do.
func TestVerifyKeepsNewText(t *testing.T) {
	for _, chinese := range []bool{false, true} {
		var third, before, mails [][2]string
		for _, a := range articles(t, chinese) {
			text, other := a[0], a[1]
			third = append(third, [2]string{text, text + part(other, .5)})
			before = append(before, [2]string{text, part(other, 3./7) + text})
			mails = append(mails, [2]string{text, part(other, .45) + "\n> " + strings.ReplaceAll(text, ". ", ".\n> ")})
		}
		for name, pairs := range map[string][][2]string{"a third behind": third, "three tenths before": before, "mails": mails} {
			if n := removed(t, true, pairs); n > 2 {
				t.Errorf("%s, Chinese %v: %d of %d are removed", name, chinese, n, len(pairs))
			}
		}
	}
}

// TestVerifyRemovesCopies checks that --verify removes the copies that the default does: scans, texts of
// which one word in twelve is another, and other lines.
func TestVerifyRemovesCopies(t *testing.T) {
	for _, chinese := range []bool{false, true} {
		var scans, edited, wrapped [][2]string
		for _, a := range articles(t, chinese) {
			text := a[0]
			scans = append(scans, [2]string{text, every(text, 40, 'q')})
			edited = append(edited, [2]string{text, every(text, 70, '变', '更', '了')})
			wrapped = append(wrapped, [2]string{text, strings.ReplaceAll(text, " ", "\n")})
		}
		for name, pairs := range map[string][][2]string{"scans": scans, "edited": edited, "wrapped": wrapped} {
			want, got := removed(t, false, pairs), removed(t, true, pairs)
			if got < want || want < 90 {
				t.Errorf("%s, Chinese %v: %d are removed, by default %d", name, chinese, got, want)
			}
		}
	}
}

// every puts other characters in the place of each n-th.
func every(text string, n int, by ...rune) string {
	runes := []rune(text)
	for i := n; i+len(by) <= len(runes); i += n {
		copy(runes[i:], by)
	}
	return string(runes)
}

func TestLongestNew(t *testing.T) {
	for _, c := range []struct {
		later, earlier string
		want           float64
	}{
		{"", "a", 0},
		{"a b c d", "a b c d", 0},
		{"a b c d x", "a b c d", .2},
		{"x y a b c d", "a b c d", 2. / 6},
		{"a x y b z c d", "a b c d", 2. / 7},
		{"a b x y z", "a b c d", 3. / 5},
		{"x y z", "a b", 1},
		{"a b", "", 1},
		{strings.Repeat("a b ", 50) + strings.Repeat("x ", 50) + strings.Repeat("c d ", 50), strings.Repeat("a b ", 50) + strings.Repeat("c e ", 50), .2},
	} {
		if got := longestNew(c.later, c.earlier); got < c.want-1e-12 || got > c.want+1e-12 {
			t.Errorf("%.20q in %.20q: %v, want %v", c.later, c.earlier, got, c.want)
		}
	}
}
