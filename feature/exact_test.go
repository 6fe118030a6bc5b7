package feature

import (
	"crypto/sha256"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// TestExact checks that two texts are the same exactly if their canonical texts are. Some are long
// enough to come in parts.
func TestExact(t *testing.T) {
	canontest.NeedUnicode(t)
	m := Scheme{Method: "exact"}.must()
	e, j := m.NewExtractor(), m.NewJudge(method.Rules{})
	rapid.Check(t, func(t *rapid.T) {
		a := canontest.Text().Draw(t, "a")
		b := canontest.Text().Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = strings.ReplaceAll(strings.ToUpper(a), ",", " ;")
		}
		if rapid.IntRange(0, 24).Draw(t, "long") == 0 {
			long := strings.Repeat("Nothing but the same, again. ", 2600)
			a, b = long+a, strings.ReplaceAll(long, "n. ", "n ;\n")+b
		}
		var x, y method.Sketch
		e.Extract(&x, []byte(a))
		j.Load(&x)
		record := j.Record(nil)
		e.Extract(&y, []byte(b))
		j.Load(&y)
		same, _, err := j.Same(record)
		_, _, wholeA := canontest.Read(a)
		_, _, wholeB := canontest.Read(b)
		if sum := sha256.Sum256([]byte(wholeA)); string(record) != string(sum[:sumBytes]) {
			t.Fatalf("%q: %x is not of its canonical text", a, record)
		}
		if err != nil || same != (wholeA == wholeB) || same && x.Whole != y.Whole || len(y.Features) != 0 {
			t.Fatalf("%q and %q: %v, %v", a, b, same, err)
		}
	})
}

func TestExactRecords(t *testing.T) {
	j := Scheme{Method: "exact"}.must().NewJudge(method.Rules{})
	j.Load(&method.Sketch{Data: make([]byte, sumBytes)})
	for n := range 40 {
		if same, _, err := j.Same(make([]byte, n)); same != (n == sumBytes) || (err == nil) != same {
			t.Errorf("%d bytes: %v, %v", n, same, err)
		}
	}
	if j.MayReach(nil) || len(j.Select(nil, &method.Found{})) > 0 {
		t.Error("features are looked up")
	}
}
