//go:build unix

package cli

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// twoLines is two documents as lines. wetHead is the format of a WET record.
const (
	twoLines = `{"id":"a","text":"one document"}` + "\n" + `{"id":"b","text":"another document"}` + "\n"
	wetHead  = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
)

func wet(texts ...string) (file string) {
	for i, text := range texts {
		file += fmt.Sprintf(wetHead, string(rune('a'+i)), len(text), text)
	}
	return file
}

// packers has all compressions that can be read except bzip2, which no library writes.
var packers = map[string]func(io.Writer) (io.WriteCloser, error){
	"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	"zstd": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	"xz":   func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	"lz4":  func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil },
}

// linesBzip2 and wetBzip2 are the two documents compressed by bzip2, in base64.
const (
	linesBzip2 = "QlpoOTFBWSZTWQbZA/UAACFZgAAQUAQAED5jlkogAEhKKZGnqehNPU9BKgANANJNOzP8quki3KF0CDRkiCLJY/O8emTlqSOHklIikD4u5IpwoSANsgfq"
	wetBzip2   = "QlpoOTFBWSZTWUIkpvoAADlfgAASQAPxECgkFoA+599gIACKgqpNQNPUxNpADQaPUAqkU0G1ABiaDRoCoPaUvDhxisVlyGXWKTAqJoor017QxclZei5GsksWovTFSKYJ9GSPKSzE7MW8nRkzOitGGL4koouhyaakIoUZ2Hcos/GCuiTayom/Jlrg2UVMy4/i7kinChIIRJTfQA=="
)

// texts returns the output of firstseen read for a file with this content.
func texts(t *testing.T, content string, want int) string {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in"), content)
	out, stderr := runProgram(t, dir, want, "read", "in")
	return out + stderr
}

// writePage writes a WARC record with a page.
func writePage(w io.Writer, i int, headers string, body []byte) {
	head := "HTTP/1.1 200 OK\r\n" + headers + "\r\n"
	_, _ = fmt.Fprintf(w, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/%d\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s",
		i, len(head)+len(body), head)
	_, _ = w.Write(append(body[:len(body):len(body)], "\r\n\r\n"...))
}

// TestCompressions reads lines and archives in every compression, whatever the file name.
func TestCompressions(t *testing.T) {
	t.Parallel()
	check := func(name, content string) {
		out := texts(t, content, exitDone)
		if !strings.Contains(out, `{"id":"a","text":"one document"`) || !strings.Contains(out, `{"id":"b","text":"another document"`) {
			t.Errorf("%s: %s", name, out)
		}
	}
	for what, content := range map[string]string{"lines": twoLines, "WET": wet("one document", "another document")} {
		check(what, content)
		for name, pack := range packers {
			var b bytes.Buffer
			w, err := pack(&b)
			indextest.Must(t, err)
			give(t, w, content)
			indextest.Must(t, w.Close())
			check(what+" in "+name, b.String())
		}
	}
	for what, packed := range map[string]string{"lines": linesBzip2, "WET": wetBzip2} {
		content, err := base64.StdEncoding.DecodeString(packed)
		indextest.Must(t, err)
		check(what+" in bzip2", string(content))
		check(what+" in bzip2 behind an empty stream", emptyBzip2+string(content))
	}
	if out := texts(t, emptyBzip2, exitDone); out != "" {
		t.Errorf("an empty file in bzip2: %s", out)
	}
}

// emptyBzip2 is an empty file compressed by bzip2.
const emptyBzip2 = "BZh9\x17rE8P\x90\x00\x00\x00\x00"

// TestOtherFormats checks that errors name unsupported formats, recognized by their content.
func TestOtherFormats(t *testing.T) {
	for content, name := range map[string]string{
		"ARROW1\x00\x00": "an Arrow file", "ORC\n\x03": "an ORC file", "\xff\xff\xff\xff\x10\x01\x00\x00": "an Arrow stream",
	} {
		out := texts(t, content, exitFailed)
		if !strings.Contains(out, "reading in: it is "+name+", which cannot be read: ") || strings.Contains(out, "bad") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// TestWETAsItIs checks that a WET is read as UTF-8 whatever control characters it contains.
func TestWETAsItIs(t *testing.T) {
	out := texts(t, wet("a\x1b$B b\x00\x00 ~{ c\x01\x02\x03\x04", "\ufeffwith a mark"), exitDone)
	for _, part := range []string{`"text":"a\u001b$B b\u0000\u0000 ~{ c\u0001\u0002\u0003\u0004"`, `"text":"with a mark"`} {
		if !strings.Contains(out, part) {
			t.Errorf("no %s in %s", part, out)
		}
	}
}

// TestPageOfMostMemory reads, with one worker, a page that takes all the memory allowed in flight,
// and more when it is decoded. The run must not wait for itself.
func TestPageOfMostMemory(t *testing.T) {
	takesSeconds(t)
	dir := t.TempDir()
	var in bytes.Buffer
	page := bytes.Repeat([]byte("<p>a sentence of a long page, "), 23_000_000/30)
	for i := range 2 {
		writePage(&in, 3*i, "Content-Type: text/html\r\n", []byte("<p>short"))
		writePage(&in, 3*i+1, "Content-Type: text/html\r\n", page)
		writePage(&in, 3*i+2, "Content-Type: text/html\r\nContent-Encoding: gzip\r\n", gzipped(page))
	}
	writeFile(t, filepath.Join(dir, "in.warc"), in.String())
	if _, told := runProgram(t, dir, exitDone, "dedup", "--docs", "1000", "-j", "1", "--report", "report", "in.warc"); !strings.Contains(told, "6 documents: 2 kept, 4 copies") {
		t.Error(told)
	}
}

// TestLongPage checks that a page over the limit counts as one bad record, not also as cut off.
func TestLongPage(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "in.html"), "<html><p>"+strings.Repeat("x y. ", 100_000))
	if _, told := runProgram(t, dir, exitBadRecords, "dedup", "--docs", "1000", "--limit", "record=1KiB", "--rejects", "bad", "in.html"); !strings.Contains(told, "1 of 1 files") {
		t.Error(told)
	}
}

// TestListOfLinesInNames checks that lists refuse a name of two lines: the second may name a file.
func TestListOfLinesInNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "b\na.txt"} {
		writeFile(t, filepath.Join(dir, name), "The ferry leaves the harbour at seven in the morning.")
	}
	runProgram(t, dir, 0, "dedup", "-q", "--docs", "1k", "--format", "text", "--report", "r.jsonl", ".")
	runProgram(t, dir, 0, "report", "kept", "--format", "text", "r.jsonl", ".", "--out", "kept.txt")
	_, stderr := runProgram(t, dir, 1, "report", "kept", "--format", "text", "--keep", "duplicates", "r.jsonl", ".", "--out", "others.txt")
	if !strings.Contains(stderr, `"b\na.txt" contains a line break`) {
		t.Error(stderr)
	}
}

// TestPackedInPacked checks that an archive is refused if its pages expand beyond 1 GiB and to more
// than a thousand times its size. The same limits hold for any compressed input.
func TestPackedInPacked(t *testing.T) {
	takesSeconds(t)
	t.Parallel()
	content := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped(make([]byte, 60<<20)))
	member := gzipped(fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: urn:x\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(content), content))
	dir := t.TempDir()
	bomb := filepath.Join(dir, "bomb.warc.gz")
	writeFile(t, bomb, strings.Repeat(string(member), 19))
	for _, args := range [][]string{{"read"}, {"dedup", "-q", "--docs", "1k", "--limit", "bad=-1", "-j", "2"}} {
		_, errs := runProgram(t, dir, exitFailed, append(args, bomb)...)
		if !strings.Contains(errs, "bomb.warc.gz: the bodies of its records: ") || !strings.Contains(errs, "--limit ratio=0") {
			t.Errorf("%s: %.300s", args, errs)
		}
	}
	if testing.Short() {
		return
	}
	if _, errs := runProgram(t, dir, exitBadRecords, "dedup", "-q", "--docs", "1k", "--limit", "bad=-1,ratio=0", bomb); strings.Contains(errs, "ratio") {
		t.Errorf("any ratio: %.300s", errs)
	}
}
