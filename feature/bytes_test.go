package feature

import (
	"testing"

	"github.com/firstseen/firstseen/feature/method"
)

// TestBytes checks that texts are the same byte for byte: case and width count.
func TestBytes(t *testing.T) {
	for _, key := range [][]byte{nil, make([]byte, 16)} {
		s := Scheme{Method: "bytes", Key: key}
		if back, ok := Named(s.Name(), key); !ok || back.Name() != s.Name() || MethodOf(s.Name()) != "bytes" {
			t.Errorf("%s names %+v, %v", s.Name(), back, ok)
		}
		e, err := NewExtractor(s)
		if err != nil {
			t.Fatal(err)
		}
		var first, other Sketch
		e.Extract(&first, []byte("灯塔守护人 kept the light."))
		m, err := s.New()
		if err != nil {
			t.Fatal(err)
		}
		judge := m.NewJudge(method.Rules{})
		judge.Load(&first)
		record := judge.Record(nil)
		for text, want := range map[string]bool{
			"灯塔守护人 kept the light.": true, "灯塔守护人 Kept the light.": false, "灯塔守护人 kept the light. ": false, "": false,
		} {
			e.Extract(&other, []byte(text))
			judge.Load(&other)
			same, _, err := judge.Same(record)
			if err != nil || same != want || (other.Whole == first.Whole) != want {
				t.Errorf("%q: same %v, %v", text, same, err)
			}
		}
		text := []byte("The same text again and again.")
		if n := testing.AllocsPerRun(100, func() { e.Extract(&other, text) }); n > 0 {
			t.Errorf("%v allocations a text", n)
		}
	}
}
