package vary

import (
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// Pages returns a set like Skinned, of whole HTML pages. One of the two sites has semantic
// elements, such as nav and article. The other has div or, if tables is set, a table layout with
// line breaks between paragraphs. Class names mean nothing. Each page has two comments for every
// teaser.
func Pages(m *Material, f Frame, articles int, tables bool, seed uint64) *Set {
	s := &Set{Name: fmt.Sprintf("pages_%s_%s", m.Language, f.Name)}
	if tables {
		s.Name += "_tables"
	}
	rng := source(seed, s.Name)
	others := newPool(m.Sentences, rng)
	for n := range 2 {
		p := &layout{site: m.newSite(f, n, others, rng), rng: rng, others: others, space: m.space()}
		p.kind = [2]layoutKind{semantic, divisions}[n]
		if tables && n == 1 {
			p.kind = tabular
		}
		for i := range articles {
			id := fmt.Sprintf("%s-%03d-%c", s.Name, i, 'a'+n)
			s.add(id, p.html(m.Articles[:articles], i), i)
		}
	}
	for i := range articles {
		s.Pairs = append(s.Pairs, Pair{s.Docs[i].ID, s.Docs[articles+i].ID, "page:" + f.Name})
	}
	rng.Shuffle(len(s.Docs), func(i, j int) { s.Docs[i], s.Docs[j] = s.Docs[j], s.Docs[i] })
	return s
}

type layoutKind int

const (
	semantic layoutKind = iota
	divisions
	tabular
)

// layout renders the pages of a site.
type layout struct {
	*site
	kind   layoutKind
	rng    *rand.Rand
	others *pool
	space  string
	b      strings.Builder
}

// html returns the page of one of the articles.
func (p *layout) html(articles []Article, i int) string {
	p.b.Reset()
	a := &articles[i]
	fmt.Fprintf(&p.b, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%s - %s</title>\n", html.EscapeString(a.Title), p.name)
	p.b.WriteString("<style>.x1{color:#333}</style><script>var t = \"<p>not text</p>\";</script></head>\n<body>\n")
	if p.frame.Menu > 0 {
		p.region("header", func() { p.text("div", p.name); p.menu() })
	}
	p.middle(func() { p.article(articles, i) }, func() { p.links(articles, i) })
	if p.frame.Menu > 0 {
		p.comments()
		p.region("footer", func() {
			for _, line := range p.foot() {
				p.text("p", line)
			}
		})
	}
	p.b.WriteString("</body></html>\n")
	return p.b.String()
}

// class returns a class attribute that means nothing.
func (p *layout) class() string { return fmt.Sprintf(" class=\"c%x\"", p.rng.IntN(1<<16)) }

// region writes an element of that name, or a div if the site has no semantic elements.
func (p *layout) region(name string, inside func()) {
	if p.kind != semantic {
		name = "div"
	}
	p.b.WriteString("<" + name + p.class() + ">\n")
	inside()
	p.b.WriteString("</" + name + ">\n")
}

// middle writes the article and a column beside it, between head and foot.
func (p *layout) middle(article, column func()) {
	switch p.kind {
	case tabular:
		p.b.WriteString("<table width=\"100%\"><tr valign=top><td>")
		column()
		p.b.WriteString("</td><td width=600>")
		article()
		p.b.WriteString("</td></tr></table>\n")
	case divisions:
		p.b.WriteString("<div" + p.class() + "><div" + p.class() + "><div" + p.class() + ">\n")
		article()
		p.b.WriteString("</div><div" + p.class() + ">\n")
		column()
		p.b.WriteString("</div></div></div>\n")
	default:
		p.region("main", article)
		p.region("aside", column)
	}
}

func (p *layout) text(element, text string) {
	fmt.Fprintf(&p.b, "<%s>%s</%s>\n", element, html.EscapeString(text), element)
}

func (p *layout) link(around, text string) {
	fmt.Fprintf(&p.b, "<%s><a href=\"/%x\">%s</a></%s>\n", around, p.rng.IntN(1<<20), html.EscapeString(text), around)
}

// menu writes the site's menu: a list, or links in a line.
func (p *layout) menu() {
	entries := p.entries(p.rng)
	p.region("nav", func() {
		if p.inLine {
			for i, entry := range entries {
				if i > 0 {
					p.b.WriteString(" | ")
				}
				fmt.Fprintf(&p.b, "<a href=\"/s%d\">%s</a>", i, html.EscapeString(entry))
			}
			return
		}
		p.b.WriteString("<ul>\n")
		for _, entry := range entries {
			p.link("li", entry)
		}
		p.b.WriteString("</ul>\n")
	})
}

// article writes the article with the parts that the site inserts.
func (p *layout) article(articles []Article, i int) {
	a := &articles[i]
	p.region("article", func() {
		if p.frame.Menu > 0 {
			p.text("div", p.trail(a, p.rng))
		}
		p.text("h1", a.Title)
		if p.frame.Menu > 0 {
			p.text("div", fmt.Sprintf(p.byline, 1+p.rng.IntN(59)))
		}
		if p.kind == divisions {
			p.b.WriteString("<div" + p.class() + ">\n")
		}
		for n, paragraph := range a.Paragraphs {
			if p.kind == tabular {
				p.b.WriteString(html.EscapeString(paragraph) + "<br>\n<br>\n")
			} else {
				p.text("p", paragraph)
			}
			if every := p.frame.Interrupt; every > 0 && n%every == every-1 {
				p.text("div", p.interrupt[p.rng.IntN(len(p.interrupt))])
				p.link("div", fmt.Sprintf(p.read, articles[p.rng.IntN(len(articles))].Title))
			}
		}
		if p.kind == divisions {
			p.b.WriteString("</div>\n")
		}
		if p.frame.Menu > 0 {
			p.shares()
		}
	})
}

func (p *layout) shares() {
	p.b.WriteString("<ul" + p.class() + ">\n")
	for _, label := range p.share {
		if strings.Contains(label, "%d") {
			label = fmt.Sprintf(label, p.rng.IntN(300))
		}
		p.link("li", label)
	}
	p.b.WriteString("</ul>\n")
}

// teaserLength is the minimum length of a teaser, in characters.
const teaserLength = 140

// links writes links to other articles: titles and teasers.
func (p *layout) links(articles []Article, i int) {
	if p.frame.Menu == 0 {
		return
	}
	p.text("h3", p.related)
	for n := range p.frame.Related + p.frame.Teasers {
		other := &articles[(i+1+p.rng.IntN(len(articles)-1))%len(articles)]
		p.b.WriteString("<div" + p.class() + ">")
		p.link("h4", other.Title)
		if n < p.frame.Teasers {
			p.text("p", beginning(other, p.space))
		}
		p.b.WriteString("</div>\n")
	}
}

// beginning returns the first sentences of an article.
func beginning(a *Article, space string) string {
	text := ""
	for _, paragraph := range a.Paragraphs {
		for _, s := range Sentences(paragraph) {
			if text != "" {
				text += space
			}
			if text += s; utf8.RuneCountInString(text) >= teaserLength {
				return text
			}
		}
	}
	return text
}

// comments writes comments by readers.
func (p *layout) comments() {
	for range 2 * p.frame.Teasers {
		p.b.WriteString("<div" + p.class() + "><div" + p.class() + ">")
		p.link("span", fmt.Sprintf("user%d", p.rng.IntN(100000)))
		fmt.Fprintf(&p.b, " %d:%02d</div>\n", p.rng.IntN(24), p.rng.IntN(60))
		p.text("p", p.others.sentence())
		p.b.WriteString("</div>\n")
	}
}
