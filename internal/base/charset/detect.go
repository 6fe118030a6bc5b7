package charset

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// decodeDetected decodes body, which is not valid UTF-8, by the encoding that its bytes resemble.
func decodeDetected(dst, body []byte) (text []byte, name string) {
	if isNearlyUTF8(body) {
		return transformed(dst, body, utf8Of), utf8Of
	}
	if name := bestMulti(body); name != "" {
		if text, ok := decodeMulti(dst, body, name, detectedFaults); ok {
			return text, name
		}
	}
	if name := bestSingle(body); name != "" {
		if text, ok := decodeSingle(dst, body, singles[name]); ok {
			return text, name
		}
	}
	return dst, ""
}

// isNearlyUTF8 reports whether body has at least two multi-byte UTF-8 sequences, and twenty for
// each byte outside any. No other encoding has that many by chance.
func isNearlyUTF8(body []byte) bool {
	sequences, faults := 0, 0
	for len(body) > 0 {
		body = body[asciiPrefix(body):]
		if len(body) == 0 {
			break
		}
		r, size := utf8.DecodeRune(body)
		switch {
		case r != utf8.RuneError || size > 1:
			sequences++
		case utf8.FullRune(body): // not cut off by the end
			faults++
		}
		body = body[size:]
	}
	return sequences >= 2 && sequences >= 20*faults
}

// sampled limits the bytes examined to recognize an encoding. asciiKept is the number of ASCII
// bytes kept on either side of other bytes: markup is no evidence.
const (
	sampled   = 1 << 13
	asciiKept = 8
)

// sample returns the beginning of body without long stretches of ASCII.
func sample(body []byte) []byte {
	var piece []byte
	for len(body) > 0 && len(piece) < sampled {
		ascii := asciiPrefix(body)
		if ascii <= 2*asciiKept {
			piece = append(piece, body[:ascii]...)
		} else {
			piece = append(append(piece, body[:asciiKept]...), body[ascii-asciiKept:ascii]...)
		}
		body = body[ascii:]
		other := 0
		for other < len(body) && body[other] >= 0x80 && len(piece)+other < sampled {
			other++
		}
		piece, body = append(piece, body[:other]...), body[other:]
	}
	return piece
}

// frequent has the characters that make up most of a text in languages written with thousands, for
// each of their encodings.
var frequent = []struct {
	name string
	set  *[1 << 16]bool
}{
	{"gb18030", setOf(simplifiedCommon, traditionalCommon, "，。、；：？！“”（）《》")},
	{"big5", setOf(traditionalCommon, "，。、；：？！「」（）《》")},
	{"shift_jis", japaneseSet},
	{"euc-jp", japaneseSet},
	{"euc-kr", setOf(koreanCommon)},
}

var japaneseSet = setOf(japaneseCommon, "、。「」・ー（）")

func setOf(characters ...string) *[1 << 16]bool {
	set := new([1 << 16]bool)
	for _, r := range strings.Join(characters, "") {
		set[r] = true
	}
	return set
}

// leastFrequent is the least share of frequent characters among those beyond ASCII. In the texts
// counted it was 76 to 97%.
const leastFrequent = 0.3

// bestMulti returns the multi-byte encoding with the largest share of frequent characters, or "" if
// no share exceeds leastFrequent.
func bestMulti(body []byte) (best string) {
	piece := sample(body)
	score := leastFrequent
	var buffer []byte
	for _, f := range frequent {
		buffer = transformed(buffer[:0], piece, f.name)
		if s := shareFrequent(buffer, f.set); s > score {
			best, score = f.name, s
		}
	}
	return best
}

// shareFrequent returns the share of frequent characters among those beyond ASCII. It returns 0 if
// these are fewer than three, or if more than one in a hundred is malformed.
func shareFrequent(text []byte, set *[1 << 16]bool) float64 {
	characters, known, faults := 0, 0, 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		characters++
		if r == utf8.RuneError && i < len(text) {
			faults++
		} else if r < 1<<16 && set[r] {
			known++
		}
	}
	if characters < 3 || faults*100 > characters {
		return 0
	}
	return float64(known) / float64(characters)
}

// A guess is a language in a single-byte encoding.
type guess struct {
	name  string
	kinds [256]kind
	worth [128]float64 // of the bytes from 0x80 on, in bits, at most 0
	doubt float64      // bits
	latin bool         // few letters of its texts are beyond ASCII
}

// A kind classifies a byte.
type kind uint8

const (
	other kind = iota
	lower
	upper
	apostrophe
)

// Costs, in bits, of bytes that are not letters of the language, and of letters in combinations
// that words do not have.
const (
	costPunctuation = 5
	costApostrophe  = 4
	costForeign     = 10 // a letter of another language, or a symbol
	costNothing     = 14 // no character
	costCase        = 6  // an upper case letter after a lower case one
	costTogether    = 2  // two letters beyond ASCII in a language with few
	costMixed       = 8  // beside an ASCII letter, in a script without these
	costInWord      = 4  // a symbol between two letters
	costSpace       = 2  // a no-break space; some pages use many for layout
	costAlone       = 6  // a one-letter word, in capitals or in a script beyond ASCII
)

// fewLetters is the number by which characters beyond ASCII may exceed ASCII letters, in a language
// with few of the former.
const fewLetters = 8

// fewSigns is the number of symbols beyond ASCII that any text may have. If more than that
// outnumber the letters, they are halves of two-byte characters.
const fewSigns = 8

// noBreakSpace is U+00A0 in almost all single-byte encodings.
const noBreakSpace = 0xa0

// worstGuess is the highest average cost of a byte. Letters of a language cost one to five bits.
const worstGuess = 6.5

// languages are the languages distinguished in each encoding. doubt is the evidence needed for that
// encoding, in bits: more for rarer ones. So a word or two suffice for the usual ones.
var languages = []struct {
	name, codes string
	doubt       float64
}{
	{"windows-1252", "fr de es pt it ca sv da nb fi", 0},
	{"windows-1251", "ru uk bg be sr", 2},
	{"koi8-r", "ru", 6},
	{"koi8-u", "uk", 6},
	{"iso-8859-5", "ru bg be sr", 8},
	{"ibm866", "ru bg be", 8},
	{"x-mac-cyrillic", "ru uk bg be sr", 12},
	{"windows-1250", "cs sk pl hu ro sl hr", 6},
	{"iso-8859-2", "cs sk pl hu ro sl hr", 7},
	{"windows-1253", "el", 2},
	{"iso-8859-7", "el", 3},
	{"windows-1254", "tr", 8},
	{"windows-1255", "he", 4},
	{"windows-1256", "ar", 4},
	{"iso-8859-6", "ar", 6},
	{"windows-1257", "lt lv et", 14},
	{"windows-874", "th", 4},
	{"macintosh", "fr de es pt it sv", 12},
}

var guesses = sync.OnceValue(func() (all []guess) {
	for _, l := range languages {
		for code := range strings.FieldsSeq(l.codes) {
			all = append(all, newGuess(l.name, code, l.doubt))
		}
	}
	return all
})

func newGuess(name, code string, doubt float64) guess {
	g := guess{name: name, doubt: doubt}
	bits := map[rune]float64{}
	for letter := range strings.FieldsSeq(alphabets[code]) {
		r, size := utf8.DecodeRuneInString(letter)
		often, err := strconv.ParseFloat(letter[size:], 64)
		if err != nil {
			panic(err) // each letter of the table has a number
		}
		bits[r] = math.Log2(often / 10000)
		g.latin = g.latin || unicode.Is(unicode.Latin, r)
	}
	for c := 'a'; c <= 'z'; c++ {
		g.kinds[c], g.kinds[c-'a'+'A'] = lower, upper
	}
	for i := range g.worth {
		r := singles[name].DecodeByte(byte(0x80 + i))
		g.worth[i] = worthOf(r, bits)
		switch {
		case r == '’':
			g.kinds[0x80+i], g.worth[i] = apostrophe, -costApostrophe
		case unicode.IsUpper(r):
			g.kinds[0x80+i] = upper
		case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r):
			g.kinds[0x80+i] = lower
		}
	}
	return g
}

func worthOf(r rune, bits map[rune]float64) float64 {
	if w, known := bits[unicode.ToLower(r)]; known {
		return w
	}
	switch {
	case r == utf8.RuneError || r < 0xa0:
		return -costNothing
	case r == '\u00a0':
		return -costSpace
	case strings.ContainsRune("«»“”„‘’‚–—…©®°§№·€¿¡", r):
		return -costPunctuation
	}
	return -costForeign
}

// bestSingle returns the single-byte encoding in which body best resembles one of its languages. If
// it resembles none, the result is windows-1252 if under a fifth of it is beyond ASCII, else "".
func bestSingle(body []byte) (best string) {
	piece := sample(body)
	score, bestFit := math.Inf(-1), math.Inf(-1)
	all := guesses()
	for i := range all {
		if s, fit := all[i].of(piece); s > score {
			best, score, bestFit = all[i].name, s, fit
		}
	}
	if bestFit > -worstGuess {
		return best
	}
	high := 0
	for _, c := range body {
		high += int(c >> 7)
	}
	if high*5 < len(body) { // as in Western European languages, or English with symbols
		return "windows-1252"
	}
	return ""
}

// of returns the average worth of the bytes beyond ASCII, with the doubt and without.
func (g *guess) of(piece []byte) (score, fit float64) {
	sum, n, ascii, signs, spaces := 0.0, 0, 0, 0, 0
	before, high := other, false
	for i, c := range piece {
		k := g.kinds[c]
		if c < 0x80 {
			if high && !g.latin && before != other && k != other {
				sum -= costMixed
			}
			if k != other {
				ascii++
			}
			before, high = k, false
			continue
		}
		sum += g.worth[c-0x80]
		n++
		switch {
		case k == other:
			if c == noBreakSpace { // pages use these for layout
				spaces++
			} else {
				signs++
			}
			if before != other && i+1 < len(piece) && g.kinds[piece[i+1]] != other {
				sum -= costInWord
			}
		case high && before != other && g.latin:
			sum -= costTogether
		case !high && before != other && !g.latin:
			sum -= costMixed
		case (!g.latin || k == upper) && before == other && (i+1 == len(piece) || g.kinds[piece[i+1]] == other):
			sum -= costAlone
		}
		if k == upper && before == lower {
			sum -= costCase
		}
		before, high = k, true
	}
	switch {
	case n == 0, g.latin && n-spaces > ascii+fewLetters, signs > fewSigns && signs > ascii+n-spaces-signs:
		return math.Inf(-1), math.Inf(-1)
	}
	return (sum - g.doubt) / float64(n), sum / float64(n)
}
