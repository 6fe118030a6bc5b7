package page

import (
	"bytes"
	"html"
	"regexp"

	"github.com/firstseen/firstseen/corpus"
)

// subtitleHead begins a file of WebVTT or, after its first index, of SubRip.
var subtitleHead = regexp.MustCompile(`^(\x{feff})?(WEBVTT[ \t\r\n]|\s*\d+[ \t]*\r?\n[ \t]*\d+:\d\d:\d\d[,.]\d+[ \t]+-->)`)

// cueMarks are tags, such as <i>, <v Name> and <00:01.500>, and the {\an8} of players. A < before
// a space or a digit alone is text.
var cueMarks = regexp.MustCompile(`</?[\pL][^<>]*>|</>|<[\d:.]*:[\d:.]*>|\{\\[^{}]*\}`)

// withoutTimes wraps a maker of texts: the words of subtitles remain, each line of a cue a line.
func withoutTimes(texts func() corpus.Text) func() corpus.Text {
	return func() corpus.Text {
		text := corpus.Text(corpus.Plain)
		if texts != nil {
			text = texts()
		}
		return func(room func(n int) []byte, body []byte, contentType string) ([]byte, bool, error) {
			body, exact, err := text(room, body, contentType)
			if err != nil {
				return nil, false, err
			}
			return appendCues(room(len(body)+1), body), exact, nil
		}
	}
}

// appendCues appends the words of subtitles to dst. It drops lines of times, and the name of a cue
// before one: a number, or the first line of a block. In WebVTT it drops blocks that are no cues.
func appendCues(dst, text []byte) []byte {
	isVTT := bytes.HasPrefix(text, []byte("WEBVTT"))
	first, drops := true, false // of a block; up to its end
	name := len(dst)            // the start of the last line, if it may be the name of a cue
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text, line = rest, bytes.TrimSpace(line)
		switch at := len(dst); {
		case len(line) == 0:
			first, drops, name = true, false, at
			continue
		case line[0] >= '0' && line[0] <= '9' && bytes.Contains(line, []byte("-->")):
			dst, drops = dst[:name], false
		case drops, first && isVTT && isNoCue(line):
			drops = true
		default:
			dst = appendCueLine(dst, line)
			if name = len(dst); first || len(bytes.Trim(line, "0123456789")) == 0 {
				name = at
			}
		}
		first = false
	}
	return dst
}

// isNoCue reports whether a line begins the header of WebVTT, a note, styles or a region.
func isNoCue(line []byte) bool {
	word, _, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "WEBVTT", "NOTE", "STYLE", "REGION":
		return true
	}
	return false
}

func appendCueLine(dst, line []byte) []byte {
	if bytes.ContainsAny(line, "<{") {
		line = cueMarks.ReplaceAll(line, nil)
	}
	if bytes.IndexByte(line, '&') >= 0 {
		line = []byte(html.UnescapeString(string(line)))
	}
	return append(append(dst, line...), '\n')
}
