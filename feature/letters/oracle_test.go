package letters

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/firstseen/firstseen/feature/canon"
)

// This file has the rules of docs/canonical.md, section 7, once more, in lists and maps.

// An oracle has what a Maker finds in a text.
type oracle struct {
	letters  []byte
	hashes   []uint32 // of all runs, in order
	numbers  [128]uint64
	places   [128]uint32
	distinct int
	keys     []uint64
}

func oracleOf(letters []byte, size int) (o oracle) {
	o.letters = letters
	for i := 0; i+7 <= len(letters); i++ {
		o.hashes = append(o.hashes, oracleHash(letters[i:i+7]))
	}
	for bin := range uint32(128) {
		for place, h := range o.hashes {
			if h%128 == bin && h < 1<<32-1 && (o.numbers[bin] == 0 || h < o.hashes[o.places[bin]]) {
				o.numbers[bin], o.places[bin] = oracleNumber(h), uint32(place)
			}
		}
	}
	o.distinct = oracleDistinct(o.hashes, size)
	o.keys = o.oracleKeys()
	return o
}

// oracleHash returns the hash of seven letters: two numbers of four and of three letters, multiplied
// by two primes.
func oracleHash(run []byte) uint32 {
	number := func(letters []byte) (n uint32) {
		for i, l := range letters {
			n += uint32(l) << (8 * i)
		}
		return n
	}
	h := number(run[:4])*2654435761 + number(run[4:])*2246822519
	h = (h ^ h>>15) * 3266489917
	return h ^ h>>16
}

func oracleNumber(h uint32) uint64 { return 1 + uint64(h*2654435761)/65536*15/65536 }

// oracleDistinct estimates the number of distinct runs in a text of size bytes.
func oracleDistinct(hashes []uint32, size int) int {
	share := 1 // one run in share counts
	for part := size / 4096; part > 0; part /= 2 {
		share *= 2
	}
	filled := map[uint32]bool{}
	for _, h := range hashes {
		if int(h) < 1<<32/share {
			filled[h*668265263/(1<<18)] = true
		}
	}
	if len(filled) == 16384 {
		return len(hashes)
	}
	n := 0.
	for k := range len(filled) {
		n += 16384 / float64(16384-k)
	}
	return min(max(int(math.Round(n))*share, 1), len(hashes))
}

// oracleKeys returns the hashes of the eight distinct runs of 14 letters with the least ranks.
func (o *oracle) oracleKeys() (keys []uint64) {
	type run struct {
		rank uint32
		hash uint64
	}
	var all []run
	for i := 0; i+14 <= len(o.letters); i++ {
		all = append(all, run{o.hashes[i]*668265263 + o.hashes[i+7], oracleKey(o.letters[i : i+14])})
	}
	slices.SortFunc(all, func(a, b run) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.hash, b.hash)) })
	for _, r := range slices.Compact(all) {
		if len(keys) < 8 {
			keys = append(keys, r.hash)
		}
	}
	return keys
}

// oracleKey multiplies the first and the last eight of 14 letters.
func oracleKey(letters []byte) uint64 {
	number := func(letters []byte, x uint64) *big.Int {
		little := slices.Clone(letters)
		slices.Reverse(little)
		n := new(big.Int).SetBytes(little)
		return n.Xor(n, new(big.Int).SetUint64(x))
	}
	p := new(big.Int).Mul(number(letters[:8], 0x9e3779b97f4a7c15), number(letters[6:], 0x243f6a8885a308d3))
	high := new(big.Int).Rsh(p, 64)
	return high.Uint64() ^ p.Sub(p, new(big.Int).Lsh(high, 64)).Uint64()
}

// lettersOf returns the letters of a text, whose parts are read at once.
func lettersOf(s *canon.Scanner, text []byte) (letters []byte) {
	for s.Reset(text); ; {
		step := s.Next()
		if step != canon.Piece {
			letters = s.AppendLetters(letters)
		}
		if step == canon.End {
			return letters
		}
	}
}
