package warc_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

const bodyText = "<p>The body of a page, which was fetched twice.</p>"

// capture returns a response record. fields are header lines beyond those of every record.
func capture(uri, date, http, body string, fields ...string) []byte {
	content := "HTTP/1.1 200 OK\r\n" + http + "\r\n\r\n" + body
	head := []string{
		"WARC/1.1", "WARC-Type: response", "WARC-Record-ID: <urn:uuid:" + uri + date + ">", "WARC-Target-URI: " + uri,
		"WARC-Date: " + date, "Content-Type: application/http; msgtype=response", fmt.Sprintf("Content-Length: %d", len(content)),
	}
	return []byte(strings.Join(append(head, fields...), "\r\n") + "\r\n\r\n" + content)
}

func kept(fields ...string) []byte {
	return capture("http://x/1", "2024-01-01T00:00:00Z", "Content-Type: text/html", bodyText, fields...)
}

func again(http, body string, fields ...string) []byte {
	return capture("http://x/2", "2024-02-01T00:00:00Z", http, body, fields...)
}

func payloadDigest(of string) string {
	sum := sha1.Sum([]byte(of))
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// instead returns the record written for removed if kept is its witness.
func instead(t interface {
	Helper()
	Fatal(...any)
}, dir string, f warc.Format, kept, removed []byte,
) (written string, revisit bool) {
	t.Helper()
	w, err := output.Create(filepath.Join(dir, "out.warc"))
	if err == nil {
		revisit, err = f.Instead(w, warc.Removed{
			Raw: removed, Own: f.AppendWitness(nil, removed, []byte("http://x/2")), Of: "http://x/1",
			Witness: f.AppendWitness(nil, kept, []byte("http://x/1")), Verdict: "duplicate", Score: "0.9",
		})
	}
	if err == nil {
		err = w.Close()
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(filepath.Join(dir, "out.warc"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data), revisit
}

var revisits = warc.Format{Revisit: warc.Revisit{Write: true}}

// TestRevisitRecord compares a whole revisit record.
func TestRevisitRecord(t *testing.T) {
	removed := again("Content-Type: text/html\r\nX-Own: yes", bodyText, "WARC-IP-Address: 10.0.0.1", "X-Folded: a\r\n  b",
		"WARC-Block-Digest: sha1:OLD", "WARC-Payload-Digest: "+payloadDigest(bodyText), "WARC-Identified-Payload-Type: text/html")
	const http = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Own: yes\r\n\r\n"
	want := strings.Join([]string{
		"WARC/1.1", "WARC-Type: revisit", "WARC-Record-ID: <urn:uuid:ID>", "WARC-Target-URI: http://x/2", "WARC-Date: 2024-02-01T00:00:00Z",
		"WARC-IP-Address: 10.0.0.1", "X-Folded: a b", "WARC-Identified-Payload-Type: text/html",
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
		"WARC-Refers-To-Target-URI: http://x/1", "WARC-Refers-To-Date: 2024-01-01T00:00:00Z",
		"WARC-Payload-Digest: " + payloadDigest(bodyText), "WARC-Truncated: length", "WARC-Block-Digest: " + payloadDigest(http),
		"Content-Type: application/http; msgtype=response", fmt.Sprintf("Content-Length: %d", len(http)), "", http,
	}, "\r\n") + "\r\n\r\n"
	got, revisit := instead(t, t.TempDir(), revisits, kept(), removed)
	id := idOf(t, got)
	if got := strings.Replace(got, id, "<urn:uuid:ID>", 1); got != want || !revisit {
		t.Errorf("revisit %v:\n%s\nwant:\n%s", revisit, got, want)
	}
	if second, _ := instead(t, t.TempDir(), revisits, kept(), removed); second != got {
		t.Errorf("a second time:\n%s\nfirst:\n%s", second, got)
	}
	other, _ := instead(t, t.TempDir(), revisits, kept(), bytes.Replace(removed, []byte("10.0.0.1"), []byte("10.0.0.2"), 1))
	if idOf(t, other) == id {
		t.Error("two records have one id:", id)
	}
}

// TestFoldedAddress begins an address in the second line of its field. The id must be the same, and
// so must the address in written records.
func TestFoldedAddress(t *testing.T) {
	const field = "WARC-Target-URI: "
	for _, folded := range []string{"WARC-Target-URI:\r\n ", "WARC-Target-URI: \r\n\t", "WARC-Target-URI:\r\n \r\n  "} {
		for name, html := range map[string]string{"revisit": bodyText, "metadata": "Another body."} {
			plain := again("Content-Type: text/html", html)
			removed := bytes.Replace(plain, []byte(field), []byte(folded), 1)
			witness := bytes.Replace(kept(), []byte(field), []byte(folded), 1)
			all, err := read(t, append(bytes.Clone(removed), "\r\n\r\n"...), corpus.SourceConfig{})
			if err != nil || len(all) != 1 || all[0].id != "http://x/2" {
				t.Errorf("%q: %+v, %v", folded, all, err)
			}
			want, _ := instead(t, t.TempDir(), revisits, kept(), plain)
			got, _ := instead(t, t.TempDir(), revisits, witness, removed)
			if got = strings.Replace(got, idOf(t, got), idOf(t, want), 1); got != want || !strings.Contains(got, "WARC-Type: "+name) {
				t.Errorf("%q:\n%s\nwant:\n%s", folded, got, want)
			}
		}
	}
}

func idOf(t *testing.T, record string) string {
	t.Helper()
	_, rest, found := strings.Cut(record, "WARC-Record-ID: ")
	id, _, ended := strings.Cut(rest, "\r\n")
	if !found || !ended {
		t.Fatal("no id in", record)
	}
	return id
}

// TestInstead covers the records written for removed ones.
func TestInstead(t *testing.T) {
	const html = "Content-Type: text/html"
	const inChunks = html + "\r\nTransfer-Encoding: chunked"
	hex := func(of string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(of))) }
	resource := func(mime, content string, fields ...string) []byte {
		head := strings.Join(append([]string{
			"WARC/1.0", "WARC-Type: resource", "WARC-Target-URI: <http://x/1>", "WARC-Date: 2023-01-01", "Content-Type: " + mime,
			fmt.Sprintf("Content-Length: %d", len(content)),
		}, fields...), "\r\n")
		return []byte(head + "\r\n\r\n" + content)
	}
	conversion := bytes.Replace(resource("text/plain", bodyText), []byte("resource"), []byte("conversion"), 1)
	cutUp := string(chunked([]byte(bodyText), 7))
	for _, c := range []struct {
		name          string
		kept, removed []byte
		want          string // "" for nothing, "metadata", or the payload digest of a revisit record
	}{
		{"the same bytes", kept(), again(html, bodyText), payloadDigest(bodyText)},
		{"chunks", kept(), again(inChunks, cutUp), payloadDigest(bodyText)},
		{"chunks of other sizes", capture("http://x/1", "2024-01-01T00:00:00Z", inChunks, string(chunked([]byte(bodyText), 9))), again(inChunks, cutUp), payloadDigest(bodyText)},
		{"chunks put together", kept(), again(inChunks, bodyText), payloadDigest(bodyText)},
		{"chunks cut off", kept(), again(inChunks, strings.TrimSuffix(cutUp, "0\r\n\r\n")), "metadata"},
		{"both cut off in a chunk", capture("http://x/1", "2024-01-01T00:00:00Z", inChunks, cutUp[:len(cutUp)-9]), again(inChunks, cutUp[:len(cutUp)-9]), "metadata"},
		{"something behind chunks", kept(), again(inChunks, cutUp+"more"), "metadata"},
		{"another coding", kept(), again(html+"\r\nTransfer-Encoding: gzip, chunked", cutUp), "metadata"},
		{"another byte", kept(), again(html, strings.ToUpper(bodyText)), "metadata"},
		{"packed", kept(), again(html+"\r\nContent-Encoding: gzip", string(gzipped([]byte(bodyText)))), "metadata"},
		{"its digest is wrong", kept(), again(html, bodyText, "WARC-Payload-Digest: sha1:AAAA"), payloadDigest(bodyText)},
		{"it claims the digest", kept("WARC-Payload-Digest: " + payloadDigest(bodyText)), again(html, "Another body.", "WARC-Payload-Digest: "+payloadDigest(bodyText)), "metadata"},
		{"that of the witness is wrong", kept("WARC-Payload-Digest: sha1:AAAA"), again(html, bodyText), payloadDigest(bodyText)},
		{"that of the witness is of another body", kept("WARC-Payload-Digest: " + payloadDigest("Another body.")), again(html, bodyText), payloadDigest(bodyText)},
		{"the witness has SHA-256", kept("WARC-Payload-Digest: sha256:" + hex(bodyText)), again(html, bodyText), "sha256:" + hex(bodyText)},
		{"the witness has a digest of nobody's", kept("WARC-Payload-Digest: crc:" + hex(bodyText)), again(html, bodyText), payloadDigest(bodyText)},
		{"the witness has the digest of chunks", capture("http://x/1", "2024-01-01T00:00:00Z", inChunks, cutUp, "WARC-Payload-Digest: "+payloadDigest(cutUp)), again(html, bodyText), payloadDigest(cutUp)},
		{"the same capture again", kept(), kept(), ""},
		{"the same address, later", kept(), capture("http://x/1", "2024-01-01T00:00:01Z", html, bodyText), payloadDigest(bodyText)},
		{"the witness is a resource", resource("text/html", bodyText), again(html, bodyText), payloadDigest(bodyText)},
		{"it is a resource", kept(), resource("text/html", bodyText), payloadDigest(bodyText)},
		{"it is a conversion", kept(), conversion, "metadata"},
		{"the witness is a conversion", conversion, again(html, bodyText), "metadata"},
		{"the witness has no date", bytes.Replace(kept(), []byte("WARC-Date"), []byte("X-Date"), 1), again(html, bodyText), "metadata"},
		{"the witness has no address", bytes.Replace(kept(), []byte("WARC-Target-URI"), []byte("X-URI"), 1), again(html, bodyText), "metadata"},
		{"the witness is shorter than it says", kept()[:len(kept())-1], again(html, bodyText[:len(bodyText)-1]), "metadata"},
		{"a header without end", kept(), bytes.Replace(again(html, ""), []byte("text/html\r\n\r\n"), []byte("text/html-ab"), 1), "metadata"},
		{"nothing is stored of the witness", []byte("{}"), again(html, bodyText), "metadata"},
	} {
		for _, keep := range []bool{false, true} {
			f := revisits
			f.Revisit.Keep = keep
			got, revisit := instead(t, t.TempDir(), f, c.kept, c.removed)
			if revisit != strings.HasPrefix(c.want, "sha") {
				t.Errorf("%s: revisit %v", c.name, revisit)
			}
			rest, isThere := strings.CutPrefix(got, string(c.removed)+"\r\n\r\n")
			if isThere != (keep && c.want == "metadata") {
				t.Errorf("%s: the record itself is there: %v", c.name, isThere)
			}
			checkInstead(t, c.name, rest, c.want, keep)
		}
	}
}

func checkInstead(t *testing.T, name, got, want string, keep bool) {
	t.Helper()
	parts := []string{}
	switch want {
	case "":
		if got != "" {
			t.Errorf("%s: %s", name, got)
		}
		return
	case "metadata":
		parts = append(parts, "WARC-Type: metadata\r\n", "Content-Type: application/warc-fields\r\n",
			fmt.Sprintf("\r\n\r\nsoftware: firstseen\r\nverdict: duplicate\r\nof: http://x/1\r\nscore: 0.9\r\nkept: %v\r\n\r\n\r\n", keep))
		if strings.Contains(got, "WARC-Concurrent-To") && !keep {
			t.Errorf("%s: refers to what is not there: %s", name, got)
		}
	default:
		parts = append(parts, "WARC-Type: revisit\r\n", "WARC-Payload-Digest: "+want+"\r\n", "WARC-Refers-To-Target-URI: http://x/1\r\n")
	}
	for _, part := range parts {
		if strings.Count(got, part) != 1 {
			t.Errorf("%s: no %q in\n%s", name, part, got)
		}
	}
}

// TestInsteadIsRead checks that the record written for any removed one is copied when it is read,
// and that the next record is found after it. A revisit record must hold nothing of the body.
func TestInsteadIsRead(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := drawRecord(t, 1)
		if !m.doc {
			return
		}
		removed := m.bytes[: m.head+m.size : m.head+m.size]
		witness := removed
		if rapid.Bool().Draw(t, "another") {
			witness = kept()
		}
		if rapid.Bool().Draw(t, "later") {
			removed = bytes.Replace(removed, []byte("2024-05-06"), []byte("2024-05-07"), 1)
		}
		written, revisit := instead(t, dir, revisits, witness, removed)
		if written == "" {
			return
		}
		all, err := readFormat(dir, revisits, append([]byte(written), kept()...))
		if err != nil || len(all) != 2 || !all[0].Other || string(all[0].Raw)+"\r\n\r\n" != written || string(all[1].ID) != "http://x/1" {
			t.Fatalf("%v %+v\n%s", err, all, written)
		}
		if without, err := readFormat(dir, warc.Format{}, append([]byte(written), kept()...)); err != nil || len(without) != 1 {
			t.Fatalf("read as ever: %v %+v", err, without)
		}
		if revisit && bytes.Contains(all[0].Raw, []byte(m.text)) {
			t.Fatalf("the body is there: %s", written)
		}
	})
}

// readFormat reads a file and copies its documents.
func readFormat(dir string, f warc.Format, data []byte) (all []corpus.Document, err error) {
	path := filepath.Join(dir, "in.warc")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return nil, err
	}
	inputs := []input.Input{{Path: path, Name: "in.warc", Size: int64(len(data))}}
	err = corpustest.Each(f, inputs, corpus.SourceConfig{}, func(_ *corpus.Block, doc *corpus.Document) {
		d := *doc
		d.ID, d.Raw, d.Text = bytes.Clone(doc.ID), bytes.Clone(doc.Raw), bytes.Clone(doc.Text)
		all = append(all, d)
	})
	return all, err
}

// TestWitnessDamaged checks that a damaged witness is an error, never a wrong reference.
func TestWitnessDamaged(t *testing.T) {
	f := revisits
	whole := f.AppendWitness(nil, kept("WARC-Payload-Digest: sha256:"+fmt.Sprintf("%x", sha256.Sum256([]byte(bodyText)))), nil)
	removed := again("Content-Type: text/html", bodyText)
	own := f.AppendWitness(nil, removed, nil)
	w, err := output.Create(filepath.Join(t.TempDir(), "out.warc"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		_, err := f.Instead(w, warc.Removed{Raw: removed, Own: own, Witness: whole[:n:n], Of: "http://x/1", Verdict: "duplicate"})
		if atURI := n >= len(whole)-len("http://x/1"); (err == nil) != atURI {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	if _, err := f.Instead(w, warc.Removed{Raw: []byte(`{"text":"a line"}`), Verdict: "duplicate"}); err == nil {
		t.Error("a line of JSON was written as a record")
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
}
