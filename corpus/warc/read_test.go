package warc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/testing/corpustest"
)

// got is the content of a record.
type got struct {
	id, text, bad, raw string
	at                 corpus.Place
	time               time.Time
}

var stdin = corpustest.Stdin

// read reads an input to its end or an error.
func read(tb rapid.TB, stored []byte, cfg corpus.SourceConfig) ([]got, error) {
	tb.Helper()
	cfg.Stdin = bytes.NewReader(stored)
	return readFrom(tb, stdin, warc.Format{}, cfg)
}

func readFrom(tb rapid.TB, inputs []input.Input, format warc.Format, cfg corpus.SourceConfig) (all []got, err error) {
	tb.Helper()
	last := corpus.Place{}
	input := 0
	err = corpustest.Each(format, inputs, cfg, func(b *corpus.Block, doc *corpus.Document) {
		if b.Input != input {
			last, input = corpus.Place{}, b.Input
		}
		g := got{id: string(doc.ID), text: string(doc.Text), raw: string(doc.Raw), at: doc.At, time: doc.Time}
		if doc.Bad != nil {
			g.bad = doc.Bad.Reason
		}
		if doc.At.Part < last.Part || doc.At.Part == last.Part && doc.At.Record <= last.Record {
			tb.Fatalf("%v stands behind %v, also bad records", doc.At, last)
		}
		last = doc.At
		all = append(all, g)
	})
	return all, err
}

// want compares the documents that were read with the generated ones.
func want(tb interface {
	Helper()
	Fatalf(string, ...any)
}, name string, have []got, records []made,
) {
	tb.Helper()
	n := 0
	for _, m := range records {
		if !m.doc {
			continue
		}
		if n >= len(have) || have[n].bad != "" || have[n].id != m.id || have[n].text != m.text {
			tb.Fatalf("%s: document %d is not %q %q:\n%+v\n%q", name, n, m.id, m.text, have[min(n, len(have)):min(n+2, len(have))], m.bytes)
		}
		n++
	}
	if n != len(have) {
		tb.Fatalf("%s: %d documents, want %d: %+v", name, len(have), n, have[n])
	}
}

func documents(records []made) (n int) {
	for _, m := range records {
		if m.doc {
			n++
		}
	}
	return n
}

// file is an encoding of the records.
type file struct {
	name string
	data []byte
}

// variants returns the encodings of records in a fixed order, so that draws are reproducible.
func variants(t *rapid.T, records []made) []file {
	data := plain(records)
	files := []file{{"plain", data}, {"gzip of all", gzipped(data)}, {"zstd of all", zstded(data)}}
	for _, p := range memberwise() {
		f := file{p.name, bytes.Clone(p.head)}
		for _, m := range records {
			f.data = append(f.data, p.member(m.bytes)...)
		}
		files = append(files, f)
	}
	// Members that end anywhere, as bgzip writes them.
	var pieces []byte
	for rest := data; len(rest) > 0; {
		n := min(rapid.IntRange(1, 700).Draw(t, "piece"), len(rest))
		pieces, rest = append(pieces, gzipped(rest[:n])...), rest[n:]
	}
	return append(files, file{"gzip in pieces", pieces})
}

// TestReadBack reads random records back from every encoding, in blocks and reads of any size.
func TestReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt)
		for _, v := range variants(rt, records) {
			name, file := v.name, v.data
			cfg := corpus.SourceConfig{BlockSize: rapid.IntRange(1, 2000).Draw(rt, "block"), Stdin: bytes.NewReader(file)}
			if rapid.Bool().Draw(rt, "small reads") {
				cfg.Stdin = iotest.DataErrReader(iotest.HalfReader(cfg.Stdin))
			}
			have, err := readFrom(t, stdin, warc.Format{}, cfg)
			if err != nil {
				rt.Fatalf("%s: %v", name, err)
			}
			want(rt, name, have, records)
		}
	})
}

// TestSkipTo resumes after every document.
func TestSkipTo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt)
		for _, v := range variants(rt, records) {
			name, file := v.name, v.data
			all, err := read(t, file, corpus.SourceConfig{})
			if err != nil {
				rt.Fatal(err)
			}
			sum := uint64(0)
			for i, g := range all {
				sum = output.AddRecord(sum, output.RecordSum([]byte(g.raw)))
				// Block sizes around those of records, so that short records follow long ones.
				cfg := corpus.SourceConfig{BlockSize: 100 + 150*(i%4), SkipTo: g.at.Next(), SkipSum: sum}
				have, err := read(t, file, cfg)
				if err != nil || fmt.Sprint(have) != fmt.Sprint(all[i+1:]) {
					rt.Fatalf("%s behind %v: %v, %v", name, g.at, have, err)
				}
				cfg.SkipSum++
				if _, err := read(t, file, cfg); err == nil || !strings.Contains(err.Error(), "was changed") {
					rt.Fatalf("%s behind %v, another sum: %v", name, g.at, err)
				}
			}
		}
	})
}

// goesOn resumes after each of the first 12 records. all holds every record, bad ones too.
func goesOn(tb rapid.TB, in input.Input, stored []byte, all []got) {
	tb.Helper()
	sum := uint64(0)
	for i, g := range all[:min(len(all), 12)] {
		sum = output.AddRecord(sum, output.RecordSum([]byte(g.raw)))
		cfg := corpus.SourceConfig{BlockSize: 100 + 150*(i%4), SkipTo: g.at.Next(), SkipSum: sum, Stdin: bytes.NewReader(stored)}
		have, err := readFrom(tb, []input.Input{in}, warc.Format{}, cfg)
		if err != nil || fmt.Sprint(have) != fmt.Sprint(all[i+1:]) {
			tb.Fatalf("behind %v: %v, %v, want %v", g.at, have, err, all[i+1:])
		}
	}
}

// TestFlippedMember flips a bit in a member. The member's offset is reported once, or twice if its
// header is damaged, and no other record is lost.
func TestFlippedMember(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt)
		for _, p := range memberwise() {
			broken := rapid.IntRange(0, len(records)-1).Draw(rt, "broken")
			file := bytes.Clone(p.head)
			at, end := 0, 0
			for i, m := range records {
				member := p.member(m.bytes)
				if i == broken {
					at = len(file)
					bit := rapid.IntRange(0, 8*len(member)-1).Draw(rt, "bit")
					member[bit/8] ^= 1 << (bit % 8)
				}
				if file = append(file, member...); i == broken {
					end = len(file)
				}
			}
			named := stdin[0] // if even the magic bytes are damaged, the name counts
			named.Name += p.ending
			have, err := readFrom(rt, []input.Input{named}, warc.Format{}, corpus.SourceConfig{Stdin: bytes.NewReader(file), BlockSize: 300})
			if err != nil {
				rt.Fatalf("%s: %v", p.name, err)
			}
			goesOn(rt, named, file, have)
			var rest []got
			bad := 0
			for _, g := range have {
				if g.bad == "" {
					rest = append(rest, g)
					continue
				}
				if bad++; g.at.Part < int64(at) || g.at.Part >= int64(end) {
					rt.Fatalf("%s: bad record at %v, want %d to %d: %s", p.name, g.at, at, end, g.bad)
				}
			}
			others := append(append([]made(nil), records[:broken]...), records[broken+1:]...)
			if bad == 0 || len(rest) == documents(records) {
				// The bit may be unused, as in the time of a gzip header, or may detach the
				// checksum, which then counts as rubbish.
				others = records
			}
			if bad > 2 { // the member, and its record's header
				rt.Fatalf("%s: %d bad records", p.name, bad)
			}
			want(rt, p.name, rest, others)
		}
	})
}

// TestRubbish reports each piece of rubbish between records once, and loses nothing else.
func TestRubbish(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rapid.Check(t, func(rt *rapid.T) {
		records := drawRecords(rt)
		at := rapid.IntRange(1, len(records)).Draw(rt, "at")
		rubbish := make([]byte, rapid.IntRange(1, 300_000).Draw(rt, "rubbish"))
		for i := range rubbish {
			rubbish[i] = byte(random.Uint32()) | 0x81
		}
		for i := range records {
			m := &records[i]
			m.bytes = append(m.bytes[:len(m.bytes)-m.blank], "\r\n\r\n"...)
		}
		pieces := memberwise()
		pieces = append(pieces, packed{"plain", "", nil, func(b []byte) []byte { return b }})
		for _, p := range pieces {
			file := bytes.Clone(p.head)
			for i, m := range records {
				if i == at {
					file = append(file, rubbish...)
				}
				file = append(file, p.member(m.bytes)...)
			}
			if at == len(records) {
				file = append(file, rubbish...)
			}
			have, err := readFrom(rt, stdin, warc.Format{}, corpus.SourceConfig{Stdin: bytes.NewReader(file)})
			if err != nil {
				rt.Fatalf("%s: %v", p.name, err)
			}
			goesOn(rt, stdin[0], file, have)
			var rest []got
			bad := 0
			for _, g := range have {
				if g.bad == "" {
					rest = append(rest, g)
				} else {
					bad++
				}
			}
			if bad != 1 {
				rt.Fatalf("%s: %d bad records for one piece of rubbish of %d bytes: %+v", p.name, bad, len(rubbish), have)
			}
			want(rt, p.name, rest, records)
		}
	})
}
