//go:build unix

package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSubtitleCopies finds 100 of 100 copies of subtitles: SubRip shifted in time, with other numbers
// and lines, or as WebVTT. Of 100 films none is removed.
func TestSubtitleCopies(t *testing.T) {
	const films = 100
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
	for film := range films {
		srt, vtt, shifted := "", "WEBVTT\n\nNOTE made by hand\n\n", ""
		for cue := range 60 {
			var words []string
			for range 3 + random.IntN(8) {
				words = append(words, fmt.Sprintf("w%d", random.IntN(800)))
			}
			middle := len(words) / 2
			first, second := strings.Join(words[:middle], " "), strings.Join(words[middle:], " ")
			at := fmt.Sprintf("%02d:%02d", cue/20, cue*3%60)
			srt += fmt.Sprintf("%d\n00:%s,100 --> 00:%s,900\n%s %s\n\n", cue+1, at, at, first, second)
			shifted += fmt.Sprintf("%d\r\n01:%s,700 --> 01:%s,950\r\n<i>%s\r\n%s</i>\r\n\r\n", cue+903, at, at, first, second)
			vtt += fmt.Sprintf("%s.100 --> %s.900 align:start\n<v Ann>%s\n\n%s.901 --> %s.999\n%s\n\n", at, at, first, at, at, second)
		}
		writeFile(t, filepath.Join(dir, "in", fmt.Sprintf("a-%d.srt", film)), srt)
		if film%2 == 0 {
			writeFile(t, filepath.Join(dir, "in", fmt.Sprintf("b-%d-copy.vtt", film)), vtt)
		} else {
			writeFile(t, filepath.Join(dir, "in", fmt.Sprintf("b-%d-copy.srt", film)), shifted)
		}
	}
	names := removedPages(t, dir, []string{"dedup", "-q", "--docs", "1k", "--format", "subtitles", "--report", "-", "in"})
	copies := 0
	for _, name := range names {
		if strings.Contains(name, "-copy.") {
			copies++
		}
	}
	if copies != films || len(names) != films {
		t.Errorf("%d of %d copies are removed, and %d films", copies, films, len(names)-copies)
	}
}
