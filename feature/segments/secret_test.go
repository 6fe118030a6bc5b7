package segments

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/feature/digest"
	"github.com/firstseen/firstseen/feature/method"
	"github.com/firstseen/firstseen/internal/testing/canontest"
)

// xxh3Secret is the start of the constant that XXH3 mixes in (kSecret in its specification).
const xxh3Secret = "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f" +
	"cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"

// blockSecrets lists the offset in the constant for each block of a text of four blocks.
var blockSecrets = []int{0, 32, 48, 16}

// collisions returns texts of 64 bytes with the same XXH3 as text. The hash sums over blocks of 16
// bytes: it XORs both halves with constants and multiplies them. Halves that trade places have the
// same product. This makes possible a search for colliding words, which takes some seconds.
func collisions(text []byte, seed uint64) (all [][]byte) {
	secret, err := hex.DecodeString(xxh3Secret)
	if err != nil {
		panic(err)
	}
	u64 := binary.LittleEndian
	for swap := range 1 << len(blockSecrets) {
		other := slices.Clone(text)
		for i, at := range blockSecrets {
			if swap>>i&1 == 0 {
				continue
			}
			both := (u64.Uint64(secret[at:]) + seed) ^ (u64.Uint64(secret[at+8:]) - seed)
			block := other[16*i : 16*i+16]
			low, high := u64.Uint64(block), u64.Uint64(block[8:])
			u64.PutUint64(block, high^both)
			u64.PutUint64(block[8:], low^both)
		}
		all = append(all, other)
	}
	return all
}

// TestSecretTellsCollisionsApart makes sixteen texts with one XXH3, for segments and for whole
// texts. No two of them collide under any of a thousand secrets.
func TestSecretTellsCollisionsApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 128))
	text := []byte("sixty-four bytes of plain words, as anybody could write them, :)")
	segments, texts := collisions(text, 0), collisions(text, digest.WholeSeed)
	plain := digest.New(nil)
	for i := range segments {
		if xxh3.Hash(segments[i]) != xxh3.Hash(text) || plain.Text(texts[i]) != plain.Text(text) {
			t.Fatal("the constructed texts do not collide: the test proves nothing")
		}
	}
	for range 1000 {
		h := digest.New(randomSecret(rng))
		keys, wholes := map[uint64]bool{}, map[uint64]bool{}
		for i := range segments {
			keys[h.Key(segments[i], digest.Order(segments[i]))] = true
			h.Reset()
			wholes[h.Text(texts[i])] = true
			h.Reset() // long texts come in parts, with the same result
			h.Part(texts[i][:30])
			wholes[h.Text(texts[i][30:])] = true
		}
		if len(keys) != len(segments) || len(wholes) != len(texts) {
			t.Fatalf("%d keys and %d fingerprints of %d texts", len(keys), len(wholes), len(texts))
		}
	}
}

func randomSecret(rng *rand.Rand) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, rng.Uint64()), rng.Uint64())
}

// TestChoiceIsTheSameForAnySecret extracts texts whose segments tie in width at the cut-off.
func TestChoiceIsTheSameForAnySecret(t *testing.T) {
	check := func(t failer, s Scheme, text, one, two []byte) {
		var sets [3]method.Sketch
		for i, key := range [][]byte{nil, one, two} {
			s.Key = key
			NewExtractor(s).Extract(&sets[i], text)
		}
		ignore := cmp.Options{cmpopts.IgnoreFields(method.Sketch{}, "Whole"), cmpopts.IgnoreFields(method.Feature{}, "Key"), cmpopts.EquateEmpty()}
		for _, keyed := range sets[1:] {
			if diff := cmp.Diff(sets[0], keyed, ignore); diff != "" {
				t.Fatal("the secret changes the choice (-without +with):\n" + diff)
			}
		}
		for i := range sets[1].Features {
			if sets[0].Features[i].Key != sets[0].Features[i].Order || sets[1].Features[i].Key == sets[2].Features[i].Key {
				t.Fatal("keys do not depend on the secret, or do without one")
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, text := range readTexts(t, "../../testdata/bilingual/guide.jsonl") {
		for _, n := range []int{0, 3, 10} {
			check(t, Scheme{Segments: n}, text, randomSecret(rng), randomSecret(rng))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SliceOfN(rapid.Byte(), 16, 16)
		one := secret.Draw(t, "one")
		two := secret.Filter(func(b []byte) bool { return !slices.Equal(b, one) }).Draw(t, "two")
		check(t, Scheme{Segments: 3, MinWidth: 1}, []byte(canontest.Text().Draw(t, "text")), one, two)
	})
}

// TestOneOrderTwoSegments gives the chooser two segments of one width and order, as only an
// attacker can make them. Both stay in any order of arrival.
func TestOneOrderTwoSegments(t *testing.T) {
	a := method.Feature{Key: 1, Order: 7, Width: 20, Start: 50}
	b := method.Feature{Key: 2, Order: 7, Width: 20, Start: 0}
	again := method.Feature{Key: 1, Order: 7, Width: 20, Start: 90}
	for n, want := range map[int][]method.Feature{1: {a}, 2: {a, b}, 3: {a, b}} {
		c := newChooser(n)
		for range 500 {
			for _, f := range []method.Feature{b, a, again} {
				if c.wants(int(f.Width)) && c.wantsOrder(int(f.Width), f.Order) {
					c.add(f)
				}
			}
		}
		var set method.Sketch
		c.result(&set)
		if !cmp.Equal(set.Features, want) || set.Truncated != (n == 1) {
			t.Errorf("%d chosen: %+v, truncated %v", n, set.Features, set.Truncated)
		}
	}
}
