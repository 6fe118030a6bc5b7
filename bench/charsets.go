package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/firstseen/firstseen/web/charset"
)

// legacy are the encodings in which texts of a language were written before UTF-8.
var legacy = []struct{ language, encodings string }{
	{"ru", "windows-1251 koi8-r iso-8859-5 ibm866 x-mac-cyrillic"},
	{"el", "windows-1253 iso-8859-7"},
	{"ar", "windows-1256 iso-8859-6"},
	{"tr", "windows-1254"},
	{"cs", "windows-1250 iso-8859-2"},
	{"pl", "windows-1250 iso-8859-2"},
	{"hr", "windows-1250 iso-8859-2"},
	{"ro", "windows-1250 iso-8859-2"},
	{"de", "windows-1252"},
	{"fr", "windows-1252"},
	{"es", "windows-1252"},
	{"it", "windows-1252"},
	{"pt", "windows-1252"},
	{"ca", "windows-1252"},
	{"sv", "windows-1252"},
	{"da", "windows-1252"},
	{"nb", "windows-1252"},
	{"zh", "gb18030"},
	{"tw", "big5 gb18030"},
	{"ja", "shift_jis euc-jp"},
	{"ko", "euc-kr"},
}

// charsetTexts is how many texts of a language are tried, at most.
const charsetTexts = 200

// charsets measures of how many texts the encoding is recognised that is declared
// nowhere. The directory has for each language a file such as ru.txt with a paragraph in
// each line; one and eight of them are a text.
func charsets(ctx context.Context, args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("charsets: give the directory with texts such as ru.txt")
	}
	fmt.Fprintln(out, "| language | encoding | one paragraph | eight |\n|---|---|---|---|")
	for _, l := range legacy {
		content, err := os.ReadFile(filepath.Join(args[0], l.language+".txt"))
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		for name := range strings.FieldsSeq(l.encodings) {
			fmt.Fprintf(out, "| %s | %s |", l.language, name)
			for _, size := range []int{1, 8} {
				right, all, err := recognised(lines, name, size)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, " %d of %d |", right, all)
			}
			fmt.Fprintln(out)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// older has letters of Romanian as encodings before 2001 have them.
var older = strings.NewReplacer("ș", "ş", "ț", "ţ", "Ș", "Ş", "Ț", "Ţ")

// recognised is how many texts of so many lines come out as they went in.
func recognised(lines []string, name string, size int) (right, all int, err error) {
	e, err := htmlindex.Get(name)
	if err != nil {
		return 0, 0, err
	}
	for i := 0; i+size <= len(lines) && all < charsetTexts; i += size {
		body, err := encoding.ReplaceUnsupported(e.NewEncoder()).String(older.Replace(strings.Join(lines[i:i+size], "\n")))
		if err != nil {
			continue
		}
		want, err := e.NewDecoder().String(body)
		if err != nil {
			return 0, 0, err
		}
		text, _, err := charset.Decode(nil, []byte(body), "")
		if err == nil && string(text) == want {
			right++
		}
		all++
	}
	return right, all, nil
}
