package html

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/internal/testing/effort"
)

func text(mode Mode, page string) string { return string(New(mode).Append(nil, []byte(page), nil)) }

// TestVisible checks the text that a reader sees, block by block.
func TestVisible(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"", ""},
		{"plain", "plain\n"},
		{"<title> A \n page </title><body><p>One</p>", "A page\nOne\n"},
		{"<TITLE>A</TITLE><P>One<P>Two", "A\nOne\nTwo\n"},
		{"a <b>b</b>c<i> d</i> <span>e</span>", "a bc d e\n"},
		{"<div>a<div>b</div>c</div>", "a\nb\nc\n"},
		{"one<br>two<br/>three<br><br>four", "one\ntwo\nthree\nfour\n"},
		{"&lt;p&gt; &amp;amp; &eacute;&#x4e2d;&nbsp;&copy 1", "<p> &amp; é中 © 1\n"},
		{"a<script>var x = '<p>no</p>';</script>b<style>p{}</style>c<noscript>no</noscript>d", "abcd\n"},
		{"a<!-- no <p>no</p> -->b<!-- > -- -->c<!-->d<!--->e", "abcde\n"},
		{"<!DOCTYPE html><?xml version='1.0'?><head><meta name=d content='no'></head>a", "a\n"},
		{"<template>no</template>a<select><option>no</select>b<textarea>no</textarea>c", "a\nbc\n"},
		{"<svg><title>no</title><text>no</text></svg><title>yes</title>a", "yes\na\n"},
		{"a<svg/>b<math/>c<p>d", "abc\nd\n"},
		{"a<svg><style/><title/><path></svg>b<title>c</title>", "c\nab\n"},
		{"<p>a<svg><path>no<div>b</div>c", "a\nb\nc\n"},
		{"<h1><svg><path/></svg>a</h1>", "a\n"},
		{"<svg><foreignObject><p>no</p></foreignObject><desc><b>no</b></desc>no</svg>a", "a\n"},
		{"<svg><title><b>no</title></svg>a", "a\n"},
		{"<svg><![CDATA[</svg>no]]>no</svg>a<![CDATA[no>b", "ab\n"},
		{"<a href=x><svg></a>a <i><svg></i>b <a href=x><svg><a></a>no</svg>c", "a b c\n"},
		{"<table><tr><td><svg></td><td>a</table>", "a\n"},
		{"<p>a <math><mi>b</mi><mo>=</mo><mtext><i>c</i></mtext><annotation>no</annotation></math>d", "a b=cd\n"},
		{"<math><semantics><mi>a</mi><annotation-xml encoding=text/html><p>no</p></annotation-xml></semantics></math>b", "ab\n"},
		{"<math><mtext><p>a<p>b</p></mtext><mi>c", "a\nb\nc\n"},
		{"<math><font color=x>a</math>b<svg><font>no</font></svg>c", "abc\n"},
		{"a<map><area><a href=x>b</a></map>c", "abc\n"},
		{"<title> </title>a <title>yes</title>b<title>no</title>c", "yes\na bc\n"},
		{"<div hidden>no</div><p style='DISPLAY: none'>no</p><p>a<div style='color:red'>b</div>", "a\nb\n"},
		{"<p hidden>no<p>a", "a\n"},
		{"<h1 hidden>no</h1>a<pre style=display:none>no</pre>b<hr hidden>c", "a\nb\nc\n"},
		{"<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "a\nb\nc\nd\n"},
		{"<table><tr><th>A<th>B<tr><td>1</td><td> 2 </td></tr></table>x", "A\tB\n1\t2\nx\n"},
		{"<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>", "a\nb\nc\n"},
		{"<pre>\n  a\n\n\tb &lt; c\r\n</pre>d", "  a\n\n\tb < c\nd\n"},
		{"<pre><code>x = <b>1</b>\n</code>\n</pre>", "x = 1\n"},
		{"<p>中文\n分行<br>再来 一行\nEnglish\nwords", "中文分行\n再来 一行 English words\n"},
		{"1 < 2 and <3 </ p>a</>b", "1 < 2 and <3 ab\n"},
		{"<p title='a > b' class=x>a</p><a href=x>l</a>", "a\nl\n"},
		{"<title>never ended <p>one</p>", "never ended\none\n"},
		{"<xmp><b></xmp>a", "<b>\na\n"},
		{"<?xml version='1.0'?><html><script src='x'/><title/><p>a</p><div/>b</html>", "a\nb\n"},
		{"<script><!-- <script> </script> no --></script>a", "a\n"},
		{"a<img alt=no src=x>b<button>c</button>", "abc\n"},
		{"<h1>a</h1><h2>b</h2>c", "a\nb\nc\n"},
		{"</div></p></table>a</li>b", "a\nb\n"},
		{"a<div", "a\n"},
		{"a&amp", "a&\n"},
	} {
		if got := text(Visible, c.page); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.page, got, c.want)
		}
	}
}

// articles holds, for each language, a title and paragraphs, with a heading and a table.
var articles = map[string][]string{
	"en": {
		"The lighthouse keepers of the northern coast",
		"For more than a hundred years, keepers lived on the rocks off the northern coast, and lit the lamps every night.",
		"Most of them came from fishing families. They knew the currents, the fog, and the sound of a hull on stone.",
		"Machines and men",
		"When electricity arrived in 1931, the lamps no longer needed oil; the keepers stayed, because somebody had to clean the glass.",
		"“I never felt alone,” said the last of them, who left in 1984.",
		"Year\tKeepers",
		"1900\t41",
		"Today the towers are empty, but their light still turns, and ships still count the seconds between two flashes.",
	},
	"zh": {
		"北方海岸的守灯人",
		"一百多年来，守灯人住在北方海岸外的礁石上，每天夜里点亮灯塔，为过往的船只指引方向。",
		"他们大多出身渔家，熟悉海流与雾气，也听得出船底擦过礁石的声音，所以从来不会睡得太沉。",
		"机器与人",
		"一九三一年通电以后，灯塔不再需要灯油，守灯人却留了下来，因为玻璃总得有人擦，航海日志也得有人写。",
		"“我从来不觉得孤单。”最后一位守灯人说，他在一九八四年离开了那里。",
		"年份\t人数",
		"一九〇〇\t四十一",
		"如今灯塔里已经没有人了，可是灯光依旧旋转，船上的人依旧数着两次闪光之间的秒数。",
	},
}

// teasers holds the first 140 characters of other articles.
var teasers = map[string]string{
	"en": "A new bridge over the river will open next spring, the council announced, after eleven years of delays, two lawsuits and one flood.",
	"zh": "市政府昨天宣布，跨江新桥将于明年春天正式通车。这座大桥从开工到现在已经过去了整整十一年，其间经历了两场官司和一次洪水，" +
		"造价也翻了一番。附近的居民对此反应不一，有人盼望早日通车，也有人担心噪音和灰尘。专家则认为，新桥将大大缓解老城区的交通压力，值得期待。",
}

// inSkin returns a page with an article in a skin.
func inSkin(language, skin string, article []string) string {
	var body, menu, related strings.Builder
	fmt.Fprintf(&body, "<h1>%s</h1>\n", article[0])
	for i, line := range article[1:] {
		switch {
		case i == 2:
			fmt.Fprintf(&body, "<h2>%s</h2>\n", line)
		case strings.Contains(line, "\t"):
			fmt.Fprintf(&body, "<table><tr><td>%s</td></tr></table>\n", strings.ReplaceAll(line, "\t", "</td><td>"))
		case skin == "tables":
			fmt.Fprintf(&body, "%s<br><br>\n", line)
		default:
			fmt.Fprintf(&body, "<p>%s</p>\n", line)
		}
	}
	for i := range 30 {
		fmt.Fprintf(&menu, "<li><a href=/%d>%s %d</a></li>\n", i, map[string]string{"en": "Section", "zh": "频道"}[language], i)
	}
	for i := range 3 {
		fmt.Fprintf(&related, "<div><a href=/a%d>%s</a><p>%s</p></div>\n", i, teasers[language][:30], teasers[language])
	}
	foot := "<p>© 2024 Example. All rights reserved.</p>"
	switch skin {
	case "semantic":
		return "<header><nav><ul>" + menu.String() + "</ul></nav></header><main><article>" + body.String() + "</article></main><aside>" +
			related.String() + "</aside><footer>" + foot + "</footer>"
	case "tables":
		return "<table><tr><td>" + menu.String() + "</td><td>" + body.String() + "</td><td>" + related.String() + "</td></tr></table>" + foot
	case "flat":
		return "<ul>" + menu.String() + "</ul>" + body.String() + "<hr>" + related.String() + foot
	}
	return "<div><ul>" + menu.String() + "</ul></div><div><div><div>" + body.String() + "</div></div><div>" + related.String() + "</div></div><div>" + foot + "</div>"
}

// TestMainIsTheSameInEverySkin checks that Main gives the whole article and nothing else.
func TestMainIsTheSameInEverySkin(t *testing.T) {
	for language, article := range articles {
		for _, skin := range []string{"semantic", "divisions", "flat", "tables"} {
			want := strings.Join(article, "\n") + "\n"
			if got := text(Main, inSkin(language, skin, article)); got != want {
				t.Errorf("%s, %s:\n%s", language, skin, got)
			}
		}
	}
}

// TestMainFallsBack checks that without an article Main gives all visible text but marked menus.
func TestMainFallsBack(t *testing.T) {
	links := strings.Repeat("<li><a href=x>Somewhere else</a></li>", 40)
	for what, c := range map[string]struct{ page, want string }{
		"a list of links":  {"<title>T</title><ul>" + links + "</ul>", "Somewhere else"},
		"links and a foot": {"<ul>" + links + "</ul><p>This site is run by volunteers, who are not paid, and hosted by friends of theirs in three countries; please be kind to it.</p>", "Somewhere else"},
		"links and a note": {"<div><ul>" + links + links + links + "</ul></div><div>" + strings.Repeat("<p>This site is run by volunteers, who are not paid, and hosted by friends of theirs; please be kind to it, and to them.</p>", 3) + "</div>", "Somewhere else"},
		"a short notice":   {"<nav>" + links + "</nav><p>Closed on Monday.</p>", "Closed on Monday."},
		"only a menu":      {"<nav>" + links + "</nav>", "Somewhere else"},
		"a forum": {
			strings.Repeat("<div><a href=u>someone</a><p>I think that this is right, but who knows, maybe it is not, as was said.</p><a href=r>Reply</a></div>", 12),
			"I think that this is right",
		},
		"text in an aside": {"<aside><p>" + strings.Repeat("All there is stands here, in this aside. ", 20) + "</p></aside>", "in this aside"},
		"a table of data":  {"<table>" + strings.Repeat("<tr><td>17<td>4<td>x</tr>", 30) + "</table>", "17\t4\tx"},
		"中文通知":             {"<div>" + links + "</div><div>周一闭馆。</div>", "周一闭馆。"},
	} {
		got := text(Main, c.page)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q is not in\n%.300s", what, c.want, got)
		}
		if strings.Contains(c.page, "<nav>") && what != "only a menu" && strings.Contains(got, "Somewhere") {
			t.Errorf("%s: the menu is in it", what)
		}
	}
}

// shortArticles holds articles of a few sentences in two languages, the title first.
var shortArticles = map[string][][]string{
	"en": {
		{
			"Water is turned off on Friday", "The water will be turned off in the whole of Mill Street this Friday, from nine in the morning until noon.",
			"A pipe that was laid in 1953 has to be changed before the winter. Fill a bucket or two the evening before.",
		},
		{
			"Library finds a lost map", "A map of the harbour, which nobody had seen for eighty years, was found in the cellar of the town library.",
			"It lay folded in an atlas of birds, said the librarian, who had only wanted to dust the shelf. It will be shown in May.",
		},
	},
	"zh": {
		{"本周五磨坊街停水通知", "因更换老旧水管，本周五上午九点至中午十二点，磨坊街全线停水，请居民提前储水。", "这条水管铺设于一九五三年，已多次漏水，施工单位表示将在入冬之前全部更换完毕。"},
		{"图书馆找到失踪的地图", "一张失踪了八十年的港口地图，最近在市图书馆的地下室里被人发现，夹在一本鸟类图册之中。", "馆员说，她本来只是想掸一掸书架上的灰尘；这张地图将于五月向公众展出，门票免费。"},
	},
}

// menuOf returns the entries of a site's menu.
func menuOf(language, site string, entries int) string {
	var b strings.Builder
	for i := range entries {
		fmt.Fprintf(&b, "<li><a href=/%d>%s %s %d</a></li>\n", i, site, map[string]string{"en": "section", "zh": "频道栏目"}[language], i)
	}
	return b.String()
}

// sites maps a site to its layout of a menu and an article.
var sites = map[string]func(menu, article string) string{
	"North": func(menu, article string) string { return "<ul>" + menu + "</ul>" + article },
	"South": func(menu, article string) string {
		return "<div><ul>" + menu + "</ul></div><div><div>" + article + "</div></div><div>© 2024 Example. All rights reserved.</div>"
	},
	"West": func(menu, article string) string {
		return "<table><tr><td><ul>" + menu + "</ul></td><td>" + article + "</td></tr></table>"
	},
	"East": func(menu, article string) string { return "<div>" + article + "</div><div><ul>" + menu + "</ul></div>" },
}

// TestShortArticle checks that a short article beside a longer menu is found on any site, if the
// page's title has its heading. Otherwise the page is a list: it may be a note about the site.
func TestShortArticle(t *testing.T) {
	for language, articles := range shortArticles {
		for _, a := range articles {
			for site, page := range sites {
				menu := menuOf(language, site, 105)
				body := "<h1>" + a[0] + "</h1><p>" + a[1] + "</p><p>" + a[2] + "</p>"
				e := New(Main)
				want := a[0] + " - " + site + "\n" + strings.Join(a, "\n") + "\n"
				if got := string(e.Append(nil, []byte("<title>"+a[0]+" - "+site+"</title>"+page(menu, body)), nil)); got != want || e.IsList() {
					t.Errorf("%s, %s: a list %v:\n%s", language, site, e.IsList(), got)
				}
				for what, other := range map[string]string{
					"another title":  "<title>" + site + "</title>" + page(menu, body),
					"no heading":     "<title>" + a[0] + "</title>" + page(menu, "<p>"+a[1]+"</p><p>"+a[2]+"</p>"),
					"one sentence":   "<title>" + a[0] + "</title>" + page(menu, "<h1>"+a[0]+"</h1><p>"+a[0]+"</p>"),
					"long headlines": "<title>" + a[0] + "</title>" + page(headlines(language), body),
				} {
					if got := string(e.Append(nil, []byte(other), nil)); !e.IsList() || got != text(Visible, other) {
						t.Errorf("%s, %s, %s: a list %v:\n%s", language, site, what, e.IsList(), got)
					}
				}
			}
		}
	}
}

// headlines returns links that are too long for a menu.
func headlines(language string) string {
	return strings.Repeat("<li><a href=x>"+map[string]string{
		"en": "The council wants to build another bridge across the river",
		"zh": "市政府计划在明年春天再建一座跨江大桥以缓解交通",
	}[language]+"</a></li>", 40)
}

// TestIsList checks that pages of mostly links keep these and are lists. Other pages without an
// article are no lists.
func TestIsList(t *testing.T) {
	links := strings.Repeat("<li><a href=x>Somewhere else</a></li>", 40)
	goods := strings.Repeat("<div><a href=x>A chair of oak with four legs</a><span>129,00 €</span></div>", 30)
	for what, c := range map[string]struct {
		page, says string // "" if it is no list
	}{
		"an index":         {"<title>Index</title><h1>Index</h1><ul>" + links + "</ul>", "Index\nSomewhere else\nSomewhere"},
		"a shop":           {"<title>Chairs made of oak</title><nav>" + links + "</nav><h1>Chairs made of oak</h1><p>We have sold chairs made of oak since 1950, and tables, too. All of them are made by hand, in our own workshop in the old mill.</p>" + goods, "old mill.\nA chair of oak with four legs129,00 €\nA chair"},
		"only a menu":      {"<nav>" + links + "</nav>", "Somewhere else"},
		"a short notice":   {"<nav>" + links + "</nav><p>Closed on Monday.</p>", ""},
		"a forum":          {strings.Repeat("<div><a href=u>someone</a><p>I think that this is right, but who knows, maybe it is not, as was said.</p><a href=r>Reply</a></div>", 12), ""},
		"a table of data":  {"<table>" + strings.Repeat("<tr><td>17<td>4<td>x</tr>", 30) + "</table>", ""},
		"an article":       {inSkin("en", "divisions", articles["en"]), ""},
		"nothing":          {"", ""},
		"an index of 中文页面": {"<ul>" + strings.Repeat("<li><a href=x>北方海岸</a></li>", 30) + "</ul>", "北方海岸\n北方海岸"},
	} {
		e := New(Main)
		if got := string(e.Append(nil, []byte(c.page), nil)); e.IsList() != (c.says != "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: a list %v:\n%s", what, e.IsList(), got)
		}
		e = New(Visible)
		if e.Append(nil, []byte(c.page), nil); e.IsList() {
			t.Errorf("%s: all that is seen is a list", what)
		}
	}
}

// TestArticleAboutCopyright checks that words are no reason to drop an article's paragraph.
func TestArticleAboutCopyright(t *testing.T) {
	paragraph := "The court held that copyright does not protect the look of a program, and that users may keep the macros they wrote."
	page := "<div>" + strings.Repeat("<p>"+paragraph+"</p>", 4) + "<p>Copyright (c) 2003 Example Publishing, all rights reserved.</p></div>"
	if got, want := text(Main, page), strings.Repeat(paragraph+"\n", 4); got != want {
		t.Errorf("%s", got)
	}
}

// fragments holds the pieces that pages are drawn from.
var fragments = func() []string {
	f := []string{
		"<", ">", "</", "<!--", "-->", "--!>", "<!", "<?x", "/>", "&amp;", "&lt", "&#", "\r\n", " ", "\u00a0", "中文", "，", "é",
		"word", "Some words, in a sentence. ", "<a href=x>", "<a name=y>", "</a>", "<p hidden>", "<div style=display:none>", "<div role=main>",
		"<title>", "</title>", "<script>", "</script >", "<style>", "</style>", "<xmp>", "</xmp>", "<p a='>'>", "<p a=/>", "<b c = d>",
		"一百多年来，守灯人住在北方海岸外的礁石上，每天夜里点亮灯塔。", "<nav role='menu'>", "<ul role=navigation>",
	}
	for name, t := range tagOf {
		if name != "plaintext" && t != root {
			f = append(f, "<"+name+">", "</"+name+">", "<"+name+" class=c/>")
		}
	}
	slices.Sort(f)
	return f
}()

// check checks the promises that hold for every page.
func check(t rapid.TB, e map[Mode]*Extractor, page []byte) {
	t.Helper()
	var ours, oracle document
	ours.reset()
	(&scanner{}).run(page, &ours)
	ours.endBlock()
	oracle.reset()
	runOracle(page, &oracle)
	oracle.endBlock()
	differs := string(ours.title) != string(oracle.title) || string(ours.text) != string(oracle.text) || !slices.Equal(ours.blocks, oracle.blocks)
	if differs && !isOdd(page) {
		t.Errorf("%q: %q, %q; by the tokenizer of x/net %q, %q", page, ours.title, ours.text, oracle.title, oracle.text)
	}
	visible, article := e[Visible].Append([]byte("x"), page, nil), e[Main].Append([]byte("x"), page, nil)
	for _, got := range [][]byte{visible, article} {
		if utf8.Valid(page) && !utf8.Valid(got) || got[0] != 'x' {
			t.Errorf("%q: %q", page, got)
		}
	}
	if fresh := text(Main, string(page)); fresh != string(article[1:]) {
		t.Errorf("%q: %q, by a new extractor %q", page, article[1:], fresh)
	}
	if len(visible) > 1 && len(article) == 1 {
		t.Errorf("%q: nothing of %q", page, visible)
	}
	rest := string(visible[1:])
	for line := range strings.Lines(string(article[1:])) {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Errorf("%q: %q is not in %q", page, line, visible)
			return
		}
		rest = after
	}
}

func extractors() map[Mode]*Extractor {
	return map[Mode]*Extractor{Main: New(Main), Visible: New(Visible)}
}

// TestAnyPage compares tags and text with the tokenizer of x/net. The article is a non-empty part
// of the visible text.
func TestAnyPage(t *testing.T) {
	e := extractors()
	rapid.Check(t, func(t *rapid.T) {
		check(t, e, []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 60).Draw(t, "page"), "")))
	})
}

func FuzzAppend(f *testing.F) {
	for language, article := range articles {
		for _, skin := range []string{"semantic", "divisions", "tables"} {
			f.Add([]byte(inSkin(language, skin, article)))
		}
	}
	f.Add([]byte(strings.Join(fragments, "x")))
	e := extractors()
	f.Fuzz(func(t *testing.T, page []byte) {
		check(t, e, page)
	})
}

// odd matches pages that the tokenizer of x/net reads against the standard. After a slash, it reads
// an equals sign as the start of a value, not of a name. After a < that begins no tag, it forgets a
// comment in a script. It replaces zero bytes, which this package keeps. Alone it knows no foreign
// content, which TestForeignContent compares.
var odd = regexp.MustCompile(`(?is)/[ \t\r\n\f/]*=|<script.*<!--.*<[^a-z/]|\x00|<svg|<math`)

func isOdd(page []byte) bool { return odd.Match(page) }

// hostile holds pages of about n bytes that are meant to take long.
var hostile = map[string]func(n int) string{
	"less-than signs":    func(n int) string { return strings.Repeat("<", n) },
	"ampersands":         func(n int) string { return strings.Repeat("&", n) },
	"long entity":        func(n int) string { return "&" + strings.Repeat("a", n) },
	"nested":             func(n int) string { return strings.Repeat("<div>", n/5) },
	"nested with text":   func(n int) string { return strings.Repeat("<div>a, b.", n/10) },
	"nested and closed":  func(n int) string { return strings.Repeat("<div>", n/11) + strings.Repeat("</div>", n/11) },
	"never opened":       func(n int) string { return strings.Repeat("<div>", n/10) + strings.Repeat("</ul>", n/10) },
	"unclosed":           func(n int) string { return strings.Repeat("<ul><li><a href=x>a<p>b<table><td>", n/34) },
	"attributes":         func(n int) string { return "<div " + strings.Repeat("a=b ", n/4) + ">x" },
	"distinct ones":      func(n int) string { return manyAttributes(n/2) + strings.Repeat("<b c>", n/10) },
	"open quote":         func(n int) string { return strings.Repeat("<a b='", n/6) },
	"comments":           func(n int) string { return strings.Repeat("<!--", n/4) },
	"dashes":             func(n int) string { return "<!--" + strings.Repeat("-", n) },
	"titles":             func(n int) string { return strings.Repeat("<title>", n/7) },
	"ends of titles":     func(n int) string { return strings.Repeat("<title>a</titl ", n/15) },
	"scripts":            func(n int) string { return strings.Repeat("<script><!--<script>", n/20) },
	"open text areas":    func(n int) string { return strings.Repeat("<textarea></text", n/16) },
	"short blocks":       func(n int) string { return strings.Repeat("a<p>", n/4) },
	"headings":           func(n int) string { return strings.Repeat("<h1>a", n/5) },
	"links":              func(n int) string { return strings.Repeat("<a href=x>ab</a><p>", n/19) },
	"cells":              func(n int) string { return strings.Repeat("<td>a", n/5) },
	"tables":             func(n int) string { return strings.Repeat("<table><tr><td>", n/15) },
	"one long row":       func(n int) string { return "<table><tr>" + strings.Repeat("<td>a</td>", n/10) },
	"pre":                func(n int) string { return strings.Repeat("<pre>a\n", n/7) },
	"line breaks":        func(n int) string { return strings.Repeat("<br>", n/4) },
	"line breaks in pre": func(n int) string { return "<pre>a" + strings.Repeat("<br>", n/4) + "b" },
	"spaces":             func(n int) string { return strings.Repeat(" ", n) },
	"spaces in lines":    func(n int) string { return "<pre>a" + strings.Repeat(" <p>", n/4) },
	"paragraphs": func(n int) string {
		return strings.Repeat("<div><p>Some words, some more words, and then, at last, a few words more of the very same kind as before.</p></div>", n/112)
	},
	"teasers": func(n int) string {
		return strings.Repeat("<div><a href=x>Some words</a><p>Some words, some more words, and then, at last, a few words more of the very same kind.</p></div>", n/125)
	},
	"nested paragraphs": func(n int) string {
		return strings.Repeat("<div><p>Some words, some more words, and then, at last, a few words more of the very same kind as before.</p>", n/106)
	},
	"foreign":            func(n int) string { return strings.Repeat("<svg><g>", n/16) + strings.Repeat("</g></b>", n/16) },
	"foreign and text":   func(n int) string { return strings.Repeat("<math><mi>a", n/11) },
	"foreign paragraphs": func(n int) string { return "<math><mi>" + strings.Repeat("<b><p>a", n/7) },
	"roots in a point":   func(n int) string { return strings.Repeat("<svg><desc><p><b>", n/17) + strings.Repeat("</i>", n/4) },
	"character data":     func(n int) string { return "<svg>" + strings.Repeat("<![CDATA[", n/9) },
	"wide lines":         func(n int) string { return strings.Repeat("中\n", n/4) },
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "<i a%d ", i)
	}
	return b.String() + ">"
}

// TestHostilePages checks that the work grows linearly with the page and that memory stays bounded.
func TestHostilePages(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	for what, page := range hostile {
		effort.Linear(t, what, 1<<16, func(n int) func() {
			p, e := []byte(page(n)), New(Main)
			return func() { e.Append(nil, p, nil) }
		})
		big := []byte(page(4 << 20))
		var before, after runtime.MemStats
		e := New(Main)
		runtime.GC()
		runtime.ReadMemStats(&before)
		e.Append(nil, big, nil)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 40<<20 {
			t.Errorf("%s: %d MiB are held", what, held>>20)
		}
		runtime.KeepAlive(e)
		runtime.KeepAlive(big)
	}
}

func BenchmarkAppend(b *testing.B) {
	for language, article := range articles {
		page := []byte(inSkin(language, "divisions", article))
		for _, mode := range []Mode{Main, Visible} {
			b.Run(fmt.Sprintf("%s/%d", language, mode), func(b *testing.B) {
				e := New(mode)
				b.SetBytes(int64(len(page)))
				var dst []byte
				room := make([]byte, 0, len(page))
				for b.Loop() {
					dst = e.Append(dst[:0], page, room)
				}
			})
		}
	}
}

// TestRoom finds the same text with a buffer, without one, and in the memory of the page.
func TestRoom(t *testing.T) {
	for _, mode := range []Mode{Main, Visible} {
		e := New(mode)
		for _, page := range []string{
			"", "<title>t", "<title>A title</title><p>One sentence, and another.<p>" + strings.Repeat("&NotEqualTilde; more, ", 50),
			strings.Repeat("<p>A paragraph of some length, with a comma.", 300), strings.Repeat("<p>x", 3*keptCount),
		} {
			want := string(e.Append(nil, []byte(page), nil))
			for _, room := range [][]byte{nil, make([]byte, 0, 10), make([]byte, 0, 100_000)} {
				own := []byte(page)
				if got := string(e.Append(own[:0], own, room)); got != want {
					t.Errorf("with room for %d: %q, want %q", cap(room), got, want)
				}
			}
			if e.doc.text != nil || cap(e.doc.blocks) > keptCount || cap(e.pick.keep) > keptCount {
				t.Errorf("of a page of %d bytes too much is kept", len(page))
			}
		}
	}
}
