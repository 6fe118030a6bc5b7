package corpus_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
)

func Example() {
	format := jsonl.Format{Fields: jsonl.Fields{Text: "body", ID: "meta.url"}}
	inputs, _, err := input.Expand([]string{"-"}, format.Endings())
	if err != nil {
		fmt.Println(err)
		return
	}
	src := corpus.NewSource(inputs, format, corpus.SourceConfig{Stdin: strings.NewReader(
		`{"meta":{"url":"a.example"},"body":"Hello, \u4e16\u754c"}` + "\n" +
			`{"body":"no id"}` + "\n" +
			`{"body":5}` + "\n")})
	parser, err := format.NewParser("")
	if err != nil {
		fmt.Println(err)
		return
	}
	for block := new(corpus.Block); src.Next(context.Background(), block) == nil; {
		for doc := range parser.Parse(block) {
			if doc.Bad != nil {
				fmt.Println("bad:", doc.Bad)
				continue
			}
			fmt.Printf("%s: %s\n", doc.ID, doc.Text)
		}
	}
	// Output:
	// a.example: Hello, 世界
	// stdin:2: no id
	// bad: stdin:3: field "body" is a number, not a string
}
