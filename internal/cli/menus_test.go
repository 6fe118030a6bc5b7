//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if err := os.Mkdir(filepath.Join(dir, "in"), 0o777); err != nil {
		t.Fatal(err)
	}
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
		if err := json.Unmarshal(line, &told); err != nil {
			t.Fatal(err)
		}
		if !told.Kept {
			names = append(names, strings.TrimSuffix(filepath.Base(told.ID), ".html"))
		}
	}
	return names
}
