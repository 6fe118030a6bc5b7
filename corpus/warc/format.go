// Package warc reads web archives: WARC of version 0.17 to 1.1 (ISO 28500), including the WET of
// Common Crawl, and ARC of version 1.
//
// Documents are records of the types response, resource and conversion with a wanted status and
// media type. All other records are passed over: requests, metadata, revisits without content of
// their own, and wget's resources of its own logs. So are records of an ARC under other protocols
// than HTTP.
//
// Real files break the rules, so the reader is lenient:
//
//   - A record is as long as its Content-Length says if another record begins behind it, or if the
//     input or its compressed member ends there. Otherwise the record ends at the next header,
//     inside it or behind it. A record longer than the limit is not held to its end: a whole header
//     in it ends it, unless it is an archive itself.
//   - Header lines may be folded and end in LF, URIs may stand in angle brackets and have spaces,
//     blank lines may be missing.
//   - A body without chunks or compression is taken unchanged, even if its header announces them.
//   - Bytes outside any record are one bad record up to the next header, and so is a damaged member.
//
// Kept records are written byte for byte. In the place of a removed one [Format.Instead] writes a
// revisit record, if its payload equals an earlier one's. [Format.AppendWitness] makes the data to
// store for that. Digests in headers are not trusted.
package warc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/compress"
	"github.com/firstseen/firstseen/corpus/output"
)

// Format is WARC or ARC. Its zero value takes records with the status 200 and the [DefaultTypes],
// and texts in UTF-8.
type Format struct {
	corpus.Framed

	IDField string             // field of the header with the id, "" means WARC-Target-URI; an ARC has its URLs
	Status  []StatusRange      // of HTTP that documents have; none means 200
	Types   []string           // media types that documents have, in small letters; "any" is all; none means DefaultTypes
	Text    func() corpus.Text // makes texts, one for each parser; nil takes a body as it is
	MaxBody int                // bytes of a body when it is decompressed, 0 means corpus.DefaultMaxRecord
	Ratio   int                // bytes that a body is decompressed to for each of its own, 0 means compress.DefaultMaxRatio, negative any number
	ARC     bool               // the inputs are ARCs, which are not written
	Revisit Revisit            // the replacement for a removed record; the zero value writes none
}

// DefaultTypes are the media types of documents.
var DefaultTypes = []string{"text/html", "application/xhtml+xml", "text/plain"}

// StatusRange is a range of statuses of HTTP, both ends included.
type StatusRange struct{ From, To int }

// ParseStatus reads statuses as users write them: "200,203", "2xx" or "any".
func ParseStatus(text string) (list []StatusRange, err error) {
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "any" {
			return []StatusRange{{0, 999}}, nil
		}
		low, high := strings.ReplaceAll(word, "x", "0"), strings.ReplaceAll(word, "x", "9")
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || len(word) != 3 {
			return nil, fmt.Errorf("status %q: want statuses such as 200,203 or 2xx, or any", word)
		}
		list = append(list, StatusRange{from, to})
	}
	return list, nil
}

var _ corpus.Format = Format{}

// Name is "WARC" or "ARC".
func (f Format) Name() string {
	if f.ARC {
		return "ARC"
	}
	return "WARC"
}

// Endings are those of web archives.
func (f Format) Endings() []string {
	if f.ARC {
		return []string{".arc"}
	}
	return []string{".warc", ".wet", ".wat", ".wacz"}
}

// terminator is two empty lines, or one in an ARC.
func (f Format) terminator() []byte {
	if f.ARC {
		return []byte("\n")
	}
	return []byte("\r\n\r\n")
}

// Recognize recognizes a web archive by its first record.
func (f Format) Recognize(head []byte) bool {
	head = head[blank(head):]
	return f.ARC && isARC(head) || !f.ARC && isWARC(head)
}

// Frames returns what finds the records of one input.
func (f Format) Frames(maxRecord int) corpus.Frames { return &frames{format: f, max: maxRecord} }

func (f Format) maxBody() int { return cmp.Or(max(f.MaxBody, 0), corpus.DefaultMaxRecord) }

// leastInflated is how many bytes any body may be decompressed to: less than a thousand times
// as many as the shortest records have.
const leastInflated = 128 << 10

// inflatable is how many bytes a body may be decompressed to, all encodings together.
func (f Format) inflatable(body int) int64 {
	ratio := int64(f.Ratio)
	switch {
	case ratio < 0:
		return math.MaxInt64
	case ratio == 0:
		ratio = compress.DefaultMaxRatio
	}
	return max(leastInflated, int64(body)*min(ratio, math.MaxInt64/int64(max(body, 1))))
}

// NewParser returns a parser for one goroutine. Records cannot be annotated.
func (f Format) NewParser(annotate string) (corpus.Parser, error) {
	if annotate != "" {
		return nil, errors.New("--annotate adds a field to lines of JSON, and the inputs are web archives: leave it out, and read the verdicts in --report")
	}
	return &parser{format: f, texts: corpus.NewTexts(f.Text), plain: corpus.NewTexts(nil)}, nil
}

// Keep writes a record as it came, decompressed: into a compressed output as a member or
// frame of its own, so that it can be found by its offset. Of an ARC it fails.
func (f Format) Keep(w *output.Writer, raw []byte) error {
	if f.ARC {
		return ErrARC
	}
	return w.WriteAlone(raw, f.terminator())
}

// ErrARC says that no ARC is written: each begins with a record about itself, which only its
// maker can write, and without it readers refuse the file.
var ErrARC = errors.New("ARC files are read and not written: make WARC files of them first, as warcio recompress IN.arc.gz OUT.warc.gz does, or leave --out away and read in --report which records to leave out")
