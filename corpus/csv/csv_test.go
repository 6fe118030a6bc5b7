package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

func read(f csv.Format, in io.Reader, cfg corpus.SourceConfig) (got []string, err error) {
	cfg.Stdin = in
	err = corpustest.Each(f, corpustest.Stdin, cfg, func(_ *corpus.Block, doc *corpus.Document) {
		if doc.Bad != nil {
			got = append(got, fmt.Sprintf("%v bad: %s %q", doc.At, doc.Bad.Reason, doc.Bad.Raw))
		} else {
			got = append(got, fmt.Sprintf("%v %s %q", doc.At, doc.ID, doc.Text))
		}
	})
	return got, err
}

// slowRow reads a row character by character, by RFC 4180 and the package's extensions. texts are
// the fields read as texts. size is 0 if a quote is not closed or is followed by anything.
func slowRow(s string, d byte) (fields, texts []string, size int, why string) {
	i := 0
	for {
		var b strings.Builder
		quoted := i < len(s) && s[i] == '"'
		if quoted {
			for i++; ; i++ {
				if i == len(s) {
					return nil, nil, 0, "a quote is not closed"
				}
				if s[i] != '"' {
					b.WriteByte(s[i])
				} else if strings.HasPrefix(s[i:], `""`) {
					b.WriteByte('"')
					i++
				} else {
					i++
					break
				}
			}
		} else {
			for i < len(s) && s[i] != d && s[i] != '\n' && s[i:] != "\r" && !strings.HasPrefix(s[i:], "\r\n") {
				b.WriteByte(s[i])
				i++
			}
			if s[i:] == "\r" {
				i++
			}
		}
		fields, texts = append(fields, b.String()), append(texts, b.String())
		if d == '\t' && !quoted {
			texts[len(texts)-1] = plainly(b.String())
		}
		switch {
		case i == len(s):
			return fields, texts, i, ""
		case s[i] == d:
			i++
		case s[i] == '\n':
			return fields, texts, i + 1, ""
		case strings.HasPrefix(s[i:], "\r\n"):
			return fields, texts, i + 2, ""
		default:
			return nil, nil, 0, "a closing quote is not at the end of its field"
		}
	}
}

// plainly undoes the escapes of a text, if all of its backslashes are escapes.
func plainly(s string) string {
	if regexp.MustCompile(`^(?s:[^\\]|\\[tnr\\])*$`).MatchString(s) {
		return strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\r`, "\r", `\\`, `\`).Replace(s)
	}
	return s
}

// oracle reads a table with one row of names, under a known delimiter.
func oracle(text string, d byte) (want []string) {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	var names []string
	line := 1
	for text != "" {
		if text[0] == '\n' || strings.HasPrefix(text, "\r\n") {
			_, text, _ = strings.Cut(text, "\n")
			line++
			continue
		}
		fields, texts, size, why := slowRow(text, d)
		if why != "" {
			first := strings.SplitAfter(text, "\n")[0]
			want = append(want, fmt.Sprintf("%d bad: %s %q", line, why, first))
			text = text[len(first):]
			line++
			continue
		}
		raw := text[:size]
		text = text[size:]
		switch {
		case names == nil:
			names = fields
		case !utf8.ValidString(raw):
			want = append(want, fmt.Sprintf("%d bad: the row is not valid UTF-8 %q", line, raw))
		case len(fields) != len(names):
			want = append(want, fmt.Sprintf("%d bad: the row has %d fields, and the first row has %d %q", line, len(fields), len(names), raw))
		default:
			id, said := fmt.Sprintf("f:%d", line), ""
			for i, name := range names {
				if name == "id" && fields[i] != "" {
					id = fields[i]
				} else if name == "text" {
					said = texts[i]
				}
			}
			want = append(want, fmt.Sprintf("%d %s %q", line, id, said))
		}
		line += strings.Count(raw, "\n")
	}
	return want
}

func compare(t interface{ Errorf(string, ...any) }, text string, d byte) {
	want := strings.Join(oracle(text, d), "\n")
	for _, size := range []int{1, 3, 64, 1 << 20} {
		for i, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			got, err := read(csv.Format{}, in, corpus.SourceConfig{BlockSize: size})
			if err != nil || strings.Join(got, "\n") != want {
				t.Errorf("%q in blocks of %d, reader %d:\n%s\nwant\n%s\n%v", text, size, i, strings.Join(got, "\n"), want, err)
			}
		}
	}
}

// TestCSV compares random tables with the oracle, at every block size.
func TestCSV(t *testing.T) {
	for _, c := range []struct {
		text string
		d    byte
	}{
		{"id,text\n1,a\n", ','},
		{"\xef\xbb\xbfid;text;more\r\n1;\"第一,行\r\n第二\"\"行\"\"\";x\r\n\r\n2;b;\r\n", ';'},
		{"text\tid\na \"quoted\" word\t7\n\"two\tcells\"\t8", '\t'},
		{"id\ttext\na\\n1\ta\\nb\\\\c\\td\n2\ta\\nb \\alpha\n3\t\"a\\nb\"\n4\t\\\n5\t\\r\n", '\t'},
		{"id,text\n1,a\\nb\n", ','},
		{"text\nevery line\na, b\n", ','},
		{"x|text\n\"open|a\n2|b\n3|\"never closed\n4|c\n", '|'},
		{"id,text\n1,\"a\" b\n2,c\n3\n4,d,e\n\xff,f\n,\n", ','},
		{"\n\r\n\"text\",\"a\nname\"\n\"x\",y", ','},
		{"id,text\n1,\"a\"\r", ','},
		{"", ','},
		{"text", ','},
		{"\n\n", ','},
	} {
		compare(t, c.text, c.d)
	}
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]byte(",\t;|")).Draw(t, "delimiter")
		cell := rapid.SampledFrom([]string{string(d), string(d), "\n", "\n", "\r\n", "\r", "\"", "\"\"", " ", "a", "字", "\xff", ",", "long enough", `\`, `\n`, `\t`, `\\`, `\r`, `\alpha`})
		head := rapid.SampledFrom([]string{"id%stext\n", "\xef\xbb\xbf\"text\"%sb\r\n", "\nmore%[1]stext%[1]sid\n", "text%s\"\"\"x\ny\"\n"}).Draw(t, "head")
		compare(t, fmt.Sprintf(head, string(d))+strings.Join(rapid.SliceOfN(cell, 0, 14).Draw(t, "rows"), ""), d)
	})
}

// TestWrittenByOthers checks that the output of encoding/csv is read back unchanged.
func TestWrittenByOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		w := stdcsv.NewWriter(&b)
		w.Comma = rapid.SampledFrom([]rune(",\t;|")).Draw(t, "delimiter")
		if err := w.Write([]string{"id", "text", "third"}); err != nil {
			t.Fatal(err)
		}
		cell := rapid.StringOf(rapid.SampledFrom([]rune("ab \"',;|\t\n字。")))
		var want []string
		line := 2
		for n := range rapid.IntRange(0, 5).Draw(t, "rows") {
			row := []string{fmt.Sprint("n", n), cell.Draw(t, "text"), cell.Draw(t, "third")}
			want = append(want, fmt.Sprintf("%d %s %q", line, row[0], row[1]))
			line += 1 + strings.Count(strings.Join(row, ""), "\n")
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		got, err := read(csv.Format{}, &b, corpus.SourceConfig{BlockSize: 50})
		if err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%q\nwant %q\n%v", got, want, err)
		}
	})
}

// TestColumnsWithoutNames checks that row numbers of pandas and R, or a last comma, are no ids.
func TestColumnsWithoutNames(t *testing.T) {
	for table, want := range map[string]string{
		",id,text\n0,a,words\n":             `2 a "words"`,
		"\"\",\"id\",\"text\"\n1,a,words\n": `2 a "words"`,
		",url,text\n0,u,words\n":            `2 f:2 "words"`,
		"id,,text,\na,1,words,2\n":          `2 a "words"`,
	} {
		got, err := read(csv.Format{}, strings.NewReader(table), corpus.SourceConfig{})
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v, want %q", table, got, err, want)
		}
	}
}

// TestEscaped unescapes text as databases and jq @tsv write it. The raw row stays unchanged.
func TestEscaped(t *testing.T) {
	escape := strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \\nt,\t\r\n字。"))).Draw(t, "text")
		row := "n\t" + escape.Replace(text) + "\n"
		cfg := corpus.SourceConfig{Stdin: strings.NewReader("id\ttext\n" + row)}
		err := corpustest.Each(csv.Format{}, corpustest.Stdin, cfg, func(_ *corpus.Block, doc *corpus.Document) {
			if doc.Bad != nil || string(doc.Text) != text || string(doc.Raw) != row {
				t.Errorf("%q: %q of %q, %v", text, doc.Text, doc.Raw, doc.Bad)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestLimits checks that overlong rows and quotes become bad records of bounded size, and that the
// rows after them are read.
func TestLimits(t *testing.T) {
	long := strings.Repeat("long ", 8)
	for text, want := range map[string]string{
		"id,text\n1," + long + "\n2,b\n":                 `2 bad: the row is longer than the limit of 32 bytes "1,` + long + `\n"|3 2 "b"`,
		"id,text\n1,\"a\n" + long + "\n2,b\n3,c":         `2 bad: a quote is not closed within the limit of 32 bytes "1,\"a\n"|3 bad: the row is longer than the limit of 32 bytes "` + long + `\n"|4 2 "b"|5 3 "c"`,
		"id,text\n1," + strings.Repeat("x", 1<<15):       "2 bad: the row is longer than the limit of 32 bytes \"1," + strings.Repeat("x", 4094) + "\"",
		"id,text\n1," + strings.Repeat("x", 30) + "\r\n": `2 1 "` + strings.Repeat("x", 30) + `"`,
	} {
		for _, size := range []int{1, 40, 1 << 20} {
			got, err := read(csv.Format{}, strings.NewReader(text), corpus.SourceConfig{MaxRecord: 32, BlockSize: size})
			if err != nil || strings.Join(got, "|") != want {
				t.Errorf("%.60q in blocks of %d: %q, %v", text, size, got, err)
			}
		}
	}
}

// TestEdgesOfLimits checks that the limit excludes a row's end. Lines of long rows count once.
func TestEdgesOfLimits(t *testing.T) {
	const limit = 32
	for _, end := range []string{"\n", "\r\n"} {
		for n, kept := range map[int]bool{limit - 1: true, limit: true, limit + 1: false, limit + 2: false, limit + 3: false, 4095: false, 4096: false, 4097: false, 9000: false} {
			row := "1," + strings.Repeat("x", n-2)
			want := fmt.Sprintf("2 %q|3 %q", row+end, "2,b"+end)
			if line := row + end; !kept {
				want = fmt.Sprintf("2 bad: the row is longer than the limit of 32 bytes %q|3 %q", line[:min(len(line), 4096)], "2,b"+end)
			}
			table := "id,text" + end + row + end + "2,b" + end
			for i, in := range []io.Reader{strings.NewReader(table), iotest.OneByteReader(strings.NewReader(table))} {
				var got []string
				err := corpustest.Each(csv.Format{}, corpustest.Stdin, corpus.SourceConfig{MaxRecord: limit, BlockSize: 40, Stdin: in}, func(_ *corpus.Block, doc *corpus.Document) {
					if doc.Bad != nil {
						got = append(got, fmt.Sprintf("%v bad: %s %q", doc.At, doc.Bad.Reason, doc.Bad.Raw))
					} else {
						got = append(got, fmt.Sprintf("%v %q", doc.At, doc.Raw))
					}
				})
				if err != nil || strings.Join(got, "|") != want {
					t.Errorf("a row of %d bytes, reader %d: %.200q, %v, want %.200q", n, i, got, err, want)
				}
			}
		}
	}
}

// TestKeep checks that rows are written as they came, and that the last gets an end.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	w, err := output.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"1,a\n", "2,b\r\n", "3,\"c\n\"\n", "4,d"} {
		if err := (csv.Format{}).Keep(w, []byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); string(got) != "1,a\n2,b\r\n3,\"c\n\"\n4,d\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLongIDs checks that an id has at most 64 KiB.
func TestLongIDs(t *testing.T) {
	for n, kept := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		got, err := read(csv.Format{}, strings.NewReader("id,text\n"+strings.Repeat("x", n)+",a\n"), corpus.SourceConfig{})
		if err != nil || len(got) != 1 || strings.HasPrefix(got[0], "2 bad: its id is longer than 65536 bytes") == kept {
			t.Errorf("of %d bytes: %.100q, %v", n, got, err)
		}
	}
}

// TestRefused checks that a first row that names no text becomes one bad record that quotes it.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"id,body\n1,a\n2,b\n": `the first row does not name exactly one column "text" and at most one "id", between commas, tabs, semicolons or pipes: name the columns with --text-field and --id-field; the row begins with "id,body"`,
		"text,text\n1,2\n":    `the first row does not name exactly one column "text" and at most one "id"`,
		"id,text,id\n1,2,3\n": `the first row does not name exactly one column "text" and at most one "id"`,
		"\"text,id\n1,2\n":    `the first row does not name exactly one column "text" and at most one "id"`,
		"\xb1\xe0\xba\xc5,\xd5\xfd\xce\xc4\n1,\xd5\xe2\xca\xc7\xd2\xbb\xb6\xce\xd6\xd0\xce\xc4\xce\xc4\xd7\xd6\n": `the first row does not name exactly one column "text" and at most one "id", between commas, tabs, semicolons or pipes: name the columns with --text-field and --id-field; the row begins with "编号,正文"; it looks like gb18030: add --encoding gb18030`,
		"\xff\xfet\x00e\x00":                      "the file is UTF-16, not UTF-8",
		strings.Repeat("x,", 1<<16) + "text\n1\n": `the first row does not name exactly one column "text" and at most one "id"`,
	} {
		got, err := read(csv.Format{}, strings.NewReader(text), corpus.SourceConfig{})
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], "1 bad: "+want) {
			t.Errorf("%.40q: %q, %v", text, got, err)
		}
	}
	got, err := read(csv.Format{Text: "body", ID: "body"}, strings.NewReader("id,body\n1,a\n"), corpus.SourceConfig{})
	if err != nil || strings.Join(got, "|") != `2 a "a"` {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (csv.Format{}).NewParser("firstseen"); err == nil {
		t.Error("rows can be annotated where the first has no columns for it")
	}
}

// TestMembers checks that the member ends of a compressed table do not matter. After damage,
// nothing passes for a row.
func TestMembers(t *testing.T) {
	var packed bytes.Buffer
	var parts [][]byte
	for _, part := range []string{"id,te", "xt\n1,\"a\nb", "\"\n2,c\n"} {
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(part)); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		parts = append(parts, bytes.Clone(packed.Bytes()))
		packed.Reset()
	}
	got, err := read(csv.Format{}, bytes.NewReader(bytes.Join(parts, nil)), corpus.SourceConfig{})
	if want := `2 1 "a\nb"|4 2 "c"`; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%q, %v", got, err)
	}
	parts[1][len(parts[1])-8] ^= 1 // in its checksum
	got, err = read(csv.Format{}, bytes.NewReader(bytes.Join(parts, nil)), corpus.SourceConfig{})
	if err != nil || len(got) == 0 {
		t.Errorf("%q, %v", got, err)
	}
	for _, row := range got {
		if !strings.Contains(row, " bad: ") {
			t.Errorf("behind damage: %q of %q", row, got)
		}
	}
}

func FuzzCSV(f *testing.F) {
	f.Add("id,text\n1,\"a\nb\"\n2,\"x\"y\n")
	f.Add("\xef\xbb\xbftext\tid\r\n\"第\"\"一\"\t1\r\n")
	f.Fuzz(func(t *testing.T, rows string) {
		if len(rows) > 1<<12 {
			return
		}
		compare(t, "id,text\n"+rows, ',')
		for _, size := range []int{1, 1 << 20} { // any first row: no panic, no endless loop
			_, _ = read(csv.Format{}, strings.NewReader(rows), corpus.SourceConfig{BlockSize: size, MaxRecord: 64})
		}
	})
}

// TestTime checks that a column can hold the times of documents, and that a named one must exist.
func TestTime(t *testing.T) {
	table := "at,text\n2024-05-01T08:00:00Z,a\n\"1714550400\",b\n\"2024-05-01t08:00:00\"\"Z\",c\n,d\n"
	times := []int64{1714550400, 1714550400, 0, 0}
	f := csv.Format{Time: "at"}
	n := 0
	err := corpustest.Each(f, corpustest.Stdin, corpus.SourceConfig{Stdin: strings.NewReader(table)}, func(_ *corpus.Block, doc *corpus.Document) {
		if got := max(0, doc.Time.Unix()); doc.Bad != nil || got != times[n] {
			t.Errorf("row %d: %d, %v, want %d", n, got, doc.Bad, times[n])
		}
		n++
	})
	if err != nil || n != len(times) {
		t.Errorf("%d rows, %v", n, err)
	}
	got, err := read(csv.Format{Time: "when"}, strings.NewReader(table), corpus.SourceConfig{})
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `exactly one column "text", one "when" and at most one "id"`) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSeveralColumns checks the texts of several columns: quoted, escaped, empty, and as ids.
func TestSeveralColumns(t *testing.T) {
	for _, c := range []struct{ in, fields, id, want string }{
		{"id,title,body\n1,\"a \"\"b\"\"\",x\n2,,y\n3,z,\n4,,\n", "title,body", "", `2 1 "a \"b\"\nx"|3 2 "y"|4 3 "z"|5 4 ""`},
		{"id,title,body\n1,t,x\n2,,y\n", "body,title", "title", `2 t "x\nt"|3 f:3 "y"`},
		{"b\ta\n1\\n2\t\\x\n\"q\"\"\"\t3\n", "a,b", "", `2 f:2 "\\x\n1\n2"|3 f:3 "3\nq\""`},
		{"a;b\n1;2\n", "a,b", "", `2 f:2 "1\n2"`},
		{"a,c\n1,2\n", "a,b", "", `exactly one column "a", "b" and at most one "id"`},
	} {
		for _, size := range []int{1, 3, 1 << 20} {
			got, err := read(csv.Format{Text: c.fields, ID: c.id}, strings.NewReader(c.in), corpus.SourceConfig{BlockSize: size})
			if all := strings.Join(got, "|"); err != nil || all != c.want && !(len(got) == 1 && strings.Contains(all, c.want)) {
				t.Errorf("%q: %s, %v\nwant %s", c.in, all, err, c.want)
			}
		}
	}
}
