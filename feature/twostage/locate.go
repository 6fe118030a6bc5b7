package twostage

import (
	"github.com/firstseen/firstseen/feature/canon"
	"github.com/firstseen/firstseen/feature/method"
)

// Locate finds a passage in the text it is of: whole pieces between punctuation, from the
// first byte to the one behind the last.
func Locate(text []byte, p method.Passage) (start, end int) {
	s := canon.NewScanner()
	total := uint64(0)
	eachPiece(s, text, func(words uint64) { total += words })
	// Runs leave out words that are symbols alone, which pieces count.
	from, to := p.From*total/max(p.Of, 1), p.To*total/max(p.Of, 1)
	at := uint64(0)
	eachPiece(s, text, func(words uint64) {
		first, behind := s.Range()
		if at <= from {
			start = first
		}
		if at < to {
			end = behind
		}
		at += words
	})
	return s.Trim(text, start, end)
}

// eachPiece calls f with how many words each piece of a text has.
func eachPiece(s *canon.Scanner, text []byte, f func(words uint64)) {
	s.Reset(text)
	for step := s.Next(); step != canon.End; step = s.Next() {
		if step == canon.Piece {
			f(uint64(s.Units()))
		}
	}
}
