package html

import "bytes"

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

// isMark has the bytes that marks begin with.
var isMark = [256]bool{',': true, '.': true, ';': true, ':': true, '!': true, '?': true, 0xe3: true, 0xef: true, 0xd8: true}

// measure sets what the block's text says of it.
func (b *block) measure(text []byte) {
	for i, c := range text {
		b.weight += int32(letters[c])
		if isMark[c] && endsPhrase(text[i:]) {
			b.marks++
		}
	}
	end := bytes.TrimRight(text, " \n\t\"')]}")
	for _, quote := range []string{"”", "’", "»", "」", "』", "）"} {
		end = bytes.TrimSuffix(end, []byte(quote))
	}
	for _, mark := range []string{".", "!", "?", ":", "…", "。", "！", "？", "：", "；"} {
		b.ended = b.ended || bytes.HasSuffix(end, []byte(mark))
	}
	b.rights = b.weight < maxRights && hasRights(text)
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
	[]byte("©"), []byte("ll rights reserved"), []byte("LL RIGHTS RESERVED"),
	[]byte("版权所有"), []byte("版權所有"), []byte("ICP备"), []byte("ICP证"), []byte("無断転載"),
}

// hasRights reports whether a text has a notice of copyright: one of notices, or the word
// with a year or sign behind it.
func hasRights(text []byte) bool {
	for _, n := range notices {
		if bytes.Contains(text, n) {
			return true
		}
	}
	for _, word := range []string{"opyright", "OPYRIGHT"} {
		_, after, found := bytes.Cut(text, []byte(word))
		if after = bytes.TrimLeft(after, " :"); found && len(after) > 0 && (after[0] == '(' || '0' <= after[0] && after[0] <= '9') {
			return true
		}
	}
	return false
}
