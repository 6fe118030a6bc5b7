package letters

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

func newScanner() *canon.Scanner {
	s := canon.NewScanner()
	s.CountUnits()
	return s
}

// read feeds a text to m, together pieces at once.
func read(m *Maker, s *canon.Scanner, text []byte, together int) {
	m.Reset(len(text))
	waiting := 0
	for s.Reset(text); ; {
		step := s.Next()
		if waiting++; step == canon.Piece && waiting < together {
			continue
		}
		waiting = 0
		m.Segments(s)
		s.ForgetSegments()
		if step == canon.End {
			m.Finish()
			return
		}
	}
}

// check compares all that a Maker finds in a text with the oracle.
func check(t interface{ Fatalf(string, ...any) }, m *Maker, s *canon.Scanner, text string, together ...int) {
	want := oracleOf(lettersOf(s, []byte(text)), len(text))
	for _, n := range together {
		read(m, s, []byte(text), n)
		if m.Letters() != len(want.letters) || m.Runs() != len(want.hashes) {
			t.Fatalf("%.80q, %d together: %d letters and %d runs, want %d and %d", text, n, m.Letters(), m.Runs(), len(want.letters), len(want.hashes))
		}
		for bin := range Bins {
			if number, place := m.Bin(bin); number != want.numbers[bin] || place != want.places[bin] {
				t.Fatalf("%.80q, %d together: bin %d has %d at %d, want %d at %d", text, n, bin, number, place, want.numbers[bin], want.places[bin])
			}
		}
		if got := m.Distinct(); len(want.hashes) > 0 && got != want.distinct {
			t.Fatalf("%.80q, %d together: %d distinct runs, want %d", text, n, got, want.distinct)
		}
		for most := range MaxKeys + 2 {
			got := m.AppendKeys([]uint64{1, 2}, most)
			if want := append([]uint64{1, 2}, want.keys[:min(most, len(want.keys))]...); !slices.Equal(got, want) {
				t.Fatalf("%.80q, %d together: the first %d keys are %x, want %x", text, n, most, got, want)
			}
		}
	}
}

// TestMakerEqualsOracle draws texts of some hundred to some ten thousand letters. Many repeat a few
// words, so that key runs and distinct runs are few.
func TestMakerEqualsOracle(t *testing.T) {
	m, s := NewMaker(), newScanner()
	part := rapid.OneOf(
		canontest.Text(),
		rapid.StringMatching(`([a-z]{1,9} ){1,30}`),
		rapid.StringMatching(`([的是茶馆一-龥]{1,9}[，。]){1,30}`),
		rapid.StringMatching(`([ab]{1,2} ){1,40}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			times := rapid.SampledFrom([]int{1, 1, 1, 1, 3, 40, 300}).Draw(t, "times")
			text += strings.Repeat(part.Draw(t, "part"), times)
			text = text[:min(len(text), 30_000)]
		}
		check(t, m, s, text, rapid.IntRange(1, 90).Draw(t, "together"))
	})
}

// TestGuide reads the texts of the Debian guide in several chunks.
func TestGuide(t *testing.T) {
	data, err := os.ReadFile("../../testdata/bilingual/guide.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	m, s, all := NewMaker(), newScanner(), ""
	for line := range strings.Lines(string(data)) {
		var doc struct{ Text string }
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		check(t, m, s, doc.Text, 1, 7, canon.Together, 1<<30)
		all += doc.Text + "\n"
	}
	check(t, m, s, all, canon.Together, 1<<30) // several parts
}

// TestEdges checks texts of about as many letters as a run, a key run and a chunk.
func TestEdges(t *testing.T) {
	m, s, r := NewMaker(), newScanner(), rand.New(rand.NewPCG(7, 7))
	for _, letters := range []int{0, 6, 13, 31, 32, 45, 46, together + Run, together + KeyRun, together + KeyRun + block, 2*together + KeyRun, counted, 2 * counted} {
		for n := max(0, letters-2); n < letters+3; n++ {
			text := make([]byte, n)
			for i := range text {
				text[i] = byte('a' + r.IntN(26))
			}
			check(t, m, s, string(text), 1)
			check(t, m, s, strings.Repeat("a", n), 1)
			check(t, m, s, string(text)+strings.Repeat(" ", 9000), 1)
		}
	}
}

// TestFewKeysThenMany checks that key runs are the least ones if the first letters of a text have
// fewer than eight, and later ones repeat.
func TestFewKeysThenMany(t *testing.T) {
	m, s, r := NewMaker(), newScanner(), rand.New(rand.NewPCG(8, 8))
	for range 60 {
		first, then := make([]byte, 1+r.IntN(7)), make([]byte, 10+r.IntN(300))
		for _, b := range [][]byte{first, then} {
			for i := range b {
				b[i] = byte('a' + r.IntN(26))
			}
		}
		check(t, m, s, strings.Repeat(string(first), 3000/len(first))+strings.Repeat(string(then), 1+3000/len(then)), 1)
	}
}

// TestDistinct measures the estimate of distinct runs: its mean, and its standard error, which the
// comment on counted bounds. Repeated runs count once. No estimate is above the number of runs, so
// texts without repetition are estimated a little low.
func TestDistinct(t *testing.T) {
	texts := 200
	if testing.Short() {
		texts = 60
	}
	m, s, r := NewMaker(), newScanner(), rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct{ letters, times int }{{300, 1}, {300, 10}, {4000, 1}, {4100, 1}, {20_000, 1}, {60_000, 1}, {20_000, 2}} {
		var sum, squares float64
		for range texts {
			text := make([]byte, c.letters)
			for i := range text {
				text[i] = byte('a' + r.IntN(26))
			}
			read(m, s, []byte(strings.Repeat(string(text), c.times)), 64)
			want := float64(c.letters)
			if c.times == 1 {
				want -= Run - 1
			}
			off := float64(m.Distinct())/want - 1
			sum, squares = sum+off, squares+off*off
		}
		most := .022 * math.Sqrt(float64(c.times))
		mean, spread := sum/float64(texts), math.Sqrt(squares/float64(texts))
		t.Logf("%d letters %d times: off by %.4f, standard error %.4f", c.letters, c.times, mean, spread)
		if math.Abs(mean) > most/2 || spread > 1.1*most {
			t.Errorf("%d letters %d times: off by %.4f, standard error %.4f, want %.4f", c.letters, c.times, mean, spread, most)
		}
	}
	for i := range m.seen {
		m.seen[i] = ^uint64(0)
	}
	if m.Distinct() != m.Runs() {
		t.Errorf("no cell empty: %d distinct runs of %d", m.Distinct(), m.Runs())
	}
}

// TestRunWithoutBin checks the hash that means an empty bin: nothing is found in a text of such runs.
func TestRunWithoutBin(t *testing.T) {
	m := NewMaker()
	m.Reset(100)
	for i := range 3 {
		m.hashes[i] = none
	}
	m.addAll(3)
	for bin := range Bins {
		if number, place := m.Bin(bin); number != 0 || place != 0 {
			t.Errorf("bin %d has %d at %d", bin, number, place)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

// frozen has sketches, the first places, the numbers of distinct runs and the first keys from another
// program, which was written from docs/canonical.md. Letters of other scripts were folded by hand.
var frozen = []struct {
	text     string
	numbers  string // one hexadecimal digit for each bin
	places   []uint32
	distinct int
	keys     []uint64
}{
	{
		"The ferry leaves the harbour at seven, and returns long after nightfall, when the market has closed.",
		"0201009000b5a000664d00fe0c1003f40101607500ae0080002f10000110a004" +
			"001c00cd10e2040000100000004005c000007660000b0509904000008506fd00",
		[]uint32{71, 22, 65, 48, 60, 59},
		75,
		[]uint64{0x5457cd1b7184e870, 0xe5a783e4ad2c213a, 0x37d0730e6b80fd94},
	},
	{
		"老周的茶館開在南門外的河邊，門口沒有招牌。Кафе ещё открыто",
		"eb710310500000a058d00000e017009a000300000090f10500000981c00ce000" +
			"0500e0082d080f500d09000200b140d0e0060000b80033009c009000100b00f0",
		[]uint32{8, 21, 63, 54, 12, 42},
		64,
		[]uint64{0xd0def3ae66607610, 0x2d391b2755bb7d7e, 0xf1ddcabd69a75bda},
	},
	{
		numbered(1000),
		"58c42832e6ca157359d248bd322ba6ca9911b84d9e73fba313244aa5f21e9b5d" +
			"c185f8935f98eaf5b7484b99e6384f72476b6dd46c12ea73587eebd8a1438634",
		[]uint32{3839, 2382, 1834, 4689, 4392, 437},
		6604,
		[]uint64{0x965b2b6b7f5a3c9, 0x27bfa6cf009c20cb, 0xdcfcc584cd53700b},
	},
}

// TestFrozen checks values that files contain. If one changes, so must the version of the rules.
func TestFrozen(t *testing.T) {
	m, s := NewMaker(), newScanner()
	for _, want := range frozen {
		read(m, s, []byte(want.text), 64)
		numbers, places := "", []uint32(nil)
		for bin := range Bins {
			number, place := m.Bin(bin)
			numbers += fmt.Sprintf("%x", number)
			if number > 0 && len(places) < len(want.places) {
				places = append(places, place)
			}
		}
		if numbers != want.numbers || !slices.Equal(places, want.places) || m.Distinct() != want.distinct {
			t.Errorf("%.30q: %s at %d, %d distinct; want %s at %d, %d distinct", want.text, numbers, places, m.Distinct(), want.numbers, want.places, want.distinct)
		}
		if got := m.AppendKeys(nil, len(want.keys)); !slices.Equal(got, want.keys) {
			t.Errorf("%.30q: keys %x, want %x", want.text, got, want.keys)
		}
	}
}

// TestAlike checks what texts may differ in without other letters.
func TestAlike(t *testing.T) {
	m, s := NewMaker(), newScanner()
	sketch := func(text string) string {
		read(m, s, []byte(text), 64)
		b := make([]byte, Bins)
		for bin := range b {
			number, _ := m.Bin(bin)
			b[bin] = byte(number)
		}
		return hex.EncodeToString(b)
	}
	a := sketch("The ferry leaves at seven, and it returns. Nobody knows when the café opens: 茶館開門。")
	if b := sketch("THE FERRY\nleaves； at “seven” and it ｒｅｔｕｒｎｓ nobody = knows + when the ca fe opens 茶 馆，开门"); a != b {
		t.Errorf("%s is not %s", a, b)
	}
	if b := sketch("The ferry leaves at eight, and it returns. Nobody knows when the café opens: 茶館開門。"); a == b {
		t.Error("another word makes no other sketch")
	}
}

func TestNoAllocation(t *testing.T) {
	m, s := NewMaker(), newScanner()
	text := []byte(strings.Repeat("Some words that are read again and again. 一二三四五六七。", 3000))
	keys := make([]uint64, 0, MaxKeys)
	total := 0
	if n := testing.AllocsPerRun(10, func() {
		read(m, s, text, 64)
		keys = m.AppendKeys(keys[:0], MaxKeys)
		total += m.Distinct()
	}); n > 0 {
		t.Errorf("%v allocations a text", n)
	}
}
