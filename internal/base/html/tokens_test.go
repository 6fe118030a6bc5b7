package html

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tokenTest is a test of html5lib's tokenizer.
type tokenTest struct {
	Input         string
	Output        [][]any
	InitialStates []string
	LastStartTag  string
	DoubleEscaped bool
}

// before maps an initial state to the markup that leads to it, and its tag.
var before = map[string]struct {
	markup string
	tag    tag
	name   string
}{
	"Data state":          {"", inline, ""},
	"CDATA section state": {"<math><![CDATA[", inline, ""},
	"PLAINTEXT state":     {"<plaintext>", verbatim, "plaintext"},
	"RAWTEXT state":       {"<xmp>", verbatim, "xmp"},
	"RCDATA state":        {"<title>", title, "title"},
	"Script data state":   {"<script>", silent, "script"},
}

// TestTokens checks that pages of html5lib give the text of its tokens. Zero bytes are kept, and a
// title without an end is left out, unlike there.
func TestTokens(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testData(t, "tokenizer"), "*.test"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		all, err := os.ReadFile(file)
		var in struct{ Tests []tokenTest }
		if err == nil {
			err = json.Unmarshal(all, &in)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range in.Tests {
			if strings.Contains(test.unescape(test.Input), "\x00") {
				continue
			}
			if test.InitialStates == nil {
				test.InitialStates = []string{"Data state"}
			}
			for _, state := range test.InitialStates {
				if test.LastStartTag == "" || test.LastStartTag == before[state].name {
					compared += test.compare(t, state)
				}
			}
		}
	}
	if compared < 6900 {
		t.Errorf("only %d tests are compared", compared)
	}
	t.Log(compared)
}

func (test *tokenTest) unescape(s string) string {
	if !test.DoubleEscaped {
		return s
	}
	for i := 0; ; i++ {
		at := strings.Index(s[i:], `\u`)
		if at < 0 {
			return s
		}
		i += at
		code, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
		if err != nil {
			panic(err)
		}
		s = s[:i] + string(rune(code)) + s[i+6:]
	}
}

// compare compares the text of the tokens, and returns 1. It returns 0 if a tag of the test leads
// to raw text or foreign content, which only the tree decides.
func (test *tokenTest) compare(t *testing.T, state string) int {
	var want, got document
	want.reset()
	raw := before[state].tag
	if raw == verbatim {
		want.start(preformatted, preformatted, false)
	}
	page := before[state].markup + test.unescape(test.Input)
	for _, token := range test.Output {
		value, _ := token[1].(string)
		value = test.unescape(value)
		switch kind := tagOf[value]; token[0] {
		case "Character":
			switch raw {
			case title:
				want.setTitle([]byte(value))
			case silent:
			default:
				want.put([]byte(value))
			}
		case "EndTag":
			if raw == verbatim {
				kind = preformatted
			}
			raw = inline
			want.end(kind)
		case "StartTag":
			if kind == title || kind == silent || kind == verbatim || value == "svg" || value == "math" {
				return 0
			}
			if kind != link {
				want.start(kind, kind, false)
			}
		}
	}
	if raw == title {
		page += "</title>"
	}
	want.endBlock()
	got.reset()
	(&scanner{}).run([]byte(page), &got)
	got.endBlock()
	if string(got.text) != string(want.text) || string(got.title) != string(want.title) {
		t.Errorf("%s, %q\n got %q, %q\nwant %q, %q", state, page, got.title, got.text, want.title, want.text)
	}
	return 1
}
