package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
)

// TestSparse checks that holes in files, in the three forms of GNU tar, are read as zeros.
func TestSparse(t *testing.T) {
	names, err := filepath.Glob("testdata/sparse-*.tar.gz")
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	want := make([]byte, 200004)
	copy(want[65536:], "middle\n")
	copy(want[200000:], "end\n")
	for _, name := range names {
		data := unpacked(t, name)
		for _, streamed := range []bool{false, true} {
			got, err := read(data, false, streamed, all)
			if err != nil || len(got.files) != 2 || got.files[0] != (file{"holes.txt", string(want)}) || got.files[1] != (file{"plain.txt", "plain\n"}) {
				t.Errorf("%s, streamed %v: %d files, %v", name, streamed, len(got.files), err)
			}
		}
	}
}

// TestRefused checks that errors name the cause, and the remedy if there is one.
func TestRefused(t *testing.T) {
	text := strings.Repeat("some text ", 100)
	good := zipFiles(t, file{"a.txt", text}, file{"b.txt", text})
	directory := bytes.Index(good, []byte("PK\x01\x02"))
	change := func(data []byte, at int, to byte) []byte {
		data = bytes.Clone(data)
		data[at] = to
		return data
	}
	method := func(n uint16) []byte {
		data := bytes.Clone(good)
		binary.LittleEndian.PutUint16(data[directory+10:], n)
		return data
	}
	twice := bytes.Clone(good) // both members are now the first
	second := directory + 4 + bytes.Index(good[directory+4:], []byte("PK\x01\x02"))
	copy(twice[second+16:second+28], twice[directory+16:])
	copy(twice[second+42:second+46], twice[directory+42:])
	binary.LittleEndian.PutUint32(twice[directory+20:], uint32(len(good)-10))
	tarball := tarFiles(t, tar.FormatPAX, file{"a.txt", text}, file{"b.txt", text})
	for _, c := range []struct {
		name   string
		data   []byte
		zipped bool
		want   string
	}{
		{"encrypted", change(good, directory+8, good[directory+8]|1), true, `its member "a.txt" is encrypted: unpack it first, with its password`},
		{"Deflate64", method(9), true, `its member "a.txt" is compressed with Deflate64, and only deflate is supported: unpack it first`},
		{"zstd", method(93), true, "with zstd"},
		{"of no known method", method(77), true, "with method 77"},
		{"another checksum", change(good, directory+16, good[directory+16]+1), true, "a.txt: it is damaged: its checksum does not match"},
		{"a longer member", change(good, directory+24, good[directory+24]+1), true, "a.txt: it is damaged: the archive gives another length for it"},
		{"a shorter member", change(good, directory+24, good[directory+24]-1), true, "a.txt: it is damaged: the archive gives another length for it"},
		{"a stored byte", change(good, bytes.LastIndex(good[:directory], []byte("some")), 'S'), true, "b.txt: it is damaged: its checksum does not match"},
		{"an inflated byte", change(good, 40, good[40]+1), true, "a.txt: "},
		{"members in each other", twice, true, "its members together are larger than the archive"},
		{"no zip", []byte("some text"), true, "it is not a zip archive"},
		{"nothing", nil, true, "it is not a zip archive"},
		{"the beginning of zip", good[:directory], true, "it is not a zip archive, is cut off"},
		{"nothing", nil, false, "the archive is cut off: the zeros at its end are missing"},
		{"no tar", []byte(text), false, "it is not a tar archive, or its beginning is damaged"},
		{"a part of a header", tarball[:100], false, "the archive is cut off"},
		{"no end", tarball[:len(tarball)-1024], false, "append them, as truncate -s +1024 does"},
		{"cut off", tarball[:1000], false, `the archive is cut off, in or after its member "a.txt"`},
		{"a header", change(tarball, 1536, 'x'), false, `it is damaged after its member "a.txt", before byte 2048`},
	} {
		_, err := read(c.data, c.zipped, false, all)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), `""`) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// A member that is not wanted may have any method.
	got, err := read(method(93), true, false, func(name string) bool { return name == "b.txt" })
	if err != nil || len(got.files) != 1 || got.files[0].content != text {
		t.Errorf("beside a member that cannot be read: %v", err)
	}
}

// TestZip64 reads the most members of a zip archive without zip64, and more.
func TestZip64(t *testing.T) {
	for _, n := range []int{1<<16 - 1, 66_000} {
		headers := make([]zip.FileHeader, n)
		for i := range headers {
			headers[i].Name = fmt.Sprintf("%d.txt", i)
		}
		contents := make([]string, n)
		contents[n-1] = "last"
		data := zipOf(t, headers, contents)
		if n == 1<<16-1 { // without zip64 records, as other tools write it
			at := bytes.LastIndex(data, []byte("PK\x06\x06"))
			end := bytes.Clone(data[len(data)-22:])
			binary.LittleEndian.PutUint32(end[12:], binary.LittleEndian.Uint32(data[at+40:]))
			binary.LittleEndian.PutUint32(end[16:], binary.LittleEndian.Uint32(data[at+48:]))
			data = append(data[:at:at], end...)
		}
		got, err := read(data, true, false, all)
		if err != nil || len(got.files) != n || got.files[n-1] != (file{fmt.Sprintf("%d.txt", n-1), "last"}) {
			t.Errorf("%d files of %d, %v", len(got.files), n, err)
		}
	}
}

// TestZipComment checks that an incomplete end record in the comment is ignored.
func TestZipComment(t *testing.T) {
	data := zipFiles(t, file{"a.txt", "text"})
	for _, comment := range []string{"PK\x05\x06", "of PK\x05\x06 and some", "PK\x05\x06" + strings.Repeat("x", 17)} {
		with := append(bytes.Clone(data), comment...)
		with[len(data)-2] = byte(len(comment))
		if got, err := read(with, true, false, all); err != nil || len(got.files) != 1 {
			t.Errorf("comment %q: %v", comment, err)
		}
	}
}

// TestTooMany checks that listings too large for memory are refused early.
func TestTooMany(t *testing.T) {
	l := listing{entries: MaxMembers}
	if err := l.entry("a"); err == nil {
		t.Error("one member more than there may be")
	}
	l = listing{}
	for range maxNames / maxName {
		if err := l.entry(strings.Repeat("x", maxName)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.entry("a"); err == nil {
		t.Error("longer names than there may be")
	}
	// A small archive claims too many members.
	data := zipFiles(t, file{"a.txt", ""})
	end := len(data) - 22
	locator := append([]byte("PK\x06\x07\x00\x00\x00\x00"), make([]byte, 12)...)
	end64 := append([]byte("PK\x06\x06"), make([]byte, 52)...)
	binary.LittleEndian.PutUint64(end64[32:], MaxMembers+1)
	binary.LittleEndian.PutUint64(locator[8:], uint64(end))
	data = bytes.Join([][]byte{data[:end], end64, locator, data[end:]}, nil)
	// The zip64 record is read if number, size or offset of the members overflow the end record.
	for at, field := range map[int]string{10: "\xff\xff", 12: "\xff\xff\x00\x00", 16: "\xff\xff\xff\xff"} {
		more := bytes.Clone(data)
		copy(more[len(more)-22+at:], field)
		// The last of two end records counts, which takes the first for part of a member.
		two := slices.Concat(more[:end], []byte("PK\x05\x06"), make([]byte, 18), more[end:])
		binary.LittleEndian.PutUint64(two[len(two)-42+8:], uint64(end+22))
		for _, data := range [][]byte{more, two} {
			if _, err := read(data, true, false, all); err == nil || !strings.Contains(err.Error(), "has more than") {
				t.Errorf("%x at byte %d: %v", field, at, err)
			}
		}
	}
}

// TestWrongTwice checks that reading on after an error returns the same error.
func TestWrongTwice(t *testing.T) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("text")); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for _, m := range []Member{{how: zipDeflated, Size: 4, sum: 1}, {how: zipDeflated, Size: 3}, {how: zipDeflated, Size: 5}, {how: zipStored, Size: 1 << 20}} {
		c := newChecked(&m, bytes.NewReader(packed.Bytes()))
		_, first := io.ReadAll(c)
		if _, err := c.Read(make([]byte, 9)); first == nil || err != first {
			t.Errorf("%+v: %v, and then %v", m, first, err)
		}
	}
}
