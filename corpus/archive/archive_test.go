package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// file is a member of an archive.
type file struct{ name, content string }

// all wants every member.
func all(string) bool { return true }

// listed holds the contents of an archive after reading.
type listed struct {
	*Contents
	files []file
}

// bounded is a spool that refuses more bytes than a test can hold.
type bounded struct{ data []byte }

var errTooLong = errors.New("too long for a test")

func (b *bounded) Write(p []byte) (int, error) {
	if len(b.data) > 16<<20 {
		return 0, errTooLong
	}
	b.data = append(b.data, p...)
	return len(p), nil
}

// read lists a zip or tar archive and reads all members. A streamed tar archive cannot seek.
func read(data []byte, zipped, streamed bool, want func(string) bool) (l listed, err error) {
	var spool bounded
	lister := Lister{Want: want, Spool: func() (io.Writer, error) { return &spool, nil }}
	switch r := bytes.NewReader(data); {
	case zipped:
		l.Contents, err = lister.Zip(r, int64(len(data)))
	case streamed:
		l.Contents, err = lister.Tar(io.MultiReader(r)) // a MultiReader cannot seek
	default:
		l.Contents, err = lister.Tar(r)
	}
	if err != nil {
		return l, err
	}
	for i := range l.Members {
		m := &l.Members[i]
		in := bytes.NewReader(data)
		if m.Spooled() {
			in = bytes.NewReader(spool.data)
		}
		content, err := io.ReadAll(io.LimitReader(m.Open(in), 16<<20+1))
		if err == nil && len(content) > 16<<20 {
			err = errTooLong
		}
		if err != nil {
			return l, fmt.Errorf("%s: %w", m.Name, err)
		}
		if int64(len(content)) != m.Size {
			return l, fmt.Errorf("%s: %d bytes of %d", m.Name, len(content), m.Size)
		}
		l.files = append(l.files, file{m.Name, string(content)})
	}
	return l, nil
}

// fataler is implemented by tests and fuzz targets.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func tarOf(t fataler, format tar.Format, headers []tar.Header, contents []string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, h := range headers {
		if h.Typeflag == 0 {
			h.Typeflag, h.Size = tar.TypeReg, int64(len(contents[i]))
		}
		h.Mode, h.Format = 0o644, format
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, contents[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarFiles(t fataler, format tar.Format, files ...file) []byte {
	var headers []tar.Header
	var contents []string
	for _, f := range files {
		headers, contents = append(headers, tar.Header{Name: f.name}), append(contents, f.content)
	}
	return tarOf(t, format, headers, contents)
}

func zipOf(t fataler, headers []zip.FileHeader, contents []string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, h := range headers {
		f, err := w.CreateHeader(&h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, contents[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zipFiles returns a zip archive that stores every other file uncompressed.
func zipFiles(t fataler, files ...file) []byte {
	var headers []zip.FileHeader
	var contents []string
	for i, f := range files {
		headers = append(headers, zip.FileHeader{Name: f.name, Method: []uint16{zip.Deflate, zip.Store}[i%2]})
		contents = append(contents, f.content)
	}
	return zipOf(t, headers, contents)
}

// TestRead checks that packed files are read back in order, whatever the form of the archive.
func TestRead(t *testing.T) {
	name := rapid.StringMatching(`[a-z文é0-9]{1,12}(/[a-z章 ._-]{1,60}){0,4}\.(txt|jsonl)`).Filter(func(s string) bool { return path.Clean(s) == s })
	rapid.Check(t, func(t *rapid.T) {
		var files []file
		for _, name := range rapid.SliceOfN(name, 0, 6).Draw(t, "names") {
			content := strings.Repeat(rapid.StringN(0, 20, 40).Draw(t, "content"), rapid.IntRange(0, 200).Draw(t, "times"))
			files = append(files, file{name, content})
		}
		kind := rapid.SampledFrom([]string{"pax", "gnu", "streamed", "zip"}).Draw(t, "kind")
		var data []byte
		switch kind {
		case "zip":
			data = zipFiles(t, files...)
		case "gnu":
			data = tarFiles(t, tar.FormatGNU, files...)
		default:
			data = tarFiles(t, tar.FormatPAX, files...)
		}
		got, err := read(data, kind == "zip", kind == "streamed", all)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.files) != fmt.Sprint(files) {
			t.Fatalf("%s: got %q, want %q", kind, got.files, files)
		}
		ends := rapid.IntRange(0, len(data)-1).Draw(t, "cut")
		if cut, err := read(data[:ends], kind == "zip", kind == "streamed", all); err == nil && fmt.Sprint(cut.files) != fmt.Sprint(files) {
			t.Fatalf("%s: cut off after %d of %d bytes, %d of %d files are read without an error", kind, ends, len(data), len(cut.files), len(files))
		}
	})
}

// TestCutOff checks that a shortened archive is an error, unless only zeros are missing at the end.
func TestCutOff(t *testing.T) {
	files := []file{{"a.txt", "one"}, {"b.txt", strings.Repeat("two ", 300)}, {"c.txt", ""}, {"zeros", strings.Repeat("\x00", 1500)}}
	for kind, data := range map[string][]byte{"tar": tarFiles(t, tar.FormatPAX, files...), "zip": zipFiles(t, files...)} {
		for n := range data {
			for _, streamed := range []bool{false, true} {
				got, err := read(data[:n], kind == "zip", streamed, all)
				if err == nil && (kind == "zip" || n <= len(data)-2*blockSize || len(got.files) != len(files)) {
					t.Errorf("%s of %d bytes of %d, streamed %v: read as %d files", kind, n, len(data), streamed, len(got.files))
				}
			}
		}
	}
}

// TestTogether checks that concatenated tar archives are one. Other data there is an error.
func TestTogether(t *testing.T) {
	a, b := tarFiles(t, tar.FormatGNU, file{"a", "one"}), tarFiles(t, tar.FormatPAX, file{"b", "two"})
	zeros := make([]byte, 10240)
	for _, streamed := range []bool{false, true} {
		got, err := read(bytes.Join([][]byte{a, zeros, b, zeros, a, zeros[:77]}, nil), false, streamed, all)
		if want := []file{{"a", "one"}, {"b", "two"}, {"a", "one"}}; err != nil || fmt.Sprint(got.files) != fmt.Sprint(want) {
			t.Errorf("streamed %v: got %v, %v", streamed, got.files, err)
		}
		for _, behind := range []string{"x", strings.Repeat("text", 1000)} {
			_, err = read(append(bytes.Clone(a), behind...), false, streamed, all)
			if err == nil || !strings.Contains(err.Error(), "after") && !strings.Contains(err.Error(), "cut off") {
				t.Errorf("streamed %v, %q behind: %v", streamed, behind[:1], err)
			}
		}
	}
}

// TestLeft checks that entries that are no files are listed, and that unwanted ones are counted.
func TestLeft(t *testing.T) {
	headers := []tar.Header{
		{Name: "d/", Typeflag: tar.TypeDir},
		{Name: "d/a.txt"},
		{Name: "l.txt", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "m.txt", Typeflag: tar.TypeSymlink, Linkname: "x"},
		{Name: "h.txt", Typeflag: tar.TypeLink, Linkname: "d/a.txt"},
		{Name: "p.txt", Typeflag: tar.TypeFifo},
		{Name: "n.txt", Typeflag: tar.TypeChar},
		{Name: "b.png"},
		{Name: "c"},
		{Name: "__MACOSX/d/._a.txt"},
		{Name: "..", Typeflag: tar.TypeReg},
	}
	contents := []string{"", "text", "", "", "", "", "", "x", "y", "fork", ""}
	want := func(name string) bool { return path.Ext(name) == ".txt" || name == "" }
	got, err := read(tarOf(t, tar.FormatPAX, headers, contents), false, false, want)
	const left = "[{symbolic link 2 l.txt} {hard link to another member 1 h.txt} {device, named pipe or the like 2 p.txt} {macOS resource fork 1 __MACOSX/d/._a.txt} {member with an unusable name 1 }]"
	if err != nil || fmt.Sprint(got.files) != "[{d/a.txt text}]" || fmt.Sprint(got.Left) != left || fmt.Sprint(got.Others) != "map[:1 .png:1]" {
		t.Errorf("%v %v %v %v", got.files, got.Left, got.Others, err)
	}
	link := zip.FileHeader{Name: "l.txt"}
	link.SetMode(0o777 | 1<<27) // fs.ModeSymlink
	got, err = read(zipOf(t, []zip.FileHeader{link, {Name: "d/"}, {Name: "d/a.txt"}, {Name: "b.png"}}, []string{"x", "", "text", ""}), true, false, want)
	if err != nil || fmt.Sprint(got.files) != "[{d/a.txt text}]" || fmt.Sprint(got.Left) != "[{symbolic link 1 l.txt}]" || fmt.Sprint(got.Others) != "map[.png:1]" {
		t.Errorf("%v %v %v %v", got.files, got.Left, got.Others, err)
	}
}

// TestNames checks that no name leads out of the archive.
func TestNames(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a/b.txt", "a/b.txt"},
		{"./a/b.txt", "a/b.txt"},
		{"/etc/passwd", "etc/passwd"},
		{"../../a.txt", "a.txt"},
		{"a/../../../b.txt", "b.txt"},
		{"a//b/./c.txt", "a/b/c.txt"},
		{"a/b/..", "a"},
		{"", ""},
		{".", ""},
		{"..", ""},
		{"/", ""},
		{"a\x00b", ""},
		{strings.Repeat("x/", maxName), ""},
		{"a b\n.txt", ""},
		{"a\x1b[2J.txt", ""},
		{"a\u009b2J.txt", ""},
		{"a\x7f", ""},
		{"\u3000 ~.txt", "\u3000 ~.txt"},
	} {
		if got, kind := clean(c.in); (kind == "") != (c.want != "") || kind == "" && got != c.want {
			t.Errorf("%.40q: %q, %q, want %q", c.in, got, kind, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"..", ".", "", "a", "文", `\`, "C:", "\x00", "b.txt", "~"})
		raw := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "parts"), rapid.SampledFrom([]string{"/", `\`, "//"}).Draw(t, "separator"))
		for _, raw := range []string{raw, strings.ReplaceAll(raw, `\`, "/")} {
			name, kind := clean(raw)
			joined := filepath.Join("out", filepath.FromSlash(name))
			if kind == "" && !strings.HasPrefix(joined, "out"+string(filepath.Separator)) {
				t.Fatalf("%q leads to %q", raw, joined)
			}
		}
	})
}

// TestControlCharacters checks that names with control characters are left out and listed: they
// could break a list into lines or control a terminal. Counted endings must have none.
func TestControlCharacters(t *testing.T) {
	files := []file{{"a\nb.txt", "1"}, {"\x1b[2Jc.txt", "2"}, {"d.txt", "3"}, {"e.\x1b[2J", "4"}}
	want := func(name string) bool { return path.Ext(name) == ".txt" }
	for kind, data := range map[string][]byte{"tar": tarFiles(t, tar.FormatPAX, files...), "zip": zipFiles(t, files...)} {
		got, err := read(data, kind == "zip", false, want)
		const left = "[{member with control characters in its name 2 a\ufffdb.txt}]"
		if err != nil || fmt.Sprint(got.files) != "[{d.txt 3}]" || fmt.Sprint(got.Left) != left || got.Others[".\ufffd[2J"] != 1 {
			t.Errorf("%s: %v %v %v %v", kind, got.files, got.Left, got.Others, err)
		}
	}
}

// TestNamesOfWindows checks that names in GBK are decoded, and others as DOS code page 437. A name
// that is valid UTF-8 by chance has the encoding of the archive.
func TestNamesOfWindows(t *testing.T) {
	const one = "\xd2\xbb.txt" // GBK for a name that passes for UTF-8 too
	names := []string{"\xd0\xc2\xce\xc5/\xb5\xda1\xd5\xc2.txt", "caf\x82.txt", one, "dir\\b.txt"}
	var headers []zip.FileHeader
	for _, name := range names {
		headers = append(headers, zip.FileHeader{Name: name, NonUTF8: true})
	}
	got, err := read(zipOf(t, headers, []string{"1", "2", "3", "4"}), true, false, all)
	want := []file{{"新闻/第1章.txt", "1"}, {"café.txt", "2"}, {"一.txt", "3"}, {"dir/b.txt", "4"}}
	if err != nil || fmt.Sprint(got.files) != fmt.Sprint(want) {
		t.Errorf("got %v, %v, want %v", got.files, err, want)
	}
	if name := decode(names[0], false); name != "新闻/第1章.txt" {
		t.Errorf("of a tar archive: %q", name)
	}
	if name := decode("\xff\x82.txt", false); !utf8.ValidString(name) || !strings.HasSuffix(name, "é.txt") {
		t.Errorf("%q", name)
	}
}

// TestUnicodePath checks that a valid Unicode path field replaces the name.
func TestUnicodePath(t *testing.T) {
	// Hand-written after APPNOTE.TXT 4.6.9: id, size, version, CRC-32 of the other name.
	field := string(binary.LittleEndian.AppendUint32([]byte("\x75\x70\x0c\x00\x01"), crc32.ChecksumIEEE([]byte("a.txt")))) + "\xe6\x96\x87.txt"
	for _, c := range []struct{ extra, name, want string }{
		{field, "a.txt", "文.txt"},
		{"\x01\x00\x02\x00ab" + field, "a.txt", "文.txt"},
		{field, "b.txt", ""},
		{field[:12], "a.txt", ""},
		{"", "a.txt", ""},
		{strings.Replace(field, "\x01", "\x02", 1), "a.txt", ""},
		{field[:len(field)-4] + "\xff\xff\xff\xff", "a.txt", ""},
	} {
		if got := unicodePath([]byte(c.extra), c.name); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.extra, c.name, got, c.want)
		}
	}
}
