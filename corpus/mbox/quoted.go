package mbox

import (
	"bytes"
	"regexp"
)

// passedOn matches the subject of a mail that passes another one on.
var passedOn = regexp.MustCompile(`(?i)^\s*(fwd?|wg|tr|转发|轉寄)\s*[:：]`)

// mailBelow matches the line after which the mail that is answered follows whole, as Outlook and QQ
// write it: a rule with these words, or the first two lines of its header.
var mailBelow = regexp.MustCompile(`(?im)\A(-{2,}[- \x{a0}]*(original message|ursprüngliche nachricht|message d'origine|mensaje original|原始邮件|原始郵件|邮件原件)[- \x{a0}]*\r?$` +
	`|\*?(from|von|de|发件人|寄件者)\*? ?[:：].*\n\s*\*?(sent|gesendet|envoyé|enviado|发送时间|寄件日期)\*? ?[:：])`)

// said matches the line before a quotation that names its writer. A long one is broken in two.
var said = regexp.MustCompile(`(^|\n)((On|Am|Le|El|在|于)\b.*\n.*|.*(\d|@|(?i)wrote|writes|schrieb|écrit|escribió|写道|寫道).*)[:：]$`)

// appendOwn appends the text of a mail without quotations. If the mail passes another one on, what
// follows whole stays. Lines that are flowed (RFC 3676) are joined, and delSp deletes the space
// between.
func appendOwn(dst, text []byte, passes, flowed, delSp bool) []byte {
	start, within := len(dst), false // a quotation
	for len(text) > 0 {
		if !passes && bytes.IndexByte([]byte("-*FfVvDd\xe5"), text[0]) >= 0 && mailBelow.Match(text[:min(len(text), 600)]) {
			break
		}
		line, rest, _ := bytes.Cut(text, newline)
		text, line = rest, bytes.TrimSuffix(line, []byte{'\r'})
		own := bytes.TrimLeft(line, ">")
		switch quoted := len(own) < len(line); {
		case len(line) == 0 && len(dst) == start:
			continue
		case quoted && bytes.HasPrefix(own, []byte("From ")): // mbox writes > before From
			if line = line[1:]; line[0] == '>' {
				continue
			}
		case bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte(">")):
			if !within {
				dst = withoutSaid(dst, start)
			}
			within = true
			continue
		}
		within = false
		if flowed && len(line) > 0 && line[0] == ' ' {
			line = line[1:]
		}
		if flows := flowed && bytes.HasSuffix(line, []byte(" ")) && string(line) != "-- "; !flows {
			dst = append(append(dst, line...), '\n')
		} else if delSp {
			dst = append(dst, line[:len(line)-1]...)
		} else {
			dst = append(dst, line...)
		}
	}
	if own := bytes.TrimRight(dst[start:], " \t\n"); len(own) > 0 {
		return append(dst[:start+len(own)], '\n')
	}
	return dst[:start]
}

// withoutSaid returns a text without the empty lines at its end, and without the line before them that
// names the writer of a quotation.
func withoutSaid(text []byte, start int) []byte {
	const longest = 400
	text = text[:start+len(bytes.TrimRight(text[start:], " \t\n"))]
	seen := text[max(start, len(text)-longest):]
	last := max(bytes.LastIndexByte(seen, '\n'), 0)
	seen = seen[max(bytes.LastIndexByte(seen[:last], '\n'), 0):]
	if at := said.FindIndex(seen); at != nil {
		text = text[:len(text)-len(seen)+at[0]]
	}
	if len(text) > start {
		text = append(text, '\n')
	}
	return text
}

var blockquote = regexp.MustCompile(`(?i)</?blockquote(\s[^>]*)?>`)

// cites matches the attributes of a quotation that programs for mail write, not the reader's.
var cites = regexp.MustCompile(`(?i)\s(type=.?cite|class=[^>]*quote)`)

// withoutQuotes returns a page with > in place of what it quotes from other mails.
func withoutQuotes(page []byte) (own []byte) {
	depth, from := 0, 0
	for _, tag := range blockquote.FindAllIndex(page, -1) {
		switch closes := page[tag[0]+1] == '/'; {
		case closes && depth > 0:
			depth, from = depth-1, tag[1]
		case depth > 0:
			depth++
		case !closes && cites.Match(page[tag[0]:tag[1]]):
			own = append(append(own, page[from:tag[0]]...), "<p>&gt;</p>"...)
			depth++
		}
	}
	if depth > 0 {
		return own
	}
	return append(own, page[from:]...)
}
