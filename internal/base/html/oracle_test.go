package html

import (
	"bytes"

	"golang.org/x/net/html"
)

// runOracle does the same as scanner.run with the tokenizer of x/net.
func runOracle(page []byte, d *document) {
	z := html.NewTokenizer(bytes.NewReader(page))
	xml := bytes.HasPrefix(bytes.TrimLeft(page, "\ufeff \t\r\n"), []byte("<?xml"))
	raw, at := inline, 0
	for {
		token := z.Next()
		if token == html.ErrorToken {
			return
		}
		at += len(z.Raw())
		switch token {
		case html.TextToken:
			switch raw {
			case silent:
			case title:
				d.setTitle(z.Text())
			default:
				d.put(z.Text())
			}
		case html.EndTagToken:
			raw = inline
			name, _ := z.TagName()
			t := tagOf[string(name)]
			if t == verbatim {
				t = preformatted
			}
			d.end(t)
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			t := tagOf[string(name)]
			var a attributes
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				a.set(key, bytes.ReplaceAll(value, []byte("&"), []byte("&amp;")))
			}
			raw = startOracle(z, page[at:], d, t, name, a, xml && token == html.SelfClosingTagToken)
		}
	}
}

// startOracle handles a start tag. It returns the kind of raw text that follows, or inline.
func startOracle(z *html.Tokenizer, rest []byte, d *document, t tag, name []byte, a attributes, empty bool) tag {
	switch {
	case t == link:
		if a.href || len(name) > 1 {
			d.start(link, link, false)
		}
	case t == title || t == silent || t == verbatim:
		if empty || t == title && !hasTitleEnd(rest) {
			z.NextIsNotRawText()
			return inline
		}
		if t == verbatim {
			d.start(preformatted, preformatted, false)
		}
		return t
	default:
		d.start(t, a.roleOr(t), t != inline && t != rule && a.isHiding())
		if empty && isElement[t] {
			d.end(t)
		}
	}
	return inline
}

func hasTitleEnd(rest []byte) bool {
	rest = bytes.ToLower(rest)
	for {
		_, after, found := bytes.Cut(rest, []byte("</title"))
		if !found || len(after) == 0 {
			return false
		}
		if bytes.IndexByte([]byte(" \t\r\n\f/>"), after[0]) >= 0 {
			return true
		}
		rest = after
	}
}
