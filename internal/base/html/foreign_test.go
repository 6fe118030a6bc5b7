package html

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// TestForeignContent checks with the parser of x/net that readers see the same of SVG, MathML and
// HTML in any order.
func TestForeignContent(t *testing.T) {
	pieces := []string{
		"<annotation-xml encoding='text/html'>", "<annotation-xml encoding='Application/xhtml+xml'>", "<font color=red>",
		"<![CDATA[", "]]>", "<!--", "-->", "<svg>", "<math>", "</svg>", "</math>",
	}
	for _, name := range strings.Fields(`svg math g path title desc foreignObject linearGradient a mi mtext mrow annotation annotation-xml
		mglyph div p span b section br img style font table custom-element h1`) {
		pieces = append(pieces, "<"+name+">", "<"+name+"/>", "</"+name+">", "word")
	}
	all := extractors()
	rapid.Check(t, func(t *rapid.T) {
		page := "<!doctype html><body>" + rapid.SampledFrom([]string{"", "<table><tr><td>"}).Draw(t, "around")
		for i, piece := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "pieces") {
			if piece == "word" {
				piece = string(rune('a' + i)) // each once
			}
			page += piece
		}
		page += "</title>" // one without an end is left out
		check(t, all, []byte(page))
		e := all[Visible]
		got := strings.TrimPrefix(string(e.Append(nil, []byte(page), nil)), string(e.doc.title))
		missing, excess := difference(parsed(t, page), got)
		if (missing != "" || excess != "") && !hasOuterEnd(page) {
			t.Fatalf("%s\nmissing %q, in excess %q", page, missing, excess)
		}
	})
}

// parsed returns the text in the tree of a page, without titles and parts that are not shown.
func parsed(t rapid.TB, page string) string {
	tree, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		if name := strings.TrimSpace(n.Namespace + " " + n.Data); name != "title" && !slices.Contains(unshownNames, name) {
			for c := range n.ChildNodes() {
				walk(c)
			}
		}
	}
	walk(tree)
	return b.String()
}

// difference returns the characters that only one of two texts has. White space does not count.
func difference(a, b string) (onlyA, onlyB string) {
	rest := []rune(squeeze(b))
	for _, r := range squeeze(a) {
		if i := slices.Index(rest, r); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			onlyA += string(r)
		}
	}
	return onlyA, string(rest)
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

var (
	rootTag = regexp.MustCompile(`<(svg|math)`)
	anyEnd  = regexp.MustCompile(`</([\w-]+)`)
)

// hasOuterEnd reports whether a tag in foreign content may end an element around it. The scanner
// counts these elements, even those that another element's end tag ended or has to end.
func hasOuterEnd(page string) bool {
	for _, root := range rootTag.FindAllStringIndex(page, -1) {
		for _, end := range anyEnd.FindAllStringSubmatch(page[root[0]:], -1) {
			if end[1] != "svg" && end[1] != "math" && strings.Contains(page[:root[0]], "<"+end[1]) {
				return true
			}
		}
	}
	return false
}
