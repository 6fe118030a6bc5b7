package twostage

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/canon/canontest"
)

func newScanner() *canon.Scanner {
	s := canon.NewScanner()
	s.CountUnits()
	return s
}

// read feeds a text to m and returns the number of its parts.
func read(m *maker, s *canon.Scanner, text []byte) (parts int) {
	m.Reset()
	for s.Reset(text); ; {
		step := s.Next()
		if step != canon.Piece {
			m.Segments(s)
			parts++
		}
		if step == canon.End {
			return parts
		}
	}
}

// plainRuns returns the hashes of a text's runs, computed from every five consecutive words.
func plainRuns(text string) (hashes []uint64) {
	words := plainWords(text)
	for i := 0; i+5 <= len(words); i++ {
		var h uint64
		for j, word := range words[i : i+5] {
			h ^= bits.RotateLeft64(word, 13*(4-j))
		}
		hashes = append(hashes, h)
	}
	return hashes
}

// plainWords returns the hashes of the words of a text's segments. If a segment comes in pieces, it
// takes the words of the whole text. There, a symbol written with letters is a word too.
func plainWords(text string) []uint64 {
	pieces, whole, _ := canontest.Read(text)
	if inPieces(text, pieces) {
		return wordsOf(whole)
	}
	var forms []string
	for _, p := range pieces {
		forms = append(forms, p.Form)
	}
	return wordsOf(strings.Join(forms, " "))
}

// inPieces reports whether a segment comes in pieces: only white space separates two of them.
func inPieces(text string, pieces []canontest.Piece) bool {
	for i := 1; i < len(pieces); i++ {
		from, to := pieces[i-1].End, pieces[i].Start
		if to <= from || strings.TrimSpace(text[from:to]) == "" {
			return true
		}
	}
	return false
}

func wordsOf(form string) (words []uint64) {
	s := canon.NewScanner()
	for unit, rest := s.NextUnit([]byte(form)); unit != nil; unit, rest = s.NextUnit(rest) {
		words = append(words, canon.HashUnit(unit))
	}
	return words
}

// plainKeys returns the least hash of each bin as a sorted key. A key ends with the bits of the
// bin's number.
func plainKeys(hashes []uint64) (keys []uint64) {
	least := map[uint64]uint64{}
	for _, h := range hashes {
		bin, key := h>>57, h<<7|h>>57
		if known, ok := least[bin]; !ok || key < known {
			least[bin] = key
		}
	}
	for _, key := range least {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// plainSketch returns the number kept for each bin.
func plainSketch(keys []uint64) (numbers [128]uint64) {
	for _, key := range keys {
		low32 := key >> 7 & 0xffffffff
		numbers[key&127] = 1 + low32*15/(1<<32)
	}
	return numbers
}

// plainDistinct computes maker.Distinct in floating point.
func plainDistinct(hashes []uint64) int {
	filled := map[uint64]bool{}
	for _, h := range hashes {
		filled[h>>49] = true
	}
	n := 0.
	for k := range len(filled) {
		n += 32768 / float64(32768-k)
	}
	return int(math.Round(n))
}

// TestDistinct checks that repeated runs count once at any length, as long as a cell is empty.
func TestDistinct(t *testing.T) {
	m, s, r := newMaker(), canon.NewScanner(), rand.New(rand.NewPCG(3, 3))
	s.CountUnits()
	for _, c := range []struct{ words, times int }{{60, 1}, {60, 30}, {700, 1}, {700, 3}, {20_000, 1}, {20_000, 4}, {200_000, 1}} {
		var b strings.Builder
		for range c.words {
			fmt.Fprintf(&b, "%x ", r.Uint64())
		}
		read(m, s, []byte(strings.Repeat(b.String(), c.times)))
		want := c.words // with repetition, also runs across the joints
		if c.times == 1 {
			want -= runWords - 1
		}
		if got := m.Distinct(); math.Abs(float64(got-want)) > max(1, .04*float64(want)) {
			t.Errorf("%d words %d times: %d distinct runs, want about %d", c.words, c.times, got, want)
		}
	}
	for i := range m.seen {
		m.seen[i] = ^uint64(0)
	}
	if m.Distinct() != m.Runs() {
		t.Errorf("no cell empty: %d distinct runs of %d", m.Distinct(), m.Runs())
	}
}

// checkRuns compares everything derived from a text with the oracle.
func checkRuns(t interface{ Fatalf(string, ...any) }, m *maker, s *canon.Scanner, text string) {
	read(m, s, []byte(text))
	hashes := plainRuns(text)
	if m.Runs() != len(hashes) {
		t.Fatalf("%.80q: %d runs, want %d", text, m.Runs(), len(hashes))
	}
	keys := plainKeys(hashes)
	for _, n := range []int{0, 1, 3, maxKeys, binCount + 1} {
		got := m.AppendKeys([]uint64{1, 2}, n)
		if want := append([]uint64{1, 2}, keys[:min(n, len(keys))]...); !slices.Equal(got, want) {
			t.Fatalf("%.80q: the first %d keys are %x, want %x", text, n, got, want)
		}
	}
	if got, want := m.Distinct(), min(plainDistinct(hashes), len(hashes)); got != want {
		t.Fatalf("%.80q: %d distinct runs, want %d", text, got, want)
	}
	var got sketch
	m.Sketch(&got)
	for bin, want := range plainSketch(keys) {
		if got.at(bin) != want {
			t.Fatalf("%.80q: bin %d has %d, want %d", text, bin, got.at(bin), want)
		}
	}
	var places []byte
	for bin, number := range plainSketch(keys) {
		if number > 0 {
			key := keys[slices.IndexFunc(keys, func(k uint64) bool { return k&127 == uint64(bin) })]
			at := slices.IndexFunc(hashes, func(h uint64) bool { return h<<7|h>>57 == key })
			places = binary.LittleEndian.AppendUint32(places, uint32(at))
		}
	}
	if got := m.AppendPlaces(nil); !bytes.Equal(got, places) {
		t.Fatalf("%.80q: places %x, want %x", text, got, places)
	}
}

func TestMakerEqualsOracle(t *testing.T) {
	canontest.NeedUnicode(t)
	m, s := newMaker(), newScanner()
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(1, 30).Draw(t, "pieces") {
			text += canontest.Text().Draw(t, "text") + " " + rapid.StringMatching(`([a-z]{1,9}|[的是茶馆]|=|,) ?`).Draw(t, "word")
		}
		if pieces, _, _ := canontest.Read(text); !inPieces(text, pieces) {
			checkRuns(t, m, s, text)
		}
	})
}

// TestRunsGoOnOverParts checks that the end of a part, in any place, neither loses nor adds a run.
func TestRunsGoOnOverParts(t *testing.T) {
	m, s := newMaker(), newScanner()
	shifts := 9
	if testing.Short() {
		shifts = 2
	}
	for shift := range shifts {
		rng := rand.New(rand.NewPCG(1, uint64(shift)))
		var b strings.Builder
		b.WriteString(strings.Repeat("x", shift))
		for b.Len() < 200<<10 {
			switch rng.IntN(12) {
			case 0:
				b.WriteString("。")
			case 1:
				b.WriteString(", ")
			case 2:
				b.WriteString("茶馆")
			case 3:
				b.WriteString(" + é ")
			default:
				fmt.Fprintf(&b, "%x ", rng.Uint32N(1<<20))
			}
		}
		if parts := read(m, s, []byte(b.String())); parts < 3 {
			t.Fatalf("%d parts", parts)
		}
		checkRuns(t, m, s, b.String())
	}
}

func TestLongWordsAndShortTexts(t *testing.T) {
	m, s := newMaker(), newScanner()
	for _, text := range []string{
		"", "+ + +", "one", "one two three four", "one two three four five", "一二三四", "一二三四五",
		strings.Repeat("abcdefgh", 20<<10) + " two three four five six",
		strings.Repeat("same word ", 40<<10),
	} {
		checkRuns(t, m, s, text)
	}
}

// stored holds sketches and first keys from an independent program. Its words were split manually,
// and HashUnit was written from its description.
var stored = []struct {
	text, sketch string
	keys         []uint64
}{
	{
		"The ferry leaves the harbour at seven, and returns long after nightfall, when the market has closed.",
		"0c4001000002000000040010880020409847d698e1fb1b",
		[]uint64{0x12d0352db2630821, 0x1808c486b5dc9f7f, 0x26ae749f5f65ee88},
	},
	{
		"老周的茶馆开在南门外的河边，门口没有招牌",
		"0e0000000280200a000046300004100402f514bf3d35c739",
		[]uint64{0x339768a7853830d4, 0x37ccadca5bb9c572, 0x444d97ee0906684a},
	},
	{
		numbered(1000),
		"8065fd72ea8fa57bbdc878317adccc38f76f632b8d998dc828a86c8befff97bc" +
			"dbc5ab3571a6ed9159835d8d6ca8e154c622a3c214fdd3c36b31f624b18dad76" +
			"b3",
		[]uint64{0x1fb9bd15203610, 0x7939ddc4cea342, 0x86c96552d1e618},
	},
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

// TestStored checks stored values, which may never change.
func TestStored(t *testing.T) {
	m, s := newMaker(), newScanner()
	for _, want := range stored {
		read(m, s, []byte(want.text))
		var sketch sketch
		m.Sketch(&sketch)
		if got := hex.EncodeToString(sketch.Append(nil)); got != want.sketch {
			t.Errorf("%.30q: sketch %s, want %s", want.text, got, want.sketch)
		}
		if got := m.AppendKeys(nil, len(want.keys)); !slices.Equal(got, want.keys) {
			t.Errorf("%.30q: keys %x, want %x", want.text, got, want.keys)
		}
	}
}

// TestWordsCount checks that case, width, punctuation and line breaks do not count.
func TestWordsCount(t *testing.T) {
	m, s := newMaker(), newScanner()
	sketch := func(text string) (got sketch) {
		read(m, s, []byte(text))
		m.Sketch(&got)
		return got
	}
	a := sketch("The ferry leaves at seven, and it returns. Nobody knows when 茶馆开门。")
	if b := sketch("THE FERRY\nleaves； at “seven” and it ｒｅｔｕｒｎｓ nobody = knows + when 茶 馆，开门"); a != b {
		t.Errorf("%x is not %x", a, b)
	}
	if b := sketch("The ferry leaves at eight, and it returns. Nobody knows when 茶馆开门。"); a == b {
		t.Error("another word makes no other sketch")
	}
}

func TestMakerNoAllocation(t *testing.T) {
	m, s := newMaker(), newScanner()
	text := []byte(strings.Repeat("Some words that are read again and again. 一二三四五六七。", 3000))
	keys, data := make([]uint64, 0, maxKeys), make([]byte, 0, 1+binCount/2)
	var a, b sketch
	share := 0.0
	allocs := testing.AllocsPerRun(10, func() {
		read(m, s, text)
		keys = m.AppendKeys(keys[:0], maxKeys)
		m.Sketch(&a)
		data = a.Append(data[:0])
		if _, err := b.Parse(data); err != nil {
			panic(err)
		}
		share += a.Compare(&b, 9, 9).Share(9)
	})
	if allocs > 0 {
		t.Errorf("%v allocations a text", allocs)
	}
}
