package feature

import (
	"crypto/sha256"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
)

// The method bytes is the method exact applied to the raw bytes, without a canonical form.
func init() {
	registry = append(registry, &registered{
		Info: Info{
			Name: "bytes", FilterOnly: true,
			Help:  "the whole text is the same, byte for byte",
			Score: "1",
		},
		rules:     "bytes1",
		extractor: func(s Scheme) method.Extractor { return &bytesExtractor{digest.New(s.Key)} },
		judge:     newSumJudge,
	})
}

type bytesExtractor struct{ whole digest.Hasher }

// Extract writes only the fingerprint and the first 128 bits of the SHA-256 of the text.
func (e *bytesExtractor) Extract(dst *method.Sketch, text []byte) {
	e.whole.Reset()
	sum := sha256.Sum256(text)
	*dst = method.Sketch{
		Features: dst.Features[:0], Whole: e.whole.Text(text), Data: append(dst.Data[:0], sum[:sumBytes]...),
	}
}
