package page

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/internal/base/charset"
	"github.com/firstseen/firstseen/internal/base/html"
)

// TextOf returns a maker of extractors for pages and texts in any encoding.
func TextOf(mode html.Mode) func() corpus.Text {
	return func() corpus.Text {
		extractor := html.New(max(mode, html.Main))
		return func(room func(n int) []byte, body []byte, contentType string) ([]byte, bool, error) {
			if isPlainUTF8(body) {
				if mode < 0 || !isHTML(contentType) {
					return body, false, nil
				}
				text := extractor.Append(room(len(body)), body, room(len(body)))
				return text, extractor.IsList(), nil
			}
			page, _, err := charset.Decode(room(3*len(body)), body, contentType)
			if err != nil || mode < 0 || !isHTML(contentType) {
				return page, false, err
			}
			text := extractor.Append(page[:0], page, room(len(page)))
			return text, extractor.IsList(), nil
		}
	}
}

// isPlainUTF8 reports whether a body is UTF-8 without a byte order mark or zero bytes. Shift
// sequences of seven-bit encodings, which are valid UTF-8, are excluded too.
func isPlainUTF8(body []byte) bool {
	return !bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) && bytes.IndexByte(body, 0x1b) < 0 && bytes.IndexByte(body, 0) < 0 &&
		!bytes.Contains(body, []byte("~{")) && utf8.Valid(body)
}

func isHTML(contentType string) bool {
	return strings.Contains(strings.ToLower(contentType), "html")
}
