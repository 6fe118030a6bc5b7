package cli

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/report"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// scriptCommands has the commands of scripts beyond those of testscript, by their usage. The last
// argument before "..." may be left out or repeated.
var scriptCommands = map[string]func(ts *testscript.TestScript, args []string){
	"exits code command args...":      scriptExits,
	"split file n prefix":             scriptSplit,
	"twice n file":                    scriptTwice,
	"documents from to file":          scriptDocuments,
	"unpack file.gz|file.zst file":    scriptUnpack,
	"joined folder file":              scriptJoined,
	"relations report file":           scriptRelations,
	"content index file":              scriptContent,
	"older index":                     scriptOlder,
	"flip file offset":                scriptFlip,
	"pad file n":                      scriptPad,
	"archive from to file":            scriptArchive,
	"encodings text file encoding...": scriptEncodings,
	"encode from to encoding mark...": scriptEncode,
	"pack archive folder":             scriptPack,
	"links archive":                   scriptLinks,
	"cut file":                        scriptCut,
}

// commandsOfScripts returns the commands, which check the number of their arguments.
func commandsOfScripts() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){"same": scriptSame}
	for usage, run := range scriptCommands {
		words := strings.Fields(usage)
		all[words[0]] = func(ts *testscript.TestScript, neg bool, args []string) {
			more, several := len(args)+1-len(words), strings.HasSuffix(usage, "...")
			if neg || more < -1 || more != 0 && !several {
				ts.Fatalf("usage: %s", usage)
			}
			run(ts, args)
		}
	}
	return all
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// scriptExits runs a command that must end with the given code.
func scriptExits(ts *testscript.TestScript, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if want := number(ts, args[0]); code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// scriptSame compares two files byte by byte.
func scriptSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same file file")
	}
	if equal := ts.ReadFile(args[0]) == ts.ReadFile(args[1]); equal == neg {
		ts.Fatalf("%s and %s: equal is %v", args[0], args[1], equal)
	}
}

// scriptSplit splits a file between lines into prefix0.jsonl to prefix(n-1).jsonl.
func scriptSplit(ts *testscript.TestScript, args []string) {
	lines := strings.SplitAfter(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	n := number(ts, args[1])
	for i := range n {
		part := strings.Join(lines[len(lines)*i/n:len(lines)*(i+1)/n], "")
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("%s%d.jsonl", args[2], i)), []byte(part), 0o666))
	}
}

// scriptTwice writes n documents, each twice in a row.
func scriptTwice(ts *testscript.TestScript, args []string) {
	var b strings.Builder
	for i := range number(ts, args[0]) {
		fmt.Fprintf(&b, "{\"id\":\"a%d\",\"text\":%q}\n{\"id\":\"b%d\",\"text\":%[2]q}\n", i, plainText(i), i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o666))
}

// scriptDocuments writes the documents in [from, to), which share nothing.
func scriptDocuments(ts *testscript.TestScript, args []string) {
	var b strings.Builder
	for i := number(ts, args[0]); i < number(ts, args[1]); i++ {
		b.WriteString(document(i) + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(b.String()), 0o666))
}

// scriptArchive writes the documents in [from, to) as pages of a web archive, with their requests.
// Every other page is followed by one not found. If the name ends in .gz, each record is a member.
func scriptArchive(ts *testscript.TestScript, args []string) {
	var file bytes.Buffer
	write := func(kind, uri, content string) {
		record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:%s>\r\nWARC-Target-URI: %s\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n"+
			"Content-Type: application/http;msgtype=%[1]s\r\nContent-Length: %[4]d\r\n\r\n%[5]s\r\n\r\n", kind, kind+uri, uri, len(content), content)
		if !strings.HasSuffix(args[2], ".gz") {
			file.WriteString(record)
			return
		}
		file.Write(gzipped([]byte(record)))
	}
	for i := number(ts, args[0]); i < number(ts, args[1]); i++ {
		uri := fmt.Sprintf("http://example.org/%d", i)
		write("request", uri, "GET / HTTP/1.1\r\n\r\n")
		page := fmt.Sprintf("<html><body><p>%s</p></body></html>", plainText(i))
		write("response", uri, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"+page)
		if i%2 == 0 {
			write("response", uri+"/none", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<p>not found</p>")
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), file.Bytes(), 0o666))
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// scriptEncodings writes a web archive with a text in several encodings, named in HTTP headers.
func scriptEncodings(ts *testscript.TestScript, args []string) {
	var file bytes.Buffer
	for _, name := range args[2:] {
		e, err := htmlindex.Get(name)
		ts.Check(err)
		page, err := e.NewEncoder().String("<!DOCTYPE html>\n<title>T</title>\n<p>" + ts.ReadFile(args[0]))
		ts.Check(err)
		content := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=" + name + "\r\n\r\n" + page
		fmt.Fprintf(&file, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://%s/\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", name, len(content), content)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), file.Bytes(), 0o666))
}

// scriptEncode writes a file in an encoding, with a byte order mark on request.
func scriptEncode(ts *testscript.TestScript, args []string) {
	e, err := htmlindex.Get(args[2])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	if len(args) > 3 {
		text = "\ufeff" + text
	}
	text, err = e.NewEncoder().String(text)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

func scriptUnpack(ts *testscript.TestScript, args []string) {
	var r io.Reader
	var err error
	if packed := strings.NewReader(ts.ReadFile(args[0])); filepath.Ext(args[0]) == ".gz" {
		r, err = gzip.NewReader(packed)
	} else {
		r, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1))
	}
	ts.Check(err)
	data, err := io.ReadAll(r)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

// scriptRelations writes the id, verdict and source of each line of a report.
func scriptRelations(ts *testscript.TestScript, args []string) {
	var b strings.Builder
	lines := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[0])))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line report.Reported
		ts.Check(json.Unmarshal(lines.Bytes(), &line))
		of := "-"
		if line.Of != nil {
			of = *line.Of
		}
		fmt.Fprintln(&b, line.ID, line.Verdict, of)
	}
	ts.Check(lines.Err())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o666))
}

// scriptContent writes the documents of an index and the holders of each key.
func scriptContent(ts *testscript.TestScript, args []string) {
	content, err := indexContent(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(content), 0o666))
}

// scriptOlder makes the table of an index without documents, by rules that are gone.
func scriptOlder(ts *testscript.TestScript, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o777))
	table, err := docmap.Open(filepath.Join(dir, index.TableFile), docmap.Options{Scheme: "fs1-u15b-xxh3-n50-w10"})
	ts.Check(err)
	ts.Check(table.Close())
}

func indexContent(dir string) (_ string, err error) {
	key, err := index.ReadKey(dir)
	if err != nil {
		return "", err
	}
	x, err := index.OpenReader(context.Background(), dir, key)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	var lines []string
	for doc, err := range x.Table.Docs(1) {
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("doc %+v", doc))
	}
	for posting, err := range x.Table.All() {
		if err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("key %+v", posting))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n", nil
}

// scriptFlip flips one bit of the byte at an offset. A negative offset counts from the end.
func scriptFlip(ts *testscript.TestScript, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	at := number(ts, args[1])
	if at < 0 {
		at += len(data)
	}
	data[at] ^= 0x10
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// scriptPad appends zeros to a file.
func scriptPad(ts *testscript.TestScript, args []string) {
	data := append([]byte(ts.ReadFile(args[0])), make([]byte, number(ts, args[1]))...)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// scriptPack packs a folder into an archive.
func scriptPack(ts *testscript.TestScript, args []string) {
	ts.Check(corpustest.Pack(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

// scriptLinks makes a tar archive of a link, a pipe, a device and a file named ../../up.jsonl.
func scriptLinks(ts *testscript.TestScript, args []string) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	line := []byte(`{"id":"one","text":"some text"}` + "\n")
	for _, h := range []tar.Header{
		{Name: "../../up.jsonl", Typeflag: tar.TypeReg, Size: int64(len(line))},
		{Name: "a.jsonl", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "pipe.jsonl", Typeflag: tar.TypeFifo},
		{Name: "device.jsonl", Typeflag: tar.TypeChar},
	} {
		ts.Check(w.WriteHeader(&h))
		_, err := w.Write(line[:h.Size])
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// scriptCut cuts off the second half of a file.
func scriptCut(ts *testscript.TestScript, args []string) {
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(len(ts.ReadFile(args[0]))/2)))
}

// scriptJoined concatenates the files in a folder, in the order of their names.
func scriptJoined(ts *testscript.TestScript, args []string) {
	files, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	all := ""
	for _, f := range files {
		all += ts.ReadFile(filepath.Join(args[0], f.Name()))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(all), 0o666))
}
