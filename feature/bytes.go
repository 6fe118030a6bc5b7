package feature

import (
	"crypto/sha256"
	"strings"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/exact"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/feature/terms"
)

// bytesRules is the version of the method bytes, which has no canonical form.
const bytesRules = "bytes1"

func init() {
	registry = append(registry, registered{Info{
		Name: "bytes", FilterOnly: true,
		Help:  "the whole text is the same, byte for byte",
		Score: "1",
	}, bytesRules, newBytes, namedBytes})
}

// bytesScheme is the method exact over the bytes of a text.
type bytesScheme struct{ exact.Scheme }

func newBytes(s Scheme) (method.Method, error) {
	m := bytesScheme{exact.Scheme{Key: s.Key}}
	return m, m.Validate()
}

func namedBytes(name string, key []byte, _ *terms.Table) (Scheme, bool) {
	s := Scheme{Method: "bytes", Key: key}
	return s, strings.HasPrefix(name, bytesRules+"-") && s.Validate() == nil && s.Name() == name
}

// Name identifies the scheme, for instance "bytes1-xxh3".
func (s bytesScheme) Name() string { return bytesRules + "-" + digest.Name(s.Key) }

// NewExtractor returns an extractor for one goroutine.
func (s bytesScheme) NewExtractor() method.Extractor { return &bytesExtractor{digest.New(s.Key)} }

type bytesExtractor struct{ whole digest.Hasher }

// Extract makes a sketch of no features, the fingerprint, and the first 128 bits of the SHA-256 of
// the text.
func (e *bytesExtractor) Extract(dst *method.Sketch, text []byte) {
	e.whole.Reset()
	sum := sha256.Sum256(text)
	*dst = method.Sketch{
		Features: dst.Features[:0], Whole: e.whole.Text(text), Data: append(dst.Data[:0], sum[:len(sum)/2]...),
	}
}
