package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// evalFiles hold six documents: 1 and 2 are copies of 0, and 4 is a copy of 3.
var evalFiles = map[string]string{
	"other.jsonl": `{"id":"x","text":"Another document, which has none of the ids that stand in the clusters."}
`,
	"docs.jsonl": `{"id":"0","text":"A cat walked along the garden wall, looked at the birds for quite a while, and then went home to its kitchen without any breakfast."}
{"id":"1","text":"A cat walked along the garden wall, looked at the birds for quite a while, and then went home to its kitchan without any breakfast."}
{"id":"2","text":"A cat walked along the garden wall, looked at the birds for quite a while, and then went home to its kitchen without any breakfest."}
{"id":"3","text":"本手册介绍如何安装系统。安装程序会检查计算机的内存和磁盘。"}
{"id":"4","text":"本手册介绍如何安装系统；安装程序会检查计算机的内存和磁盘！"}
{"id":"5","text":"Nothing in this text has anything to do with cats or manuals; it is about the tides of the sea."}
`,
	"clusters.tsv": `id	cluster
0	a
1	a
2	a
3	b
4	b
`,
	"pairs.tsv": `id1	id2	label	lcs
0	1	version	0.9
0	2	version	0.9
3	4	version	1.0
3	5	version	0.1
`,
	"wrong.tsv": `id1	id2	label	lcs
3	4	non	1.0
0	5	non	0.0
`,
}

// TestEvaluate compares the figures with those counted manually.
func TestEvaluate(t *testing.T) {
	dir := t.TempDir()
	for name, text := range evalFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		args string
		want []string // patterns of the output, or of the error
		page []string
	}{
		// segments removes all three: 4 of 4 pairs of copies. exact removes 4 alone: 1 of 4 pairs.
		// With 15 pairs in all, ARI is (1 - 4/15) / (2.5 - 4/15), and 2 of the 3 copies stay.
		{args: "-clusters clusters.tsv -methods segments,exact -thresholds 0.65 docs.jsonl", want: []string{
			`(?m)^\| set \| method \| threshold \| removed \| precision \| recall \| F1 \| ARI \| left \| false \| grey \| long \| documents/s \| bytes \|$`,
			`(?m)^\| docs \| segments \| 0.65 \* \| 3 \| 1.0000 \| 1.0000 \| 1.0000 \| 1.0000 \| 0.0% \| 0 \| 0 \| 0 \| [0-9]+ \| [0-9]+ \|$`,
			`(?m)^\| docs \| exact \| - \* \| 1 \| 1.0000 \| 0.2500 \| 0.4000 \| 0.3284 \| 66.7% \| 0 \| 0 \| 0 \| [0-9]+ \| [0-9]+ \|$`,
		}},
		{args: "-pairs pairs.tsv -methods segments,exact -thresholds 0.65 -json -page page.html docs.jsonl", want: []string{
			`(?s)^{"method":.*\n{"method":`,
			`"method":"exact","default":true,"corpus":"docs","rule":.*"documents":6,"removed":1,"false":0,"grey":0,"long":0,"alike":3,"left":2,.*"right":1,"wrong":0,"missed":3,"precision":1,"recall":0.25,"f1":0.4,"ari":0.328`,
		}, page: []string{`<title>exact - \*: recall 0.2500, precision 1.0000</title>`, `(?s)<tr class="default">.*<tr class="default">`}},
		// Labels, and unlisted pairs.
		{args: "-pairs wrong.tsv -methods segments -thresholds 0.65 docs.jsonl", want: []string{`\| 1.0000 \| 1.0000 \| 1.0000 \|`}},
		{args: "-pairs wrong.tsv -complete -methods segments -thresholds 0.65 docs.jsonl", want: []string{`\| 0.2500 \| 1.0000 \| 0.4000 \|`}},
		{args: "-pairs wrong.tsv -by-label -methods segments -thresholds 0.65 docs.jsonl", want: []string{`\| 0.0000 \| 1.0000 \| 0.0000 \|`}},
		{args: "-clusters clusters.tsv -verify lcs>=1 -methods segments -thresholds 0.65 docs.jsonl", want: []string{`(?m)^\| docs \| segments \| 0.65 \* \| 1 \| 1.0000 \| 0.2500 `}},
		{args: "docs.jsonl", want: []string{`either with -pairs FILE or with -clusters FILE`}},
		{args: "-clusters clusters.tsv -complete docs.jsonl", want: []string{`-by-label and -complete are for -pairs`}},
		{args: "-clusters clusters.tsv -methods magic docs.jsonl", want: []string{`there is no method "magic": want some of segments, exact, .*, or all`}},
		{args: "-clusters clusters.tsv -thresholds 0.5,2 docs.jsonl", want: []string{`"2" is no share above 0 and at most 1`}},
		{args: "-pairs clusters.tsv docs.jsonl", want: []string{`reading the pairs: clusters.tsv:1: want 3 cells with tabs between them`}},
		{args: "-clusters clusters.tsv other.jsonl", want: []string{`5 of 5 documents with a cluster are not among the documents: are the ids in another field\?`}},
		{args: "-clusters nowhere.tsv docs.jsonl", want: []string{`nowhere.tsv`}},
	} {
		var out bytes.Buffer
		if err := evaluate(context.Background(), strings.Fields(c.args), &out); err != nil {
			out.WriteString(err.Error())
		}
		for _, want := range c.want {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("eval %s: no %s in %s", c.args, want, out.String())
			}
		}
		for _, want := range c.page {
			if text, err := os.ReadFile("page.html"); err != nil || !regexp.MustCompile(want).Match(text) {
				t.Errorf("eval %s: no %s in the page (%v)", c.args, want, err)
			}
		}
	}
}
