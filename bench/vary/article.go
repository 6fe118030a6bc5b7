package vary

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstseen/firstseen/internal/engine/compare/similarity"
)

// NewswireArticle parses a text of the English news wire: a headline, and paragraphs that begin
// with four spaces and are broken into lines.
func NewswireArticle(text string) Article {
	title, body, _ := strings.Cut(text, "\n")
	a := Article{Title: strings.TrimSpace(title)}
	for paragraph := range strings.SplitSeq(body, "\n    ") {
		words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(paragraph), "Reuter"))
		if len(words) > 0 {
			a.Paragraphs = append(a.Paragraphs, strings.Join(words, " "))
		}
	}
	return a
}

var (
	paragraphTag = regexp.MustCompile(`</?(p|br|div)\b[^>]*>|\n+`)
	anyTag       = regexp.MustCompile(`<[^>]*>|\[[^\]]*\]\([^)]*\)`)
)

// BulletinArticle parses a text of the Chinese news bulletin: a headline marked with # and
// paragraphs with a few HTML tags.
func BulletinArticle(text string) Article {
	title, body, _ := strings.Cut(text, "\n")
	a := Article{Title: strings.TrimLeft(strings.TrimSpace(title), "# ")}
	for _, paragraph := range paragraphTag.Split(body, -1) {
		paragraph = strings.TrimSpace(anyTag.ReplaceAllString(paragraph, ""))
		if paragraph != "" {
			a.Paragraphs = append(a.Paragraphs, paragraph)
		}
	}
	return a
}

// An Unlike selects texts with little in common with earlier ones.
type Unlike struct {
	taken []*similarity.Text
}

// mostShared is the maximum share of a text's shingles in an earlier one.
const mostShared = 0.1

// Take reports whether the text has little in common with those taken before. If so, it is taken.
func (u *Unlike) Take(text string) bool {
	t := similarity.New(text)
	for _, other := range u.taken {
		if similarity.Contained(t, other) > mostShared || similarity.Contained(other, t) > mostShared {
			return false
		}
	}
	u.taken = append(u.taken, t)
	return true
}

// Sentences splits a paragraph after each full stop.
func Sentences(paragraph string) (sentences []string) {
	from := 0
	for _, at := range sentenceEnd.FindAllStringIndex(paragraph, -1) {
		if s := strings.TrimSpace(paragraph[from:at[1]]); s != "" {
			sentences = append(sentences, s)
		}
		from = at[1]
	}
	if s := strings.TrimSpace(paragraph[from:]); s != "" {
		sentences = append(sentences, s)
	}
	return sentences
}

var sentenceEnd = regexp.MustCompile(`[.!?]["')]*\s+|[。！？][”’）」]*`)

// IsProse reports whether a sentence is prose: 30 to 400 bytes, mostly letters, and no markup.
func IsProse(sentence string) bool {
	if len(sentence) < 30 || len(sentence) > 400 || strings.ContainsAny(sentence, "<>[]{}|`=*#_\\/") {
		return false
	}
	letters := 0
	for _, r := range sentence {
		if unicode.IsLetter(r) {
			letters += utf8.RuneLen(r)
		}
	}
	return letters > len(sentence)*2/3
}
