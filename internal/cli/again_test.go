//go:build unix

package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemovedAndSentAgain checks that a removed document that comes again is removed again. Once its
// segments are common, only exact copies and near copies with a score of 0.8 are: common segments say
// nothing about the origin of the rest.
func TestRemovedAndSentAgain(t *testing.T) {
	dir := t.TempDir()
	sentences := func(from, n, words int) (s []string) {
		for i := range n {
			sentence := ""
			for word := range words {
				sentence += fmt.Sprintf("%c%d ", 'a'+word, from+i)
			}
			s = append(s, sentence+"ends")
		}
		return s
	}
	line := func(id string, parts ...[]string) string {
		text := ""
		for _, p := range parts {
			text += strings.Join(p, ". ") + ". "
		}
		return fmt.Sprintf("{\"id\":%q,\"text\":%q}\n", id, text)
	}
	// near shares 120 of its 168 words (71%), in segments of weight 60 (36%). Once these are
	// common, the score must reach 0.78. most shares 130 words, of weight 110 of
	// 148.
	shared := sentences(1000, 30, 3)
	other := sentences(2000, 10, 12)
	witness := line("witness", shared)
	// The new sentences go in three places, so that none is a long passage.
	added := sentences(3000, 12, 3)
	exact, near := line("exact", shared), line("near", shared[:10], added[:4], shared[10:20], added[4:8], shared[20:], added[8:])
	wide, most := line("wide", other), line("most", other, sentences(4000, 2, 8))
	writeFile(t, filepath.Join(dir, "first"), witness+wide+exact+near+most)
	longer := ""
	for i := range 12 {
		longer += line(fmt.Sprint("longer ", i), shared, sentences(10_000+100*i, 20, 15))
		longer += line(fmt.Sprint("wider ", i), other, sentences(20_000+100*i, 20, 15))
	}
	writeFile(t, filepath.Join(dir, "longer"), longer)
	keeps := func(input, want string) {
		t.Helper()
		if kept, _ := runProgram(t, dir, exitDone, "dedup", "-q", "--docs", "1k", "--index", "index", "--out", "-", input); kept != want {
			t.Errorf("of %s it keeps %.300q, want %.300q", input, kept, want)
		}
	}
	keeps("first", witness+wide)
	keeps("first", "")
	keeps("longer", longer)
	keeps("first", near)
	keeps("first", "")
	renewed := strings.Replace(near, "a3000 ", "a3999 ", 1)
	writeFile(t, filepath.Join(dir, "renewed"), renewed)
	keeps("renewed", "")
}
