package warc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// TestAnswers covers HTTP that the standard allows, and violations found in practice.
func TestAnswers(t *testing.T) {
	const text = "a text of some words, which is one line\n"
	long := strings.Repeat("rubbish ", 10)
	for name, c := range map[string]struct{ content, want string }{
		"interim answers":       {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: image/png\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text, text},
		"an interim one alone":  {"HTTP/1.1 100 Continue\r\nContent-Type: text/plain\r\n\r\n", ""},
		"an error behind it":    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not found\r\nContent-Type: text/plain\r\n\r\n" + text, ""},
		"a transfer coding":     {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + string(chunked(gzipped([]byte(text)), 9)), text},
		"both":                  {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: br\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + string(chunked(gzipped(brotlied([]byte(text))), 9)), text},
		"two headers":           {"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Type: text/plain\r\ncontent-encoding:\r\n gzip\r\n\r\n" + string(gzipped(zlibbed([]byte(text)))), text},
		"two transfer headers":  {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + string(chunked(gzipped([]byte(text)), 9)), text},
		"told twice, done once": {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nTransfer-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text))), text},
		"rubbish behind gzip":   {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text))) + long, text},
		"a line end behind it":  {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text))) + "\r\n", text},
		"two members":           {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipped([]byte(text[:9]))) + string(gzipped([]byte(text[9:]))), text},
		"rubbish behind zstd":   {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: zstd\r\n\r\n" + string(zstded([]byte(text))) + long, text},
		"rubbish behind zlib":   {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: deflate\r\n\r\n" + string(zlibbed([]byte(text))) + long, text},
		"HTTP/2, no reason":     {"HTTP/2 200\r\ncontent-type: text/plain\r\n\r\n" + text, text},
	} {
		record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: urn:x\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(c.content), c.content)
		all, err := read(t, gzipped([]byte(record)), corpus.SourceConfig{})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == "" && len(all) == 0:
		case len(all) != 1 || all[0].bad != "" || all[0].text != c.want:
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestParts marks documents of which only the beginning was stored, and no others.
func TestParts(t *testing.T) {
	text := strings.Repeat("a text of some words, which is one line\n", 9)
	plain, packed := "Content-Type: text/plain\r\n\r\n"+text, gzipped([]byte(text))
	encoded := "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n"
	for name, c := range map[string]struct {
		field, content string
		part           bool
	}{
		"whole":                  {"WARC-Identified-Payload-Type: text/plain", plain, false},
		"truncated":              {"WARC-Truncated: length", plain, true},
		"truncated, not said so": {"WARC-Truncated:", plain, false},
		"first segment":          {"WARC-Segment-Number: 1", plain, true},
		"whole gzip":             {"WARC-Block-Digest: x", encoded + string(packed), false},
		"something behind gzip":  {"WARC-Block-Digest: x", encoded + string(packed) + "more", false},
		"gzip breaks off":        {"WARC-Block-Digest: x", encoded + string(packed[:len(packed)-9]), true},
	} {
		content := "HTTP/1.1 200 OK\r\n" + c.content
		record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\n%s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", c.field, len(content), content)
		whole := "WARC/1.1\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
		var parts []bool
		cfg := corpus.SourceConfig{Stdin: strings.NewReader(whole + record + whole)}
		err := corpustest.Each(warc.Format{}, stdin, cfg, func(_ *corpus.Block, doc *corpus.Document) {
			if parts = append(parts, doc.Part); doc.Bad != nil || !strings.HasPrefix(text, string(doc.Text)) && string(doc.Text) != "x" {
				t.Errorf("%s: %q, %v", name, doc.Text, doc.Bad)
			}
		})
		if want := []bool{false, c.part, false}; err != nil || !slices.Equal(parts, want) {
			t.Errorf("%s: %v, %v, want %v", name, parts, err, want)
		}
	}
}
