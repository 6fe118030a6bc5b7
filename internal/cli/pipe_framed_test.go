//go:build unix

package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// TestFramedPipe checks that rows, multi-line values and array values are answered as they come.
func TestFramedPipe(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		sent  []string
		want  [][]string
	}{
		"values on many lines": {
			nil,
			[]string{"{\n\"text\":\"one two three\"}\n", "{\n\"text\":\"four\"}"},
			[][]string{{`"one two three","firstseen":{"verdict":"unique"`}, {`"four","firstseen":{"verdict":"unique"`}},
		},
		"array": {
			nil,
			[]string{`[{"text":"one two three"}`, `,{"text":"one two three"}`, `,` + "\n" + `{"text":"four"}]`},
			[][]string{{`"one two three","firstseen":{"verdict":"unique"`}, {`"one two three","firstseen":{"verdict":"duplicate"`}, {`"four","firstseen":{"verdict":"unique"`}},
		},
		"csv": {
			[]string{"--format", "csv"},
			[]string{"id,text\n1,one two three\n", "2,one two three\n", "3,\"four\nfive\"\n"},
			[][]string{{"id,text,firstseen_verdict,firstseen_of,firstseen_score", "1,one two three,unique,,"}, {"2,one two three,duplicate,1,1"}, {`3,"four`, `five",unique,,`}},
		},
		"csv in gbk": {
			[]string{"--format", "csv", "--encoding", "gbk"},
			[]string{gbk("id,text\n1,第一\n"), gbk("2,第一\n")},
			[][]string{{"id,text,firstseen_verdict,firstseen_of,firstseen_score", "1,第一,unique,,"}, {"2,第一,duplicate,1,1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := startDaemon(t, t.TempDir(), append(c.flags, "--docs", "1k")...)
			for i, text := range c.sent {
				if _, err := io.WriteString(d.in, text); err != nil {
					t.Fatal(err)
				}
				for _, want := range c.want[i] {
					if got := d.line(); !strings.Contains(got, want) {
						t.Errorf("answer %q to %q, want %q", got, text, want)
					}
				}
			}
			d.end(exitDone)
		})
	}
}

// TestMarkedPipe checks that pipes may have a byte order mark before arrays and multi-line values.
func TestMarkedPipe(t *testing.T) {
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		for _, c := range [][]string{
			{"[\n{\"text\":\"第一 first\"},{\"text\":\"second\"}]"},
			{"{\n\"text\":\"第一 first\"}\n{\n\"text\":\"second\"}\n"},
			{"{\"text\":\"第一 first\"}\n{\"text\":\"second\"}\n"},
		} {
			text, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(c[0])
			if err != nil {
				t.Fatal(err)
			}
			cmd := program(t, t.TempDir(), append([]string{"read", "-"}, c[1:]...)...)
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout = strings.NewReader(text), &out
			start(t, cmd)
			exits(t, cmd, exitDone)
			if got := out.String(); !strings.Contains(got, "第一 first") || !strings.Contains(got, "second") {
				t.Errorf("%q of %q: %q", c[1:], c[0], got)
			}
		}
	}
}

func gbk(text string) string {
	encoded, err := simplifiedchinese.GBK.NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	return encoded
}
