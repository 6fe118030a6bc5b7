package html

import (
	"bytes"
	"unicode/utf8"
)

// The traits of a byte in a text.
const (
	weighs      = 1<<2 - 1 // how much; see traits
	mark        = 1 << 2   // of ASCII; it ends a phrase if a byte with followsMark is next
	followsMark = 1 << 3
	wideMark    = 1 << 4 // a mark beyond ASCII begins with it
	notLast     = 1 << 5 // it may follow the mark that ends a sentence
	lowerG      = 1 << 6
	lowerYV     = 1 << 7
	upperG      = 1 << 8
	upperYV     = 1 << 9
	lowerH      = 1 << 10
	upperC      = 1 << 11
	upperP      = 1 << 12
	byteC2      = 1 << 13
	byteE7      = 1 << 14
	byte89      = 1 << 15
)

// traits are those of each byte. A letter or digit weighs 1. A character of Chinese, Japanese or
// Korean weighs 3, because it stands for more than half a word.
var traits = func() (t [256]uint32) {
	for c := range 256 {
		switch {
		case '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			t[c] = 1
		case 0xc3 <= c && c < 0xe3: // first bytes: Latin to Hangul letters
			t[c] = 1
		case 0xe3 <= c && c < 0xee || c == 0xf0: // kana, ideographs, syllables
			t[c] = 3
		}
	}
	for what, of := range map[uint32]string{
		mark: ",.;:!?", wideMark: "\xe3\xef\xd8", lowerG: "g", lowerYV: "yv", lowerH: "h", upperG: "G", upperYV: "YV", notLast: " \n\t\"')]}",
		upperC: "C", upperP: "P", byteC2: "\xc2", byteE7: "\xe7", byte89: "\x89",
		followsMark: " \n\t\"')\xe2\xc2",
	} {
		for _, c := range []byte(of) {
			t[c] |= what
		}
	}
	for c := 0xe3; c < 0x100; c++ {
		t[c] |= followsMark // Chinese with marks of ASCII
	}
	return t
}()

// weigh is the weight of a text.
func weigh(text []byte) (weight int32) {
	for _, c := range text {
		weight += int32(traits[c] & weighs)
	}
	return weight
}

// measure sets the fields of the block that depend on its text. A mark of ASCII counts if the text
// ends or white space, a quotation mark or Chinese follows. The test has no branch, which would be
// mispredicted for most words.
func (b *block) measure(text []byte) {
	weight, marks, before, all := int32(0), int32(0), uint32(0), uint32(0)
	for i, c := range text {
		t := traits[c]
		weight += int32(t & weighs)
		marks += int32(before & (t >> 1) / mark & 1)
		if t&wideMark != 0 && isWideMark(text[i:]) {
			marks++
		}
		all |= t
		before = t
	}
	b.weight, b.marks = weight, marks+int32(before/mark&1)
	b.ended = endsSentence(text)
	b.rights = weight < maxRights && (hasNotice(text, all) || hasSign(text, all))
}

// endsSentence reports whether a text ends with a mark, and closing brackets and quotation
// marks behind it.
func endsSentence(text []byte) bool {
	for len(text) > 0 && traits[text[len(text)-1]]&notLast != 0 {
		text = text[:len(text)-1]
	}
	for {
		r, n := utf8.DecodeLastRune(text)
		switch r {
		case '”', '’', '»', '」', '』', '）':
			text = text[:len(text)-n]
			continue
		case '.', '!', '?', ':', '…', '。', '！', '？', '：', '；':
			return true
		}
		return false
	}
}

// isWideMark reports whether a text begins with a mark of Chinese, Japanese or Arabic.
func isWideMark(text []byte) bool {
	if len(text) < 3 {
		return false
	}
	switch text[0] {
	case 0xe3: // 、。
		return text[1] == 0x80 && (text[2] == 0x81 || text[2] == 0x82)
	case 0xef: // ，！？；：
		return text[1] == 0xbc && (text[2] == 0x8c || text[2] == 0x81 || text[2] == 0x9f || text[2] == 0x9b || text[2] == 0x9a)
	}
	return text[1] == 0x8c || text[1] == 0x9b || text[1] == 0x9f // Arabic
}

// maxRights is the greatest weight of a notice of copyright.
const maxRights = 300

// signs are phrases of notices of copyright that do not occur in texts about such notices. Each has
// its traits: few other texts have them all.
var signs = []struct {
	traits uint32
	text   []byte
}{
	{byteC2, []byte("©")},
	{byteE7 | byte89, []byte("版权所有")},
	{byteE7 | byte89, []byte("版權所有")},
	{byteE7 | byte89, []byte("無断転載")},
	{upperC | upperP, []byte("ICP备")},
	{upperC | upperP, []byte("ICP证")},
}

// hasSign reports whether a text, which has those traits, has one of signs.
func hasSign(text []byte, traits uint32) bool {
	for i := range signs {
		if s := &signs[i]; traits&s.traits == s.traits && bytes.Contains(text, s.text) {
			return true
		}
	}
	return false
}

// The traits of a notice of copyright in ASCII.
const (
	lowerNotice = lowerG | lowerH | lowerYV
	upperNotice = upperG | upperYV
)

// hasNotice reports whether a text with those traits reserves all rights or names the owner of the
// copyright.
func hasNotice(text []byte, traits uint32) bool {
	lower := traits&lowerNotice == lowerNotice && (bytes.Contains(text, []byte("yright")) || bytes.Contains(text, []byte("ghts res")))
	upper := traits&upperNotice == upperNotice && (bytes.Contains(text, []byte("YRIGHT")) || bytes.Contains(text, []byte("GHTS RES")))
	return (lower || upper) && isNotice(text)
}

// isNotice is hasNotice for the few texts that look like a notice. In a notice a year or a sign
// follows the word at its first occurrence. If that occurrence is about something else, so is the
// text.
func isNotice(text []byte) bool {
	if bytes.Contains(text, []byte("ll rights reserved")) || bytes.Contains(text, []byte("LL RIGHTS RESERVED")) {
		return true
	}
	const word = len("opyright")
	at := bytes.Index(text, []byte("opyright"))
	if upper := bytes.Index(text, []byte("OPYRIGHT")); at < 0 || upper >= 0 && upper < at {
		at = upper
	}
	if at < 0 {
		return false
	}
	after := bytes.TrimLeft(text[at+word:], " :")
	return len(after) > 0 && (after[0] == '(' || '0' <= after[0] && after[0] <= '9')
}
