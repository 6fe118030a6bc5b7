package warc_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/warc"
)

var lengthField = regexp.MustCompile(`(?m)^Content-Length: \d+`)

// relength adds by to a record's declared length.
func relength(m made, by int) made {
	done := false
	m.bytes = lengthField.ReplaceAllFunc(m.bytes, func(line []byte) []byte {
		if done { // the field of HTTP
			return line
		}
		done = true
		n, _ := strconv.Atoi(string(line[len("Content-Length: "):]))
		return fmt.Appendf(nil, "Content-Length: %d", max(n+by, 0))
	})
	return m
}

// endsElsewhere reports whether a record's length covers other whole records, which goes unnoticed.
func endsElsewhere(records []made) bool {
	starts := []int{0}
	for _, m := range records {
		starts = append(starts, starts[len(starts)-1]+len(m.bytes))
	}
	for i, m := range records {
		field := lengthField.Find(m.bytes)
		length, _ := strconv.Atoi(string(field[len("Content-Length: "):]))
		end := starts[i+1] - m.blank - m.size + length
		for _, at := range starts[min(i+2, len(starts)):] {
			if at-16 <= end && end <= at { // blank lines between them
				return true
			}
		}
	}
	return false
}

// TestWrongLength declares records longer or shorter than they are. They are read unchanged if
// another record follows or their member ends.
func TestWrongLength(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt)
		records = append(records, made{bytes: []byte("WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")})
		for i, m := range records[:len(records)-1] {
			if bytes.ContainsAny(m.bytes[len(m.bytes)-m.blank-1:][:1], "\r\n") {
				continue // only its length shows where this one ends
			}
			by := rapid.SampledFrom([]int{-200, -20, -3, -1, 0, 1, 2, 5, 30, 250, 1000}).Draw(rt, "by")
			size := len(m.bytes) - m.blank
			if at := max(size+by, m.head); at < size && (bytes.HasPrefix(m.bytes[at:], []byte("\n\n")) || bytes.HasPrefix(m.bytes[at:], []byte("\r\n\r\n"))) {
				continue // blank lines confirm the length: the rest is rubbish
			}
			m.bytes, m.blank = append(m.bytes[:size:size], "\r\n\r\n"...), 4
			records[i] = relength(m, by)
		}
		if endsElsewhere(records) {
			rt.Skip("a length that is wrong leads to the beginning of another record")
		}
		data := plain(records)
		files := []file{{"plain", data}, {"gzip of all", gzipped(data)}}
		for _, p := range memberwise()[:2] {
			f := file{name: p.name}
			for _, m := range records {
				f.data = append(f.data, p.member(m.bytes)...)
			}
			files = append(files, f)
		}
		for _, v := range files {
			name, file := v.name, v.data
			have, err := readFrom(t, stdin, warc.Format{}, corpus.SourceConfig{Stdin: bytes.NewReader(file), BlockSize: rapid.IntRange(1, 3000).Draw(rt, "block")})
			if err != nil {
				rt.Fatalf("%s: %v", name, err)
			}
			for i := range have { // its text may include some blank lines after it
				have[i].text = strings.TrimRight(have[i].text, "\r\n")
			}
			want(rt, name, have, records)
		}
	})
}

// TestCutOff cuts a file anywhere. Whole records before the cut are read, and the cut is reported
// unless it lies between records.
func TestCutOff(t *testing.T) {
	var file, packedFile []byte
	ends, packedEnds := map[int]int{0: 0}, map[int]int{0: 0}
	for n := range 4 {
		record := fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: urn:%d\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\ntext of record %05d\r\n\r\n", n, n)
		file, packedFile = append(file, record...), append(packedFile, gzipped(record)...)
		for blank := range 5 {
			ends[len(file)-blank] = n + 1
		}
		packedEnds[len(packedFile)] = n + 1
	}
	check := func(file []byte, ends map[int]int, name string) {
		whole := 0
		for cut := 1; cut <= len(file); cut++ {
			clean := false
			if n, ok := ends[cut]; ok {
				whole, clean = n, true
			}
			have, err := read(t, file[:cut], corpus.SourceConfig{})
			if err != nil {
				t.Fatalf("%s cut at %d: %v", name, cut, err)
			}
			bad := 0
			if len(have) > 0 && have[len(have)-1].bad != "" {
				bad = 1
			}
			if len(have)-bad != whole || (bad == 0) != clean {
				t.Errorf("%s cut at %d: %d documents, %d bad, want %d: %+v", name, cut, len(have)-bad, bad, whole, have)
			}
		}
	}
	check(file, ends, "plain")
	check(packedFile, packedEnds, "gzip")
}

const arcHead = "filedesc://x.arc 0.0.0.0 20140102030405 text/plain 76\n1 0 Maker\nURL IP-address Archive-date Content-type Archive-length\n\n123456789\n"

// arcRecord returns an ARC record whose length is wrong by the given bytes.
func arcRecord(url, body string, by int) string {
	content := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
	return fmt.Sprintf("%s 93.184.216.119 20140216050221 text/plain %d\n%s\n", url, len(content)+by, content)
}

// TestARC reads ARCs with spaces in URLs, wrong lengths, other protocols and no length. A wrong
// length must not cost a line end of the content.
func TestARC(t *testing.T) {
	file := arcHead + "dns:example.org 1.2.3.4 20140216050221 text/dns 10\n0123456789\n" +
		arcRecord("http://example.org/a b c", "first", 0) + arcRecord("http://example.org/short", "second document\n\n", -5) +
		arcRecord("http://example.org/long", "third document\n", 30) +
		"http://example.org/none 1.2.3.4 20140216050221 text/html -1\nHTTP/1.0 200 OK\n\nlost\n" +
		arcRecord("https://example.org/last", "fourth", 0)
	var packedFile []byte
	for _, piece := range strings.SplitAfter(file, "\n\x00") {
		packedFile = append(packedFile, gzipped([]byte(piece))...)
	}
	for name, stored := range map[string][]byte{"plain": []byte(file), "gzip": packedFile, "zstd": zstded([]byte(file))} {
		for _, block := range []int{1, 100, 0} {
			have, err := readFrom(t, stdin, warc.Format{ARC: true}, corpus.SourceConfig{Stdin: bytes.NewReader(stored), BlockSize: block})
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, g := range have {
				all = append(all, g.id+"="+g.text+g.bad)
			}
			const wanted = "http://example.org/a b c=first|http://example.org/short=second document\n\n|http://example.org/long=third document\n|" +
				"=the record does not give its length|https://example.org/last=fourth"
			if got := strings.Join(all, "|"); got != wanted {
				t.Errorf("%s, blocks of %d:\n got %s\nwant %s", name, block, got, wanted)
			}
		}
	}
}

// TestWACZ reads the archives of a WACZ in order, compressed or not, and resumes at any document.
func TestWACZ(t *testing.T) {
	record := func(n int) []byte {
		return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: urn:%d\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\ntext of record %05d\r\n\r\n", n, n)
	}
	path := filepath.Join(t.TempDir(), "x.wacz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, e := range []struct {
		name   string
		method uint16
		data   []byte
	}{
		{"datapackage.json", zip.Deflate, []byte("{}")},
		{"archive/b.warc.gz", zip.Store, append(gzipped(record(1)), gzipped(record(2))...)},
		{"archive/a.warc", zip.Deflate, append(record(3), record(4)...)},
		{"pages/pages.jsonl", zip.Deflate, []byte("{}")},
		{"archive/c.warc.gz", zip.Deflate, append(gzipped(record(5)), gzipped(record(6))...)},
		{"archive/notes.txt", zip.Deflate, []byte("no archive")},
		{"archive/d.warc", zip.Store, append(record(7), record(8)...)},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err == nil {
			_, err = w.Write(e.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	inputs := []input.Input{{Path: path, Name: path, Size: info.Size()}}
	cfg := corpus.SourceConfig{Formats: []corpus.Format{warc.Format{}}}
	all, err := readFrom(t, inputs, warc.Format{}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, g := range all {
		ids = append(ids, g.id+g.bad)
	}
	if got := strings.Join(ids, " "); got != "urn:1 urn:2 urn:3 urn:4 urn:5 urn:6 urn:7 urn:8" {
		t.Fatal(got)
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1} {
		if at := all[i].at.Part; string(stored[at:at+2]) != "\x1f\x8b" {
			t.Errorf("no member begins at %d", at)
		}
	}
	for i, g := range all {
		cfg.SkipTo = g.at.Next()
		have, err := readFrom(t, inputs, warc.Format{}, cfg)
		if err != nil || fmt.Sprint(have) != fmt.Sprint(all[i+1:]) {
			t.Errorf("behind %v: %v, %v", g.at, have, err)
		}
	}
}

// TestLongRecords reads records longer than a block or the limit, and the documents after them.
func TestLongRecords(t *testing.T) {
	long := func(n int, kind string) []byte {
		return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: urn:%d\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			kind, n, n, strings.Repeat("x", n))
	}
	const limit = 3 << 20
	sizes := []int{10, 100_000, 2 << 20, 300, limit, limit + 1, 5 << 20, 20, 1_500_000, 20}
	var plain, members []byte
	for i, n := range sizes {
		kind := "resource"
		if i == 6 {
			kind = "metadata"
		}
		plain, members = append(plain, long(n, kind)...), append(members, gzipped(long(n, kind))...)
	}
	for name, file := range map[string][]byte{"plain": plain, "gzip": gzipped(plain), "members": members, "zstd": zstded(plain)} {
		for _, block := range []int{1000, 0} {
			have, err := read(t, file, corpus.SourceConfig{BlockSize: block, MaxRecord: limit + 200})
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, g := range have {
				all = append(all, fmt.Sprintf("%s/%d%s", g.id, len(g.text), g.bad))
			}
			const wanted = "urn:10/10 urn:100000/100000 urn:2097152/2097152 urn:300/300 urn:3145728/3145728 urn:3145729/3145729 urn:20/20 urn:1500000/1500000 urn:20/20"
			if got := strings.Join(all, " "); got != wanted {
				t.Errorf("%s, blocks of %d:\n got %s\nwant %s", name, block, got, wanted)
			}
			have, err = read(t, file, corpus.SourceConfig{BlockSize: block, MaxRecord: limit})
			if err != nil {
				t.Fatal(err)
			}
			if len(have) != 9 || have[4].bad == "" || have[5].bad == "" || !strings.Contains(have[4].bad, "longer than the limit of 3145728 bytes") ||
				have[6].text != strings.Repeat("x", 20) || len(have[4].raw) > 4096 {
				t.Errorf("%s, blocks of %d: %d records", name, block, len(have))
			}
		}
	}
}
