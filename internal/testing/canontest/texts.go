package canontest

import "pgregory.net/rapid"

// Fragments are the parts of texts for property tests: every kind of rune, and neighbours that
// affect the rules.
var Fragments = []string{
	"a", "B", "word", "The Quick", "z9", "1", "23", "456", "7890", "٣", "３", " ", "  ", "\t", "\u00a0", "\u3000", "\u1680",
	".", ",", "'", "’", "．", "，", "＇", "ʼ", "。", "、", "-", "\n", "\r\n", "\u2028", "\x00", "\ufffd", "\xff", "\xe4\xb8", "\xed\xa0\x80", "\xe0\x80\x80",
	"=", "<", "→", "😀", "👍🏽", "℃", "´", "゛", "≠", "\u0338", "#️⃣",
	"中", "文字", "漢", "〇", "々", "ー", "ア", "か", "が", "か\u3099", "ｶ", "ﾞ", "ﾊﾟ", "㈱", "㈠", "⑴", "½", "①", "ﬁ", "Ａ", "ｂ", "ﷺ", "\ufc5e",
	"é", "É", "e\u0301", "\u0301", "\u0323", "q\u0323\u0307", "q\u0307\u0323", "İ", "ı", "ß", "ẞ", "ς", "Σ", "ΐ", "ᾂ", "ᾳ", "\u0345", "ŉ", "Å", "K",
	"한", "ᄒ", "ᅡ", "ᆫ", "각", "가", "ㄱ", "ﾡ", "\u115f", "\u3164",
	"ภาษา", "ຄໍາ", "ភាសា", "မြန်", "ြ", "ိ", "བོད་", "་", "༌", "ཡིག", "။", "๕",
	"ก", "ำ", "กำ", "ที่", "ู้", "नि", "क़", "ু", "ো",
	"\u200b", "\u200d", "\u00ad", "\ufeff", "\u202e", "\ufe0f", "\U000e0100", "\u034f", "\u0600", "\ufff9", "\U00013430",
	"𠀀", "\U0002f800", "\U00030000", "\U0003134b", "\U000f0000", "𝐀", "𝟏", "Ꭰ", "ꭰ", "\U0001e900", "\U00011099\U000110ba", "\U000110a5\U000110ba",
	"ㅠ", "ㅎ", "ㄶ", "ᄒㅏ", "ﾣ", "\u0378", "\u0378\u0301", "ড়", "शि\u093c", "ײַ", "㌖", "∫∫", "⨌", "𝅗𝅥", "\U0001d160",
	"a line that is as long as others\n", "one more line of words and words\r\n", "a full line of words \t\r\n  ", "一行没有标点而且够长的文字\n", "שורה מלאה של מילים ועוד מילים\n", " \n", "a line\n",
}

// Text generates texts of fragments. Some fragments repeat so often that segments become overlong.
func Text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b []byte
		for range rapid.IntRange(0, 60).Draw(t, "parts") {
			s := rapid.SampledFrom(Fragments).Draw(t, "part")
			n := 1
			if rapid.IntRange(0, 15).Draw(t, "often") == 0 {
				n = rapid.IntRange(1, 300).Draw(t, "times")
			}
			for range n {
				b = append(b, s...)
			}
		}
		return string(b)
	})
}
