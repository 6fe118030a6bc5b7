package html

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// TestForeignContent checks with the parser of x/net that readers see the same of SVG, MathML and
// HTML in each other. An svg may lack its end before HTML.
func TestForeignContent(t *testing.T) {
	all := extractors()
	rapid.Check(t, func(t *rapid.T) {
		words := 'a'
		page := "<!doctype html><body>" + rapid.SampledFrom([]string{"", "<table><tr><td>", "<a href=x>"}).Draw(t, "around") + content(t, "html", &words, 4)
		page += rapid.SampledFrom([]string{"", "<svg><g><path>x<p>", "<math><mi>y<div>", "<p><svg>x</p>"}).Draw(t, "open") + "z</title>" // one without an end is left out
		check(t, all, []byte(page))
		e := all[Visible]
		got := strings.TrimPrefix(string(e.Append(nil, []byte(page), nil)), string(e.doc.title))
		if missing, excess := difference(parsed(t, page), got); missing != "" || excess != "" {
			t.Fatalf("%s\nmissing %q, in excess %q", page, missing, excess)
		}
	})
}

// contents lists what elements of a kind contain. A piece ends before the name of the kind in it.
var contents = map[string][]string{
	"html": {"", "<div>html", "<b>html", "<custom-element>html", "<svg>svg", "<math>math", "<table><tr><td>html", "<br>", "<img>"},
	"svg": {
		"", "<path/>", "<style/>", "<title/>", "<g>svg", "<a>svg", "<svg>svg", "<text>svg", "<linearGradient>svg", "<title>", "<desc>", "<![CDATA[</svg>]]>", "<!-- </svg> -->",
		"<foreignObject>html", "<style>", "<script>",
	},
	"math": {
		"", "<mi>", "<mrow>math", "<mtext>html", "<mglyph/>", "<annotation>", "<![CDATA[</math>]]>",
		"<annotation-xml encoding='text/html'>text", "<annotation-xml encoding='Application/xhtml+xml'>text", "<annotation-xml>svgs",
	},
	"svgs": {"<svg>svg"},
	"text": {"", "<b>text", "<p>text", "<svg>svg"},
}

// content draws the content of a kind of elements. Each word is another letter.
func content(t *rapid.T, kind string, words *rune, depth int) string {
	var b strings.Builder
	for _, piece := range rapid.SliceOfN(rapid.SampledFrom(contents[kind]), 0, max(0, depth)).Draw(t, kind) {
		i := strings.LastIndexByte(piece, '>') + 1
		tags, inner := piece[:i], piece[i:]
		b.WriteString(tags)
		switch {
		case strings.HasPrefix(tags, "<!"), strings.HasSuffix(tags, "/>"), tags == "<br>", tags == "<img>":
			continue
		case inner != "":
			b.WriteString(content(t, inner, words, depth-1))
		default:
			*words++
			b.WriteRune(*words)
		}
		for _, tag := range slices.Backward(strings.Split(tags, "<")[1:]) {
			name, _, _ := strings.Cut(strings.TrimSuffix(tag, ">"), " ")
			b.WriteString("</" + name + ">")
		}
	}
	return b.String()
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
