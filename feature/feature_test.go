package feature

import (
	"strings"
	"testing"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

func TestScheme(t *testing.T) {
	key := []byte("0123456789abcdef")
	var c terms.Counter
	c.Add([]uint64{1, 2, 3})
	table := c.Table(1)
	for _, s := range []Scheme{
		{},
		{Method: "segments"},
		{Segments: 7, MinWidth: 20, Key: key},
		{Method: "exact"},
		{Method: "shingles", Shingle: 3, Key: key},
		{Method: "simhash", Distance: 2},
		{Method: "imatch", Terms: table, Key: key},
		{Method: "simhash", Terms: table},
	} {
		got, ok := NamedWith(s.Name(), s.Key, s.Terms)
		if named := MethodOf(s.Name()); named != s.Info().Name || got.Info() != s.Info() {
			t.Errorf("%s is of the method %q", s.Name(), named)
		}
		if !ok || got.Name() != s.Name() || got.Features() != s.Features() || s.Validate() != nil {
			t.Errorf("%+v: named %+v, %v", s, got, ok)
		}
	}
	for _, c := range []struct {
		scheme Scheme
		want   string
	}{
		{Scheme{Method: "magic"}, `no method "magic"`},
		{Scheme{Segments: -1}, "-1 segments"},
		{Scheme{Method: "imatch"}, "needs a table of terms"},
		{Scheme{Method: "shingles", Shingle: 33}, "33 words"},
		{Scheme{Method: "simhash", Distance: 8}, "8 bits"},
	} {
		if _, err := NewExtractor(c.scheme); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.scheme, err)
		}
	}
	if s, ok := Named("fs9", key); ok || string(s.Key) != string(key) {
		t.Errorf("fs9 is %+v, %v", s, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("a scheme of no method has a name")
		}
	}()
	_ = Scheme{Method: "magic"}.Name()
}

// TestExtractFor checks that a text sought for exact copies alone yields its fingerprint and no
// features. Every method still recognises it.
func TestExtractFor(t *testing.T) {
	var c terms.Counter
	c.Add([]uint64{1, 2, 3})
	text := strings.Repeat("Some words of a text that is long enough, and then a few words more. ", 20)
	for _, info := range Methods() {
		s := Scheme{Method: info.Name, Terms: c.Table(1)}
		e, err := NewExtractor(s)
		if err != nil {
			t.Fatal(err)
		}
		var all, exact, other Sketch
		e.ExtractFor(&all, []byte(text), false)
		e.ExtractFor(&exact, []byte(text), true)
		e.ExtractFor(&other, []byte(text+" Another word."), true)
		if exact.Whole != all.Whole || len(exact.Features) > 0 || other.Whole == all.Whole {
			t.Errorf("%s: %+v of %+v", info.Name, exact, all)
		}
		m, err := s.New()
		if err != nil {
			t.Fatal(err)
		}
		judge := m.NewJudge(method.Rules{Threshold: 0.6})
		judge.Load(&exact)
		if same, features, err := judge.Same(judge.Record(nil)); !same || features != 0 || err != nil {
			t.Errorf("%s: it is not the same as itself: %d features, %v", info.Name, features, err)
		}
	}
}

// TestNoAllocation checks that the default method allocates nothing for a text, long or short, once
// its buffers exist.
func TestNoAllocation(t *testing.T) {
	for _, s := range []Scheme{{}, {Key: []byte("0123456789abcdef")}} {
		e, err := NewExtractor(s)
		if err != nil {
			t.Fatal(err)
		}
		var sketch Sketch
		for _, text := range []string{
			"", "A post of a few words, with a link: https://t.cn/abc",
			strings.Repeat("一二三四五六七八九十，", 14),
			strings.Repeat("Some words of a text that is long enough, 和几个汉字。", 40),
			strings.Repeat("Quelques mots d'un texte très long; ", 6000),
		} {
			e.Extract(&sketch, []byte(text))
			data := []byte(text)
			if n := testing.AllocsPerRun(10, func() { e.Extract(&sketch, data) }); n > 0 {
				t.Errorf("%s: %v allocations for %d bytes", s.Name(), n, len(text))
			}
		}
	}
}
