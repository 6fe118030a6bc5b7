package vary

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Frame is the amount of text around the article on the pages of a site.
type Frame struct {
	Name      string
	Menu      int // entries of the menu
	Related   int // titles of other articles
	Teasers   int // titles with the beginning of the article
	Imprint   int // sentences at the foot
	Interrupt int // paragraphs between interruptions; 0: none
}

// Frames are the frames to measure, by weight.
var Frames = []Frame{
	{Name: "none"},
	{Name: "light", Menu: 9, Related: 2, Teasers: 0, Imprint: 1, Interrupt: 0},
	{Name: "medium", Menu: 25, Related: 3, Teasers: 1, Imprint: 2, Interrupt: 0},
	{Name: "heavy", Menu: 60, Related: 4, Teasers: 2, Imprint: 3, Interrupt: 6},
}

// Skinned returns a set in which each article is on a page of either of two sites, in random order.
func Skinned(m *Material, f Frame, articles int, seed uint64) *Set {
	s := &Set{Name: fmt.Sprintf("skins_%s_%s", m.Language, f.Name)}
	rng := source(seed, s.Name)
	others := newPool(m.Sentences, rng)
	for n := range 2 {
		site := m.newSite(f, n, others, rng)
		for i := range articles {
			id := fmt.Sprintf("%s-%03d-%c", s.Name, i, 'a'+n)
			s.add(id, site.page(m.Articles[:articles], i, rng), i)
		}
	}
	for i := range articles {
		s.Pairs = append(s.Pairs, Pair{s.Docs[i].ID, s.Docs[articles+i].ID, "skin:" + f.Name})
	}
	rng.Shuffle(len(s.Docs), func(i, j int) { s.Docs[i], s.Docs[j] = s.Docs[j], s.Docs[i] })
	return s
}

// words are the labels of a site in one language.
type words struct {
	topics, forms               []string
	home, byline, read, related string
	share, interrupt            []string
	copyright                   string
}

var english = words{
	topics: strings.Fields(`Politics Business Markets Technology Science Health Sports Football Travel Culture Music
		Film Books Food Property Education Weather Opinion Europe Asia Africa Americas Energy Climate Motoring Fashion
		Law Religion Gardening Puzzles Jobs Pensions`),
	forms: []string{"%s", "%s news", "All %s stories", "Best of %s", "%s in pictures", "The %s podcast"},
	home:  "Home", byline: "By our staff, updated %d minutes ago", read: "Read more about this: %s", related: "Related stories",
	share:     []string{"Share on Facebook", "Share by e-mail", "Print this page", "Save for later", "Comments (%d)"},
	interrupt: []string{"Advertisement", "Continue reading below", "Sign up for our newsletter"},
	copyright: "Copyright 2009-2024 %s Media Limited. All rights reserved.",
}

var chinese = words{
	topics: strings.Fields(`时政 财经 股票 科技 科学 健康 体育 足球 旅游 文化 音乐 电影 读书 美食 房产 教育 天气 评论 国际 军事
		社会 能源 环保 汽车 时尚 法治 公益 三农 游戏 招聘 养老 收藏`),
	forms: []string{"%s", "%s频道", "%s新闻", "更多%s资讯", "%s图片精选", "今日%s要闻汇总"},
	home:  "首页", byline: "本站记者 %d分钟前更新", read: "延伸阅读：%s", related: "相关新闻",
	share:     []string{"分享到微信", "分享到微博", "打印本页", "收藏本文", "评论（%d）"},
	interrupt: []string{"广告", "未完待续，请往下阅读", "欢迎订阅我们的电子报"},
	copyright: "版权所有 2009-2024 %s传媒有限公司，未经书面授权不得转载。",
}

// site puts its frame around articles.
type site struct {
	words
	frame   Frame
	name    string
	menu    []string
	imprint []string
	inLine  bool // several menu entries stand in a line
}

// newSite returns the n-th site, with its own menu and imprint.
func (m *Material) newSite(f Frame, n int, others *pool, rng *rand.Rand) *site {
	s := &site{words: english, frame: f, name: []string{"Morning Courier", "The Daily Lantern"}[n], inLine: n == 1}
	if m.Language == "zh" {
		s.words, s.name = chinese, []string{"晨光网", "江城在线"}[n]
	}
	for _, form := range s.forms {
		for _, topic := range s.topics {
			s.menu = append(s.menu, fmt.Sprintf(form, topic))
		}
	}
	rng.Shuffle(len(s.menu), func(i, j int) { s.menu[i], s.menu[j] = s.menu[j], s.menu[i] })
	s.menu = s.menu[:f.Menu]
	for range f.Imprint {
		s.imprint = append(s.imprint, others.sentence())
	}
	return s
}

// page returns the visible text of the page of one of the articles.
func (s *site) page(articles []Article, i int, rng *rand.Rand) string {
	var lines []string
	if s.frame.Menu > 0 {
		lines = append(s.head(rng), s.trail(&articles[i], rng), "")
	}
	lines = append(lines, articles[i].Title, "")
	lines = append(lines, s.body(&articles[i], articles, rng)...)
	if s.frame.Menu > 0 {
		lines = append(lines, s.links(articles, i, rng)...)
		lines = append(lines, s.foot()...)
	}
	return strings.Join(lines, "\n")
}

// head returns the site's name and the menu.
func (s *site) head(rng *rand.Rand) []string {
	lines := []string{s.name, s.home}
	entries := s.entries(rng)
	if !s.inLine {
		return append(lines, entries...)
	}
	for chunk := range slices.Chunk(entries, 8) {
		lines = append(lines, strings.Join(chunk, " | "))
	}
	return lines
}

// entries returns the menu of one page: some entries are missing and some have a number.
func (s *site) entries(rng *rand.Rand) (entries []string) {
	for _, entry := range s.menu {
		switch rng.IntN(20) {
		case 0:
			continue
		case 1:
			entry = fmt.Sprintf("%s (%d)", entry, rng.IntN(100))
		}
		entries = append(entries, entry)
	}
	return entries
}

// trail returns the path of the page in the site.
func (s *site) trail(a *Article, rng *rand.Rand) string {
	return strings.Join([]string{s.home, s.topics[rng.IntN(len(s.topics))], a.Title}, " > ")
}

// body returns the article with the parts that the site inserts.
func (s *site) body(a *Article, articles []Article, rng *rand.Rand) (lines []string) {
	if s.frame.Menu > 0 {
		lines = append(lines, fmt.Sprintf(s.byline, 1+rng.IntN(59)))
	}
	for n, paragraph := range a.Paragraphs {
		lines = append(lines, paragraph)
		if !s.inLine {
			lines = append(lines, "")
		}
		if s.frame.Interrupt > 0 && n%s.frame.Interrupt == s.frame.Interrupt-1 {
			lines = append(lines, s.interrupt[rng.IntN(len(s.interrupt))],
				fmt.Sprintf(s.read, articles[rng.IntN(len(articles))].Title))
		}
	}
	return lines
}

// links returns links to other articles of the site.
func (s *site) links(articles []Article, i int, rng *rand.Rand) (lines []string) {
	for _, label := range s.share {
		if strings.Contains(label, "%d") {
			label = fmt.Sprintf(label, rng.IntN(300))
		}
		lines = append(lines, label)
	}
	lines = append(lines, s.related)
	for n := range s.frame.Related + s.frame.Teasers {
		other := &articles[(i+1+rng.IntN(len(articles)-1))%len(articles)]
		lines = append(lines, other.Title)
		if n < s.frame.Teasers {
			lines = append(lines, Sentences(other.Paragraphs[0])[0])
		}
	}
	return lines
}

// foot returns the imprint.
func (s *site) foot() []string {
	return append(append([]string{}, s.imprint...), fmt.Sprintf(s.copyright, s.name))
}
