package html

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testData returns a folder of html5lib's tests. The module golang.org/x/net contains them.
func testData(t *testing.T, folder string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net").Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no go command to find the module with")
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "html", "testdata", "html5lib-tests", folder)
}

// deviations matches pages that this package reads in another way than the standard.
var deviations = map[string]*regexp.Regexp{
	"zero bytes are kept":                       regexp.MustCompile(`\x00`),
	"a page of frames shows its text":           regexp.MustCompile(`<frameset`),
	"later titles are left out":                 regexp.MustCompile(`<title>.*<title>`),
	"a list of options ends at its own end tag": regexp.MustCompile(`<select>.*(<select>|<input>|<tr>|<caption>)`),
	"a template ends as other elements do":      regexp.MustCompile(`<template>(</div>|<td>|<object>)`),
	"plaintext takes in all":                    regexp.MustCompile(`<noscript><plaintext>`),
	"an svg ends at its own end tag":            regexp.MustCompile(`<foreignObject>.*<plaintext>`),
}

func deviates(page string) bool {
	if strings.Contains(page, "<title>") && !strings.Contains(page, "</title") {
		return true // a title without an end is left out
	}
	for _, pages := range deviations {
		if pages.MatchString(page) {
			return true
		}
	}
	return false
}

// TestTrees checks that pages of html5lib give the text that its trees show. The order may be
// another, since the standard moves text out of tables.
func TestTrees(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testData(t, "tree-construction"), "*.dat"))
	if err != nil {
		t.Fatal(err)
	}
	right, wrong := 0, 0
	for _, file := range files {
		all, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range strings.Split("\n"+string(all), "\n#data\n")[1:] {
			page, test, _ := strings.Cut("\n"+test, "\n#errors")
			about, tree, _ := strings.Cut(test, "\n#document\n")
			if strings.Contains(about, "#document-fragment") || strings.Contains(about, "#script-off") {
				continue
			}
			page = strings.TrimPrefix(page, "\n")
			got := text(Visible, page)
			missing, excess := difference(shown(tree), got)
			if missing == "" && excess == "" {
				right++
			} else if wrong++; !deviates(page) {
				t.Errorf("%s: %q\n got %q, missing %q, in excess %q", filepath.Base(file), page, got, missing, excess)
			}
		}
	}
	if right < 1500 {
		t.Errorf("only %d pages are read as html5lib reads them", right)
	}
	t.Log(right, wrong)
}

// unshownNames lists the elements whose text readers do not see, as in the trees of html5lib.
var unshownNames = append(strings.Fields("script style noscript template select datalist textarea iframe noembed noframes object canvas audio video"),
	"svg svg", "math annotation", "math annotation-xml")

// shown returns the title and the text that a reader sees of a tree as html5lib writes it.
func shown(tree string) string {
	var open []string
	var title, body strings.Builder
	for node := range strings.SplitSeq("\n"+tree, "\n| ") {
		inner := strings.TrimLeft(node, " ")
		depth := (len(node) - len(inner)) / 2
		switch {
		case strings.HasPrefix(inner, "<!"), inner == "", inner == "content":
		case inner[0] == '<':
			open = append(open[:min(depth, len(open))], strings.Trim(inner, "<>\n"))
		case inner[0] == '"':
			open = open[:min(depth, len(open))]
			if slices.ContainsFunc(open, func(s string) bool { return slices.Contains(unshownNames, s) }) {
				continue
			}
			text := strings.TrimSuffix(strings.TrimRight(inner[1:], "\n"), "\"")
			if slices.Contains(open, "title") {
				title.WriteString(text)
			} else {
				body.WriteString(text)
			}
		}
	}
	return title.String() + body.String()
}
