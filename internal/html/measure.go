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
)

// traits are those of each byte. A letter or digit weighs 1. A character of Chinese, Japanese or
// Korean weighs 3, because it stands for more than half a word.
var traits = func() (t [256]uint8) {
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
	for what, of := range map[uint8]string{
		mark: ",.;:!?", followsMark: " \n\t\"')\xe2\xc2", wideMark: "\xe3\xef\xd8", notLast: " \n\t\"')]}",
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
	weight, marks, before, letters := int32(0), int32(0), uint8(0), uint64(0)
	for i, c := range text {
		t := traits[c]
		weight += int32(t & weighs)
		marks += int32(before & (t >> 1) / mark & 1)
		if t&wideMark != 0 && isWideMark(text[i:]) {
			marks++
		}
		letters |= 1 << (c & 63)
		before = t
	}
	b.weight, b.marks = weight, marks+int32(before/mark&1)
	b.ended = endsSentence(text)
	b.rights = weight < maxRights && (hasOne(signs, text, letters) || hasOne(notices, text, letters) && isNotice(text))
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

// A phrase has a bit for each of its bytes, taken modulo 64. Few texts without it have all these bits.
type phrase struct {
	text    []byte
	letters uint64
}

func phrases(texts ...string) (all []phrase) {
	for _, text := range texts {
		p := phrase{text: []byte(text)}
		for _, c := range p.text {
			p.letters |= 1 << (c & 63)
		}
		all = append(all, p)
	}
	return all
}

// signs are phrases of notices of copyright that do not occur in texts about such notices. notices
// reserve all rights or name the owner of the copyright, and occur in others too.
var (
	signs   = phrases("©", "版权所有", "版權所有", "無断転載", "ICP备", "ICP证")
	notices = phrases("yright", "ghts res", "YRIGHT", "GHTS RES")
)

// hasOne reports whether a text with these letters has one of some phrases.
func hasOne(of []phrase, text []byte, letters uint64) bool {
	for i := range of {
		if p := &of[i]; letters&p.letters == p.letters && bytes.Contains(text, p.text) {
			return true
		}
	}
	return false
}

// isNotice reports whether a text that has one of notices is a notice. In a notice a year or a sign
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
