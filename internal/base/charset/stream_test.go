package charset

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	surrogates "unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"pgregory.net/rapid"
)

// streamed decodes body as a stream. The result must be the same for pieces of any size.
func streamed(t interface{ Fatalf(string, ...any) }, s *Stream, body []byte) string {
	whole, err := io.ReadAll(s.NewReader(bytes.NewReader(body)))
	if err != nil {
		t.Fatalf("%s of %x: %v", s.Name(), body, err)
	}
	for _, r := range []io.Reader{iotest.OneByteReader(bytes.NewReader(body)), iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(body)))} {
		if got, err := io.ReadAll(s.NewReader(r)); err != nil || !bytes.Equal(got, whole) {
			t.Fatalf("%s of %x: %q, and in pieces %q, %v", s.Name(), body, whole, got, err)
		}
	}
	return string(whole)
}

func stream(t interface{ Fatal(...any) }, label string) *Stream {
	s, err := StreamOf(label)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// decode16 decodes surrogate pairs. Other surrogates and an odd last byte are malformed.
func decode16(body []byte, big bool) string {
	var out []byte
	var units []uint16
	for i := 0; i+1 < len(body); i += 2 {
		low, high := body[i], body[i+1]
		if big {
			low, high = high, low
		}
		units = append(units, uint16(high)<<8|uint16(low))
	}
	for len(units) > 0 {
		r, size := rune(units[0]), 1
		if surrogates.IsSurrogate(r) {
			if r = -1; len(units) > 1 {
				if pair := surrogates.DecodeRune(rune(units[0]), rune(units[1])); pair != utf8.RuneError {
					r, size = pair, 2
				}
			}
		}
		if units = units[size:]; r < 0 {
			out = append(out, Malformed)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	if len(body)%2 == 1 {
		out = append(out, Malformed)
	}
	return string(out)
}

// once reduces a row of faults, and U+FFFD after a fault, to one mark.
func once(text string) string {
	for {
		short := strings.ReplaceAll(strings.ReplaceAll(text, "\xff\ufffd", "\xff"), "\xff\xff", "\xff")
		if short == text {
			return text
		}
		text = short
	}
}

// TestStreamUTF16 compares drawn units, with U+FFFD and lone surrogates among them, with decode16.
// Neither the number of faults in a row nor U+FFFD after a fault matters.
func TestStreamUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var body []byte
		for _, u := range rapid.SliceOfN(rapid.SampledFrom([]uint16{'a', '\n', '"', 0x4e00, 0xd800, 0xd83d, 0xde00, 0xfffd, 0xfeff, 0xffff, 0}), 0, 12).Draw(t, "units") {
			body = append(body, byte(u), byte(u>>8))
		}
		if rapid.Bool().Draw(t, "odd") {
			body = append(body, 'x')
		}
		for label, big := range map[string]bool{"utf-16": false, "UTF-16LE": false, "utf-16be": true} {
			got, want := streamed(t, stream(t, label), body), decode16(body, big)
			got, want = once(got), once(want)
			if got != want {
				t.Fatalf("%s of %x: %q, want %q", label, body, got, want)
			}
		}
	})
}

// TestStreamRoundTrip checks that every character of an encoding comes out, including U+FFFD if the
// encoding has it. Each fault in between becomes one byte that UTF-8 never contains.
func TestStreamRoundTrip(t *testing.T) {
	for _, c := range encodings {
		s, err := StreamOf(c.name)
		if err != nil {
			if c.name != "iso-2022-jp" && c.name != hz {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		e := s.encoding
		text := strings.Repeat(texts[c.text]+"\n", 200)
		body, err := encoding.ReplaceUnsupported(e.NewEncoder()).Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.NewDecoder().Bytes(body)
		if err != nil {
			t.Fatal(err)
		}
		if got := streamed(t, s, body); got != string(want) {
			t.Errorf("%s: %.80q\nwant %.80q", c.name, got, want)
		}
	}
	for label, c := range map[string]struct{ body, want string }{
		"gbk":          {"\xd6\xd0\x84\x31\xa4\x37\xff\n\xce\x0a\xc4", "中\ufffd\xff\n\xff\n\xff"},
		"gb18030":      {"\xaa\xa1\xac\xe6\xaf\xfe\xf8\xa1\xfe\xfe\xa1\x40\xa1\x80\xa7\xa0\xaa\x40", "\ue000\ue101\ue233\ue234\ue4c5\ue4c6\ue505\ue765狜"},
		"GB18030":      {"\xa3\xa0\xff", "\u3000\xff"},
		"gb2312":       {"\x80\x81\x30\x81\x30a", "€\u0080a"},
		"big5":         {"\xa4\xa4\xff\n", "中\xff\n"},
		"windows-1252": {"caf\xe9\x81", "café\xff"},
		"shift_jis":    {"\x93\xfa\x93\n", "日\xff\n"},
		"utf-32":       {"\xff\xfe\x00\x00a\x00\x00\x00\xfd\xff\x00\x00\x00\xd8\x00\x00b", "\ufeffa\ufffd\xff\xff"},
	} {
		if label == "utf-32" {
			if got := streamed(t, Marked([]byte(c.body)), []byte(c.body)); got != c.want {
				t.Errorf("%s: %q, want %q", label, got, c.want)
			}
			continue
		}
		if got := streamed(t, stream(t, label), []byte(c.body)); got != c.want {
			t.Errorf("%s: %q, want %q", label, got, c.want)
		}
	}
}

// TestStreamOf checks that labels mean the same as in browsers. Encodings that cannot be decoded in
// pieces are refused by name.
func TestStreamOf(t *testing.T) {
	for label, want := range map[string]string{
		"GBK": "gb18030", "gb2312": "gb18030", "utf8": "utf-8", "UTF-16": "utf-16le", "unicode": "utf-16le", "latin1": "windows-1252", "cp1251": "windows-1251",
		"utf-32be": "utf-32be", "sjis": "shift_jis",
		"iso-2022-jp": "cannot be read in pieces", "hz-gb-2312": "cannot be read in pieces", "klingon": `no encoding is called "klingon"`, "": "no encoding is called",
	} {
		s, err := StreamOf(label)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", label, err)
			}
			continue
		}
		if s.Name() != want || s.IsUTF8() != (want == "utf-8") {
			t.Errorf("%s is %s", label, s.Name())
		}
	}
}

// TestDetect detects an encoding by its mark, or by a beginning that may end within a character.
// Data other than text has no encoding.
func TestDetect(t *testing.T) {
	zh := strings.Repeat(texts["zh"], 40)
	for name, as := range map[string]string{"utf-8": zh, "gb18030": encoded(t, zh, "gb18030"), "big5": encoded(t, strings.Repeat(texts["tw"], 40), "big5")} {
		for cut := range 5 {
			if s, err := Detect([]byte(as[:4<<10+cut]), false); err != nil || s.Name() != name {
				t.Errorf("%s, cut at %d: %v, %v", name, cut, s, err)
			}
		}
	}
	for head, want := range map[string]string{
		"": "utf-8", "ascii": "utf-8", "\xff\xfea\x00": "utf-16le", "\xfe\xff": "utf-16be", "\xff\xfe\x00\x00": "utf-32le",
		"\xef\xbb\xbf\xe5": "utf-8", "\x84\x31\x95\x33": "gb18030",
	} {
		if s, err := Detect([]byte(head), true); err != nil || s.Name() != want {
			t.Errorf("%q: %v, %v", head, s, err)
		}
	}
	if _, err := Detect(bytes.Repeat([]byte{0x00, 0x01, 0x9c}, 100), true); !errors.Is(err, ErrUnknown) {
		t.Errorf("no text: %v", err)
	}
}

// TestStreamBroken checks that a read error comes after everything that could be decoded.
func TestStreamBroken(t *testing.T) {
	broken := errors.New("broken")
	r := stream(t, "gbk").NewReader(io.MultiReader(strings.NewReader("\xd6\xd0\xce"), iotest.ErrReader(broken)))
	if got, err := io.ReadAll(r); string(got) != "中" || err != broken {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzStream checks that the output is UTF-8 except for marks of malformed bytes, in pieces of any
// size. No line end is lost. Well-formed input decodes as the encoding itself decodes it.
func FuzzStream(f *testing.F) {
	f.Add([]byte("\xd6\xd0\xce\xc4\n\x81\x30\x81\x30\xff"), uint8(0))
	f.Add([]byte("a\x00\n\x00\x00\xd8\xfd\xff"), uint8(5))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		labels := []string{"gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "utf-16le", "utf-16be", "windows-1251", "utf-32le"}
		if len(body) > 1<<12 {
			return
		}
		s := stream(t, labels[int(n)%len(labels)])
		got := streamed(t, s, body)
		if !utf8.ValidString(strings.ReplaceAll(got, "\xff", "")) {
			t.Errorf("%s of %x: %q is not UTF-8", s.Name(), body, got)
		}
		if !isWide(s.Name()) && strings.Count(got, "\n") != bytes.Count(body, []byte("\n")) {
			t.Errorf("%s of %x: %q has not its lines", s.Name(), body, got)
		}
		plain, err := s.encoding.NewDecoder().Bytes(body)
		if err != nil || !strings.ContainsAny(string(plain), "\ufffd") && got != string(plain) {
			t.Errorf("%s of %x: %q, want %q, %v", s.Name(), body, got, plain, err)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	text := strings.Repeat(texts["zh"]+"\n", 4000)
	for _, name := range []string{"gb18030", "utf-16le"} {
		s := stream(b, name)
		body, err := s.encoding.NewEncoder().Bytes([]byte(text))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := io.Copy(io.Discard, s.NewReader(bytes.NewReader(body))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPieces decodes a character split between two pieces, even after malformed bytes.
func TestPieces(t *testing.T) {
	r := io.MultiReader(strings.NewReader("ab\xff\xd6"), strings.NewReader("\xd0cd\xd6"))
	if got, err := io.ReadAll(stream(t, "gbk").NewReader(r)); string(got) != "ab\xff中cd\xff" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDetectCut checks that a beginning may end within a UTF-8 character and a whole text may not.
func TestDetectCut(t *testing.T) {
	for _, tail := range []string{"\xc3", "\xe6\x97", "\xf0\x9f\x98"} {
		if s, err := Detect([]byte("plain words "+tail), false); err != nil || !s.IsUTF8() {
			t.Errorf("%x: %v, %v", tail, s, err)
		}
		if s, err := Detect([]byte("plain words "+tail), true); err == nil && s.IsUTF8() {
			t.Errorf("%x is all", tail)
		}
	}
}
