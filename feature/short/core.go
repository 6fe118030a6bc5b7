package short

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrappers is what platforms and their users wrap around a post. It is no part of the post.
var wrappers = struct {
	links    []string // begin an address, which ends at a space or a character outside of ASCII
	forwards []string // go with a name and a colon; what stands before the last one is left out, too
	heads    []string // at the start
	tails    []string // at the end, behind an ellipsis
}{
	links:    []string{"http://", "https://"},
	forwards: []string{"//@", "RT @", "rt @"},
	heads: strings.Fields("转发微博： 轉發微博： 转发微博: 轉發微博: 【转】 【轉】 转发: 轉發: 转发： 轉發： " +
		"转: 轉: 转： 轉："),
	tails: []string{"全文", "展开", "展開", "Read more", "See more", "Show more"},
}

// The longest name of a forward, tag between two signs, and Chinese emoji, in characters.
const (
	maxName = 30
	maxTag  = 24
	maxFace = 4
)

// appendCore appends the core of a text, which has a line end in the place of each wrapper within, and
// the words for signs.
func appendCore(dst, text []byte) []byte {
	text = bytes.TrimSpace(text[afterForwards(text):])
	for _, head := range wrappers.heads {
		if len(text) > 0 && head[0] == text[0] && bytes.HasPrefix(text, []byte(head)) {
			text = bytes.TrimSpace(text[len(head):])
			break
		}
	}
	for _, tail := range wrappers.tails {
		if rest, found := bytes.CutSuffix(text, []byte(tail)); found && isCut(rest) {
			text = rest
		}
	}
	from := 0
	for i := 0; i < len(text); i++ {
		n := 0
		if b := text[i]; (b == '#' || b == '[' || b|0x20 == 'h') && (i == 0 || !isWordByte(text[i-1])) {
			n = wrapper(text[i:])
		}
		as := "\n"
		if n == 0 && (text[i] == '+' || text[i] == '#') {
			n, as = sign(text, i)
		}
		if n > 0 {
			dst = append(append(dst, text[from:i]...), as...)
			from = i + n
			i = from - 1
		}
	}
	return append(dst, text[from:]...)
}

// sign returns the length of the signs at a place that belong to the name before it, and their words:
// C++ and C# are not C. Signs before a letter are of a sum or a tag.
func sign(text []byte, i int) (n int, words string) {
	if i == 0 || !isLetter(text[i-1]) {
		return 0, ""
	}
	for n < len(text)-i && text[i+n] == text[i] {
		n++
	}
	if i+n < len(text) && isLetter(text[i+n]) {
		return 0, ""
	}
	if text[i] == '#' {
		return n, "sharp"
	}
	return n, [...]string{"plus", "plusplus"}[min(n, 2)-1]
}

// isCut reports whether a text ends in an ellipsis.
func isCut(text []byte) bool {
	text = bytes.TrimRight(text, " \n[")
	return bytes.HasSuffix(text, []byte("…")) || bytes.HasSuffix(text, []byte("..."))
}

func isWordByte(b byte) bool { return isLetter(b) || '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// afterForwards returns the place behind the last forward, or 0.
func afterForwards(text []byte) (at int) {
	if bytes.IndexByte(text, '@') < 0 {
		return 0
	}
	for _, mark := range wrappers.forwards {
		i := bytes.LastIndex(text, []byte(mark))
		if i < at {
			continue
		}
		name := text[i+len(mark):]
		end := bytes.IndexFunc(name, func(r rune) bool { return r == ':' || r == '：' || unicode.IsSpace(r) })
		if end <= 0 || utf8.RuneCount(name[:end]) > maxName {
			continue
		}
		r, size := utf8.DecodeRune(name[end:])
		if rest := name[end+size:]; !unicode.IsSpace(r) && len(bytes.TrimSpace(rest)) > 0 {
			at = len(text) - len(rest)
		}
	}
	return at
}

// wrapper returns the length of the link, tag or emoji that text begins with, or 0.
func wrapper(text []byte) int {
	switch text[0] {
	case '#':
		return tag(text)
	case '[':
		return face(text)
	}
	for _, link := range wrappers.links {
		if len(text) >= len(link) && bytes.EqualFold(text[:len(link)], []byte(link)) {
			n := len(link)
			for n < len(text) && ' ' < text[n] && text[n] < 0x7F {
				n++
			}
			return n
		}
	}
	return 0
}

// tag returns the length of a tag: a word behind a sign, or words between two, the first with a letter.
func tag(text []byte) (word int) {
	for i, n := 1, 0; i < len(text); n++ {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case i == 1 && !unicode.IsLetter(r), r == '\n', n == maxTag:
			return word
		case r == '#' && text[i-1] != ' ':
			return i + 1
		case r == '#':
			return word
		case word == 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_':
			word = i
		}
		if i += size; i == len(text) && word == 0 {
			return i
		}
	}
	return word
}

// face returns the length of an emoji: up to four Han characters in brackets.
func face(text []byte) int {
	end := bytes.IndexByte(text[:min(len(text), 2+utf8.UTFMax*maxFace)], ']')
	if end < 2 {
		return 0
	}
	if utf8.RuneCount(text[1:end]) > maxFace || bytes.ContainsFunc(text[1:end], func(r rune) bool { return !unicode.Is(unicode.Han, r) }) {
		return 0
	}
	return end + 1
}
