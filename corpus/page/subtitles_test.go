package page_test

import (
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/page"
)

// TestSubtitles reads the same words from files with other times, numbers and marks.
func TestSubtitles(t *testing.T) {
	const want = "Where is <3 of 5 & the map?\nIn 1984\nlines.\n42\n\"Gone, – he said.\n"
	f := page.Format{Subtitles: true}
	for name, file := range map[string]string{
		"SubRip": "1\n00:00:01,600 --> 00:00:04,200\nWhere is <3 of 5 & the map?\n\n2\n00:00:05,900 --> 00:00:07,999 X1:10 X2:20\n" +
			"<i>In 1984</i>\nlines.\n\n3\n00:00:08,000 --> 00:00:09,000\n42\n\n4\n00:01:00,000 --> 00:01:01,000\n\"Gone, – he said.\n",
		"other numbers": "\xef\xbb\xbf907\r\n1:02:01,600 --> 1:02:04,200\r\n{\\an8}Where is <3 of 5 & the map?\r\n\r\n\r\n908 \r\n01:00:05,900 --> 01:00:07,999\r\n" +
			"<font color=\"#fff\">In 1984\r\n\r\nlines.</font>\r\n909\r\n01:00:08,000 --> 01:00:09,000\r\n42\r\n910\r\n01:01:00,000 --> 01:01:01,000\r\n\"Gone, – he said.",
		"WebVTT": "WEBVTT - a title\nKind: captions\n\nNOTE\nan aside\nof lines\n\nSTYLE\n::cue(b) {\n  color: red;\n}\n\nREGION\nid:fred\n\n" +
			"intro\n00:01.600 --> 00:04.200 line:0 position:20% align:start\n<v Ann Lee>Where is <00:02.000><c.x>&lt;3</c> of 5 &amp; the map?\n\n" +
			"00:05.900 --> 00:07.999\n<c.a.b>In 1984</c>\n<b>lines.\n\n3\n00:08.000 --> 00:09.000\n42\n\n00:01:00.000 --> 00:01:01.000\n<lang en>\"Gone, – he said.</lang>\n",
	} {
		if !f.Recognize([]byte(file)) {
			t.Errorf("%s: it is not recognized", name)
		}
		all, err := read(f, corpus.SourceConfig{}, t.TempDir(), []byte(file))
		if err != nil || len(all) != 1 || all[0].text != want || all[0].raw != file || all[0].bad != "" {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	for _, other := range []string{"", "WEBVTTs are files", "1\n2\n3\n", "1. one --> two", "{\"text\":\"a\"}"} {
		if f.Recognize([]byte(other)) || (page.Format{}).Recognize([]byte("WEBVTT\n")) {
			t.Errorf("%q is taken for subtitles", other)
		}
	}
	all, err := read(f, corpus.SourceConfig{}, t.TempDir(), []byte("1\n00:00:01,600 --> 00:00:04,200\n"+strings.Repeat("\xff", 3)))
	if err != nil || len(all) != 1 || all[0].bad != "it is not UTF-8" {
		t.Errorf("%+v, %v", all, err)
	}
}
