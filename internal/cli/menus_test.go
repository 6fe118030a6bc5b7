//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// shortNews holds articles of a few sentences, the title first.
var shortNews = [][]string{
	{
		"Water is turned off on Friday", "The water will be turned off in the whole of Mill Street this Friday, from nine in the morning until noon.",
		"A pipe that was laid in 1953 has to be changed before the winter. Fill a bucket or two the evening before.",
	},
	{
		"Library finds a lost map", "A map of the harbour, which nobody had seen for eighty years, was found in the cellar of the town library.",
		"It lay folded in an atlas of birds, said the librarian, who had only wanted to dust the shelf. It will be shown in May.",
	},
	{"本周五磨坊街停水通知", "因更换老旧水管，本周五上午九点至中午十二点，磨坊街全线停水，请居民提前储水。", "这条水管铺设于一九五三年，已多次漏水，施工单位表示将在入冬之前全部更换完毕。"},
	{"图书馆找到失踪的地图", "一张失踪了八十年的港口地图，最近在市图书馆的地下室里被人发现，夹在一本鸟类图册之中。", "馆员说，她本来只是想掸一掸书架上的灰尘；这张地图将于五月向公众展出，门票免费。"},
}

// sitePage returns a page of a site with a menu of 105 entries, before or after the rest.
func sitePage(site int, title, rest string) string {
	menu := ""
	for i := range 105 {
		menu += fmt.Sprintf("<li><a href=/%d>%s %d</a></li>\n", i, []string{"Goods and services", "Town and people", "本地频道栏目", "社区服务指南"}[site], i)
	}
	page := "<html><title>" + title + "</title>"
	switch site {
	case 0:
		return page + "<ul>" + menu + "</ul>" + rest
	case 1:
		return page + "<div><ul>" + menu + "</ul></div><div><div>" + rest + "</div></div>"
	case 2:
		return page + "<table><tr><td><ul>" + menu + "</ul></td><td>" + rest + "</td></tr></table>"
	}
	return page + "<div>" + rest + "</div><div><ul>" + menu + "</ul></div>"
}

// TestMenusAreNoCopies checks that no page is removed for the menu it shares with its site. A short
// article named by its page's title is found on any site. Of pages without such a title, and of
// pages of links, only an identical page is a copy.
func TestMenusAreNoCopies(t *testing.T) {
	dir := t.TempDir()
	indextest.Must(t, os.Mkdir(filepath.Join(dir, "in"), 0o777))
	var want []string
	write := func(name, page string, isCopy bool) {
		writeFile(t, filepath.Join(dir, "in", name+".html"), page)
		if isCopy {
			want = append(want, name)
		}
	}
	for n, a := range shortNews {
		body := "<h1>" + a[0] + "</h1><p>" + a[1] + "</p><p>" + a[2] + "</p>"
		for site := range 4 {
			write(fmt.Sprintf("named-%d-%d", n, site), sitePage(site, a[0], body), site > 0)
			untold := sitePage(site, fmt.Sprint("Site ", site), body)
			write(fmt.Sprintf("untold-%d-%d", n, site), untold, false)
			write(fmt.Sprintf("x-untold-%d-%d", n, site), untold, true)
			links := ""
			for i := range 12 {
				links += fmt.Sprintf("<p><a href=%d>%s %d</a>", i, a[0], i)
			}
			list := sitePage(site, fmt.Sprint("Site ", site), links)
			write(fmt.Sprintf("list-%d-%d", n, site), list, false)
			write(fmt.Sprintf("x-list-%d-%d", n, site), list, true)
		}
	}
	slices.Sort(want)
	for _, flags := range [][]string{nil, {"--verify=jaccard>=0.5"}, {"--filter-only"}} {
		args := append([]string{"dedup", "-q", "--docs", "1k", "--format", "html", "--report", "-", "in"}, flags...)
		if got := removedPages(t, dir, args); !slices.Equal(got, want) {
			t.Errorf("%v removes\n%v, want\n%v", flags, got, want)
		}
	}
}

// removedPages returns the names of the pages that a run removes.
func removedPages(t *testing.T, dir string, args []string) (names []string) {
	t.Helper()
	report, _ := runProgram(t, dir, exitDone, args...)
	for line := range bytes.Lines([]byte(report)) {
		var told struct {
			ID   string
			Kept bool
		}
		indextest.Must(t, json.Unmarshal(line, &told))
		if !told.Kept {
			names = append(names, strings.TrimSuffix(filepath.Base(told.ID), ".html"))
		}
	}
	return names
}

// TestSubtitleCopies finds 100 of 100 copies of subtitles: SubRip shifted in time, with other numbers
// and lines, or as WebVTT. Of 100 films none is removed.
func TestSubtitleCopies(t *testing.T) {
	const films = 100
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	indextest.Must(t, os.Mkdir(filepath.Join(dir, "in"), 0o777))
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
