package short

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstseen/firstseen/feature/canon/fold"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// This file has the rules of the package once more, in strings and maps. It shares the tables of
// wrappers, of negations and of sides, and no code.

// oracleWords returns the words of a text without wrappers, and whether it ends in an ellipsis.
func oracleWords(text string) (list []string, cut bool) {
	pieces, _, _ := canontest.Read(text)
	for _, p := range pieces {
		form := strings.Map(func(r rune) rune {
			if r = fold.Rune(r); r == 0 || r == ',' || r == '\'' {
				return -1
			}
			return r
		}, p.Form)
		var apart strings.Builder
		for _, r := range form {
			if oracleSingle(r) {
				apart.WriteString(" " + string(r) + " ")
			} else {
				apart.WriteRune(r)
			}
		}
		list = append(list, strings.Fields(apart.String())...)
	}
	text = strings.TrimRight(text, " \n[")
	return list, strings.HasSuffix(text, "…") || strings.HasSuffix(text, "...")
}

func oracleSingle(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

func oracleWidth(list ...string) (n int) {
	for _, r := range strings.Join(list, "") {
		n++
		if oracleSingle(r) && !unicode.Is(unicode.Thai, r) {
			n++
		}
	}
	return n
}

func only(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && oracleSingle(r)
}

// oracleHunks returns the words of x and y between the words of a longest common subsequence.
func oracleHunks(x, y []string) (hunks [][4]int) {
	from, i, j := 0, len(x), len(y)
	for from < min(i, j) && x[from] == y[from] {
		from++
	}
	for min(i, j) > from && x[i-1] == y[j-1] {
		i, j = i-1, j-1
	}
	longest := make([][]int, len(x)+1)
	for a := range longest {
		longest[a] = make([]int, len(y)+1)
		for b := range longest[a] {
			switch {
			case a <= from || b <= from:
			case x[a-1] == y[b-1]:
				longest[a][b] = longest[a-1][b-1] + 1
			default:
				longest[a][b] = max(longest[a-1][b], longest[a][b-1])
			}
		}
	}
	endX, endY := i, j
	done := func() {
		if i < endX || j < endY {
			hunks = append(hunks, [4]int{i, endX, j, endY})
		}
	}
	for i > from && j > from {
		switch longest[i][j] {
		case longest[i-1][j]:
			i--
		case longest[i][j-1]:
			j--
		default:
			done()
			i, j = i-1, j-1
			endX, endY = i, j
		}
	}
	i, j = from, from
	done()
	slices.Reverse(hunks)
	return hunks
}

// oracleJoined returns words joined, with a bar between digits that a space parts.
func oracleJoined(list []string) string {
	s := strings.Join(list, " ")
	for i := 1; i+1 < len(s); i++ {
		if s[i] == ' ' && '0' <= s[i-1] && s[i-1] <= '9' && '0' <= s[i+1] && s[i+1] <= '9' {
			s = s[:i] + "|" + s[i+1:]
		}
	}
	return strings.ReplaceAll(s, " ", "")
}

// oracleSame reports whether two joined texts are equal but for bars: one may be a dot or nothing.
func oracleSame(a, b string) bool {
	if a == b {
		return true
	}
	if a != "" && b != "" && (a[0] == b[0] || a[0] == '|' && b[0] == '.' || a[0] == '.' && b[0] == '|') && oracleSame(a[1:], b[1:]) {
		return true
	}
	return a != "" && a[0] == '|' && oracleSame(a[1:], b) || b != "" && b[0] == '|' && oracleSame(a, b[1:])
}

func oracleSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	x, y := []rune(a), []rune(b)
	if len(x) < 5 || x[0] != y[0] || only(a) || strings.ContainsAny(a+b, "0123456789") {
		return false
	}
	for i := range y {
		gone := slices.Delete(slices.Clone(y), i, i+1)
		if slices.Equal(gone, x) || len(x) == len(y) && slices.Equal(gone, slices.Delete(slices.Clone(x), i, i+1)) {
			return true
		}
		if i+1 < len(y) {
			swapped := slices.Clone(y)
			swapped[i], swapped[i+1] = y[i+1], y[i]
			if slices.Equal(swapped, x) {
				return true
			}
		}
	}
	return false
}

func oracleDenials(all []string, from, to int) (n int) {
	joined := func(a, b int) string {
		if a < 0 || b > len(all) {
			return ""
		}
		return strings.Join(all[a:b], "")
	}
	for i := from; i < to; i++ {
		if negations[all[i]] && !compounds[joined(i-1, i+1)] && !compounds[joined(i, i+2)] {
			n++
		}
	}
	return n
}

func oracleMistake(a, b string) bool {
	for _, side := range sides {
		if strings.Contains(string(side), a) && strings.Contains(string(side), b) {
			return false
		}
	}
	return only(a) && only(b)
}

func oracleNumber(list []string) bool {
	return strings.ContainsAny(strings.Join(list, ""), "0123456789")
}

// oracleMerged joins hunks with one character between them that is narrower than half of each.
func oracleMerged(hunks [][4]int, x, y []string) (merged [][4]int) {
	wide := func(h [4]int) int { return max(oracleWidth(x[h[0]:h[1]]...), oracleWidth(y[h[2]:h[3]]...)) }
	for _, h := range hunks {
		if n := len(merged); n > 0 {
			g := merged[n-1]
			between := x[g[1]:h[0]]
			if len(between) == 1 && only(between[0]) && wide(g) >= 2*oracleWidth(between[0]) && wide(h) >= 2*oracleWidth(between[0]) {
				merged[n-1] = [4]int{g[0], h[1], g[2], h[3]}
				continue
			}
		}
		merged = append(merged, h)
	}
	return merged
}

// oracleCompare decides about a later text and an earlier one, both without wrappers.
func oracleCompare(later, earlier string, threshold float64) Finding {
	x, xCut := oracleWords(later)
	y, yCut := oracleWords(earlier)
	if len(x) == 0 || len(y) == 0 {
		return Finding{Differ: Length}
	}
	var ux, uy []string
	var missing, slips, put, replaced, denials int
	var changed, widest, added, lost float64
	hunks := oracleHunks(x, y)
	for _, h := range hunks {
		xs, ys := x[h[0]:h[1]], y[h[2]:h[3]]
		if len(xs) == 0 || len(ys) == 0 || !oracleSame(oracleJoined(xs), oracleJoined(ys)) {
			missing += len(xs)
		}
	}
	for _, h := range oracleMerged(hunks, x, y) {
		xs, ys := x[h[0]:h[1]], y[h[2]:h[3]]
		if len(xs) > 0 && len(ys) > 0 && oracleSame(oracleJoined(xs), oracleJoined(ys)) {
			continue
		}
		wx, wy := float64(oracleWidth(xs...)), float64(oracleWidth(ys...))
		head, tail := h[0] == 0 && h[2] == 0, h[1] == len(x) && h[3] == len(y)
		cutX := xCut && (len(xs) == 0 || len(xs) == 1 && len(ys) > 0 && strings.HasPrefix(ys[0], xs[0]))
		cutY := yCut && len(ys) == 1 && len(xs) > 0 && strings.HasPrefix(xs[0], ys[0])
		slip := len(xs) == len(ys)
		for i := range xs {
			slip = slip && oracleSlip(xs[i], ys[i])
		}
		if tail && cutX {
			lost += wy - wx
			continue
		} else if tail && cutY {
			added += wx - wy
			continue
		} else if slip {
			changed += max(wx, wy) / 2
			continue
		}
		ux, uy = append(ux, xs...), append(uy, ys...)
		denials += oracleDenials(x, h[0], h[1]) - oracleDenials(y, h[2], h[3])
		if (head || tail) && len(xs) == 0 {
			lost += wy
			continue
		} else if (head || tail) && len(ys) == 0 {
			added += wx
			continue
		}
		if len(xs) == 0 || len(ys) == 0 {
			put++
		} else {
			replaced++
			if len(xs) == 1 && len(ys) == 1 && oracleMistake(xs[0], ys[0]) {
				slips++
			}
		}
		changed += max(wx, wy)
		widest = max(widest, wx, wy)
	}
	for i := 0; i < len(ux); i++ {
		if j := slices.Index(uy, ux[i]); j >= 0 {
			changed -= float64(oracleWidth(ux[i]))
			ux, uy = slices.Delete(ux, i, i+1), slices.Delete(uy, j, j+1)
			i--
		}
	}
	f := Finding{Score: float64(len(x)-missing) / float64(len(x))}
	width := float64(min(oracleWidth(x...), oracleWidth(y...)))
	edited, free := put >= 1 && replaced >= 1, put >= 3 && replaced >= 3
	passage := max(16, width/5)
	mostLost := passage
	if xCut {
		mostLost = float64(oracleWidth(y...)) / 2
	} else {
		changed += lost
	}
	switch nx, ny := oracleNumber(ux), oracleNumber(uy); {
	case f.Score < threshold:
		f.Differ = Length
	case nx && ny && !free, (nx || ny) && !edited:
		f.Differ = Numbers
	case denials != 0 && !free:
		f.Differ = Negation
	case replaced > 0 && !edited && (slips < replaced || 12*slips > min(len(x), len(y))):
		f.Differ = Word
	case widest > passage, added > passage, lost > mostLost, changed+added > min(max(0, (width-16)/2), 32+width/5):
		f.Differ = Length
	}
	f.Copy = f.Differ == None
	return f
}
