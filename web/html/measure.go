package html

import (
	"bytes"
	"unicode/utf8"
)

// letters is what each byte of a text weighs. A letter or digit weighs 1, and a character
// of Chinese, Japanese or Korean 3, for it stands for more than half a word.
var letters = func() (t [256]uint8) {
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
	return t
}()

// weigh is the weight of a text.
func weigh(text []byte) (weight int32) {
	for _, c := range text {
		weight += int32(letters[c])
	}
	return weight
}

// What bytes may be the beginning of, or a part.
const (
	ofMark  = 1 << iota // marks begin with it
	ofWord              // a word of a notice of copyright has it, and few others
	notLast             // it may follow the mark that ends a sentence
)

var partOf = func() (t [256]uint8) {
	for _, c := range []byte(",.;:!?\xe3\xef\xd8") {
		t[c] |= ofMark
	}
	for _, c := range []byte("yYvV") {
		t[c] |= ofWord
	}
	for _, c := range []byte(" \n\t\"')]}") {
		t[c] |= notLast
	}
	return t
}()

// measure sets what the block's text says of it.
func (b *block) measure(text []byte) {
	notice, all := notice{}, byte(0)
	for i, c := range text {
		b.weight += int32(letters[c])
		all |= c
		if p := partOf[c]; p&(ofMark|ofWord) != 0 {
			switch {
			case p&ofWord != 0:
				notice.look(text, i)
			case endsPhrase(text[i:]):
				b.marks++
			}
		}
	}
	b.ended = endsSentence(text)
	b.rights = b.weight < maxRights && (notice.found || all >= 0x80 && hasNotice(text))
}

// endsSentence reports whether a text ends with a mark, and closing brackets and quotation
// marks behind it.
func endsSentence(text []byte) bool {
	for len(text) > 0 && partOf[text[len(text)-1]]&notLast != 0 {
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

// endsPhrase reports whether a text begins with a mark and, unless it is of Chinese or
// Japanese, white space or a closing quotation mark.
func endsPhrase(text []byte) bool {
	if text[0] < 0x80 {
		if len(text) == 1 {
			return true
		}
		switch text[1] {
		case ' ', '\n', '\t', '"', '\'', ')', 0xe2, 0xc2:
			return true
		}
		return text[1] >= 0xe3 // Chinese with marks of ASCII
	}
	if len(text) < 3 {
		return false
	}
	switch [3]byte(text[:3]) {
	case [3]byte{0xe3, 0x80, 0x81}, [3]byte{0xe3, 0x80, 0x82}, // 、。
		[3]byte{0xef, 0xbc, 0x8c}, [3]byte{0xef, 0xbc, 0x81}, [3]byte{0xef, 0xbc, 0x9f}, // ，！？
		[3]byte{0xef, 0xbc, 0x9b}, [3]byte{0xef, 0xbc, 0x9a}: // ；：
		return true
	}
	return text[0] == 0xd8 && (text[1] == 0x8c || text[1] == 0x9b || text[1] == 0x9f) // Arabic
}

// maxRights is what a notice of copyright weighs, at most.
const maxRights = 300

// notices are what stands in notices of copyright, and in nothing that tells of such.
var notices = [][]byte{
	[]byte("©"), []byte("版权所有"), []byte("版權所有"), []byte("ICP备"), []byte("ICP证"), []byte("無断転載"),
}

// hasNotice reports whether a text has one of notices.
func hasNotice(text []byte) bool {
	for _, n := range notices {
		if bytes.Contains(text, n) {
			return true
		}
	}
	return false
}

// notice is what was seen of a notice of copyright in ASCII.
type notice struct {
	found bool
	word  bool // the word, the first time: where that tells of something else, so does the text
}

// look looks at the letter at an index of a text, y or v: whether it is that of the word,
// with a year or a sign behind it, or says that all rights are reserved.
func (n *notice) look(text []byte, i int) {
	if text[i]|0x20 == 'v' {
		const at = len("ll rights reser")
		n.found = n.found || i >= at && (bytes.HasPrefix(text[i-at:], []byte("ll rights reserved")) || bytes.HasPrefix(text[i-at:], []byte("LL RIGHTS RESERVED")))
		return
	}
	if n.word || i < 2 {
		return
	}
	from := text[i-2:]
	if n.word = bytes.HasPrefix(from, []byte("opyright")) || bytes.HasPrefix(from, []byte("OPYRIGHT")); !n.word {
		return
	}
	after := bytes.TrimLeft(from[len("opyright"):], " :")
	n.found = n.found || len(after) > 0 && (after[0] == '(' || '0' <= after[0] && after[0] <= '9')
}
