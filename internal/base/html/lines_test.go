package html

import (
	"fmt"
	"strings"
	"testing"
)

// TestLinesInPieces checks that short lines are an article even with a notice and a link between
// them. A list of links with labels is none.
func TestLinesInPieces(t *testing.T) {
	const menu = "<div><a href=/1>One part of it</a> <a href=/2>Another</a></div><div><a href=/3>A third</a></div><div><a href=/4>More</a></div>"
	var body, want strings.Builder
	for i := range 20 {
		if i > 0 && i%5 == 0 {
			body.WriteString("<div>Advertisement</div><div><a href=/other>Read more about something else</a></div>")
		}
		fmt.Fprintf(&body, "<p>May %d Jun %d up</p>\n", i, i*i)
		fmt.Fprintf(&want, "May %d Jun %d up\n", i, i*i)
	}
	for _, around := range []string{"<div>%s</div>", "<main><article>%s</article></main>"} {
		got := text(Main, "<div>Name of the site</div>"+menu+fmt.Sprintf(around, body.String())+menu+"<div>Copyright 2024</div>")
		if got = strings.ReplaceAll(got, "Advertisement\n", ""); got != want.String() {
			t.Errorf("%s:\n%s", around, got)
		}
	}
	labels := strings.ReplaceAll(body.String(), "<div>Advertisement</div>", "<div><a href=/x>One</a></div><div><a href=/y>Two</a></div>")
	if got := text(Main, "<p>"+strings.Repeat("A sentence of the article, which has commas. ", 20)+"</p>"+menu+"<div>"+labels+"</div>"); strings.Contains(got, "May 1 ") {
		t.Errorf("labels between links are taken for an article:\n%s", got)
	}
}
