package corpus_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/corpus"
)

func Example() {
	inputs, _, err := corpus.Expand([]string{"-"})
	if err != nil {
		fmt.Println(err)
		return
	}
	src := corpus.NewSource(inputs, corpus.SourceConfig{Stdin: strings.NewReader(
		`{"meta":{"url":"a.example"},"body":"Hello, \u4e16\u754c"}` + "\n" +
			`{"body":"no id"}` + "\n" +
			`{"body":5}` + "\n")})
	parser, err := corpus.NewParser(corpus.Fields{Text: "body", ID: "meta.url"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for chunk := new(corpus.Chunk); src.Next(context.Background(), chunk) == nil; {
		for rec := range parser.Parse(chunk) {
			if rec.Err != nil {
				fmt.Println("bad:", rec.Err)
				continue
			}
			fmt.Printf("%s: %s\n", rec.ID, rec.Text)
		}
	}
	// Output:
	// a.example: Hello, 世界
	// stdin:2: no id
	// bad: stdin:3: field "body" is a number, not a string
}

func ExampleAnnotate() {
	line, err := corpus.Annotate(nil, []byte(`{"id":1, "text":"x" }`), "firstseen", []byte(`{"verdict":"unique"}`))
	fmt.Println(string(line), err)
	// Output: {"id":1, "text":"x" ,"firstseen":{"verdict":"unique"}} <nil>
}
