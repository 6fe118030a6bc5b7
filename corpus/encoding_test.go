package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/csv"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonarray"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/page"
	plain "github.com/firstseen/firstseen/corpus/text"
	"github.com/firstseen/firstseen/internal/testing/corpustest"

	"github.com/firstseen/firstseen/internal/testing/filetest"
)

// told returns the encoding with a name.
func told(label string) Encoding {
	e, err := EncodingNamed(label)
	if err != nil {
		panic(err)
	}
	return e
}

// seen returns the places, ids, texts, raw records and reasons that are read from an input.
func seen(format Format, r io.Reader, cfg SourceConfig) (string, error) {
	var got strings.Builder
	cfg.Stdin = r
	err := corpustest.Each(format, corpustest.Stdin, cfg, func(_ *Block, doc *Document) {
		fmt.Fprintf(&got, "%v %q %q %q", doc.At, doc.ID, doc.Text, doc.Raw)
		if doc.Bad != nil {
			fmt.Fprintf(&got, " bad: %s", doc.Bad.Reason)
		}
		got.WriteByte('\n')
	})
	return got.String(), err
}

var textFormats = []Format{jsonl.Format{}, plain.Formats["lines"], plain.Formats["paragraphs"], csv.Format{}, jsonarray.Format{}}

// TestEncodings reads the same records from any encoding, compressed or not, in blocks of any size.
func TestEncodings(t *testing.T) {
	var gz bytes.Buffer
	rapid.Check(t, func(t *rapid.T) {
		format := textFormats[rapid.IntRange(0, len(textFormats)-1).Draw(t, "format")]
		piece := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", ",", `"`, "字", "😀", "�", "a", `{"text":"第一","id":1}` + "\n", `,{"text":"b \u4e00"}`})
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		text = map[string]string{"CSV": "id,text\n", "JSON arrays": `[{"text":"山"}`}[format.Name()] + text
		want, err := seen(format, strings.NewReader(text), SourceConfig{MaxRecord: 64})
		if err != nil {
			t.Fatal(err)
		}
		encoded := func(e encoding.Encoding) []byte {
			body, err := e.NewEncoder().Bytes([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return body
		}
		for label, body := range map[string][]byte{
			"gbk": encoded(simplifiedchinese.GB18030), "utf-16": encoded(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)),
			"utf-16be": encoded(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)), "utf-8": []byte(text),
			"koi8-r": append([]byte("\xff\xfe"), encoded(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM))...),
		} {
			if format.Name() == "CSV" && label == "koi8-r" {
				continue // the mark belongs to the first row
			}
			gz.Reset()
			w := gzip.NewWriter(&gz)
			_, _ = w.Write(body)
			_ = w.Close()
			for i, r := range []io.Reader{bytes.NewReader(body), iotest.OneByteReader(bytes.NewReader(body)), iotest.HalfReader(bytes.NewReader(gz.Bytes()))} {
				cfg := SourceConfig{MaxRecord: 64, BlockSize: []int{1 << 20, 1, 7}[i], Encoding: told(label)}
				if got, err := seen(format, r, cfg); err != nil || got != want {
					t.Fatalf("%s, %s, reader %d:\n%s\nwant\n%s\n%v", format.Name(), label, i, got, want, err)
				}
			}
		}
	})
}

// TestMalformed checks that a malformed character spoils its record and no other.
func TestMalformed(t *testing.T) {
	for _, c := range []struct {
		format      Format
		label, body string
		bad, good   string
	}{
		{jsonl.Format{}, "gbk", "{\"text\":\"\xd6\xd0\"}\n{\"text\":\"\xff\"}\n{\"text\":\"\xce\xc4\"}", `it is not valid gb18030: decoded with errors: invalid UTF-8 at byte 10`, "文"},
		{plain.Formats["lines"], "big5", "\xa4\xa4\n\xff\n\xa4\xe5", "it is not valid big5: decoded with errors: it is not UTF-8", "文"},
		{csv.Format{}, "utf-16", "t\x00e\x00x\x00t\x00\n\x00a\x00\n\x00\x00\xd8\n\x00b\x00\n\x00", "it is not valid utf-16le: decoded with errors: the row is not valid UTF-8", `"b"`},
		{jsonarray.Format{}, "gbk", "[{\"text\":\"\xd6\xd0\"},{\"text\":\"\xff\"},{\"text\":\"\xce\xc4\"}]", `it is not valid gb18030: decoded with errors: invalid UTF-8`, "文"},
		{plain.Formats["lines"], "utf-16", "a\x00\n\x00b\x00\n\x00c\x00\n\x00x", "it is not valid utf-16le", `"c"`},
	} {
		got, err := seen(c.format, strings.NewReader(c.body), SourceConfig{Encoding: told(c.label)})
		if err != nil || strings.Count(got, "bad: ") != 1 || !strings.Contains(got, c.bad) || !strings.Contains(got, c.good) {
			t.Errorf("%s, %s:\n%s%v", c.format.Name(), c.label, got, err)
		}
	}
}

// TestEncodingOfAPipe checks that a short first record is returned at once, however it begins.
func TestEncodingOfAPipe(t *testing.T) {
	for first, want := range map[string]string{
		"é\n": "é\n", "\xff\xfea\x00\n\x00": "a\n", "\xff\xfe\n\x00a\x00\n\x00": "\na\n", "\xef\xbb\xbfa\n": "a\n", "\x84\n": "\x84\n",
		"\xff\xfe\x00\x00a\x00\x00\x00\n\x00\x00\x00": "a\n",
	} {
		r, w := io.Pipe()
		src := NewSource(corpustest.Stdin, plain.Formats["lines"], SourceConfig{Stdin: r, Encoding: told("utf-8")})
		size := len(first)
		if strings.HasPrefix(first, "\xff\xfe\x00\x00") {
			size = 3 // the first two bytes are a mark of UTF-16
		}
		go func() { // then the pipe stays silent
			for piece := range slices.Chunk([]byte(first), size) {
				_, _ = w.Write(piece)
			}
		}()
		var b Block
		if err := src.Next(context.Background(), &b); err != nil || string(b.Data) != want {
			t.Errorf("%q: %q, %v", first, b.Data, err)
		}
		if err := errors.Join(w.Close(), src.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestEncodingCutOff checks that the records before the cut in a compressed input are read, however
// large the part that detection looks at.
func TestEncodingCutOff(t *testing.T) {
	text := strings.Repeat("一行\n", 4000)
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	body, err := simplifiedchinese.GB18030.NewEncoder().Bytes([]byte(text))
	if _, werr := w.Write(body); err != nil || errors.Join(werr, w.Close()) != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{gz.Len() - 1, gz.Len() / 2} {
		path := filepath.Join(t.TempDir(), "a.gz")
		if err := os.WriteFile(path, gz.Bytes()[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		for _, label := range []string{"gbk", "auto"} {
			got := 0
			err := corpustest.Each(plain.Formats["lines"], []input.Input{{Path: path, Name: "a.gz", Size: int64(cut)}}, SourceConfig{Encoding: told(label)}, func(_ *Block, doc *Document) {
				if string(doc.Text) == "一行" {
					got++
				}
			})
			if err == nil || !strings.HasPrefix(err.Error(), "reading a.gz: the compressed data ends too early") || got < 100 {
				t.Errorf("cut at %d, %s: %d lines, %v", cut, label, got, err)
			}
		}
	}
}

// TestEncodingOfDamage reads all rows before damage, also those decoded when the damage is met.
func TestEncodingOfDamage(t *testing.T) {
	body, err := simplifiedchinese.GB18030.NewEncoder().Bytes([]byte("text\n" + strings.Repeat("一行\n", 4000)))
	if err != nil {
		t.Fatal(err)
	}
	damaged := Gzipped(body)
	damaged[len(damaged)-8] ^= 1 // in the checksum
	path := filepath.Join(t.TempDir(), "a.csv.gz")
	filetest.Must(t, os.WriteFile(path, damaged, 0o600))
	got := 0
	err = corpustest.Each(csv.Format{}, []input.Input{{Path: path, Name: "a", Size: int64(len(damaged))}}, SourceConfig{Encoding: told("gbk")}, func(*Block, *Document) { got++ })
	if fmt.Sprint(err) != "reading a: gzip: invalid checksum" || got != 4000 {
		t.Errorf("%d rows, %v", got, err)
	}
}

// TestEncodingOfTheNext checks that the encoding of one input does not carry over to the next,
// which cannot be decompressed.
func TestEncodingOfTheNext(t *testing.T) {
	var inputs []input.Input
	for name, data := range map[string]string{"a.csv": "\xff\xfet\x00e\x00x\x00t\x00\n\x00a\x00\n\x00", "b.csv.gz": "\x1f\x8b\x08nothing"} {
		path := filepath.Join(t.TempDir(), name)
		filetest.Must(t, os.WriteFile(path, []byte(data), 0o600))
		inputs = append(inputs, input.Input{Path: path, Name: name, Size: int64(len(data))})
	}
	slices.SortFunc(inputs, func(a, b input.Input) int { return strings.Compare(a.Name, b.Name) })
	var got []string
	err := corpustest.Each(csv.Format{}, inputs, SourceConfig{Encoding: told("utf-8")}, func(b *Block, doc *Document) {
		got = append(got, fmt.Sprintf("%s %s %v", b.File, doc.Text, doc.Bad != nil))
	})
	if want := "a.csv a false|b.csv.gz  true"; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%q, %v", got, err)
	}
}

// TestEncodingIsTheirs checks that a format that detects encodings itself gets the raw bytes.
func TestEncodingIsTheirs(t *testing.T) {
	body := "\xff\xfe<\x00p\x00>\x00"
	got, err := seen(page.Format{HTML: true, Text: func() Text {
		return func(_ func(int) []byte, body []byte, _ string) ([]byte, bool, error) { return body, false, nil }
	}}, strings.NewReader(body), SourceConfig{Encoding: told("gbk")})
	if err != nil || got != fmt.Sprintf("1 %q %q %[2]q\n", "f", body) {
		t.Errorf("%s %v", got, err)
	}
}
