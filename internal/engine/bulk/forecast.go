package bulk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/firstseen/firstseen/corpus/parquet"
	"github.com/firstseen/firstseen/dedup"
)

// A Forecast estimates a decision from samples of its marks and its shards.
type Forecast struct {
	Marks     uint64
	Documents uint64 // with a marked key
	Bytes     int64  // peak memory of the process
}

const (
	sampleWindows   = 64
	sampleWindow    = 64 << 10 // bytes
	sampleGroups    = 16       // of a Parquet file
	sampleNumbersOf = 4 << 10  // each
	sampleRecords   = 256      // of each sampled shard
	keyBytes        = 20       // of a key in a key table, at most: 12 bytes a slot, three fifths full
	growth          = 1.25     // of a slice that grows by append
	sampledBytes    = 48       // of a key in the sample, a Go map
	processBytes    = 64 << 20
	partBytes       = 4 << 20  // of a file of marks: a page of Parquet, decoded
	pieceBytes      = 12 << 20 // of a frame that is read and decided, for each goroutine
	collectionRatio = 1.25     // see debug.SetGCPercent: garbage may grow to a quarter
)

// Expect forecasts a decision. A marked key has two or more places, so there are at most half as
// many keys as marks. Compressed marks are an error.
func (d *Decision) Expect() (f Forecast, err error) {
	parts, lines, owners, err := sampleMarks(d.Marks)
	if err != nil {
		return f, err
	}
	rows, documents := uint64(0), uint64(0)
	for _, m := range d.Set {
		rows, documents = rows+m.Rows, documents+m.Documents
	}
	owners = min(owners, float64(documents)) // parts may have marks of the same ones
	if owners > float64(maxDocuments) {
		return f, fmt.Errorf("%w: about %.3g documents have a marked key, and a decision holds %.3g", errTable, owners, float64(maxDocuments))
	}
	entry, err := d.sampleEntries()
	if err != nil {
		return f, err
	}
	f.Marks, f.Documents = uint64(lines), uint64(owners)
	keys := lines / 2
	table := keys*keyBytes + (lines-keys)*8*growth + owners*(8*growth+entry)
	sample := min(rows, max(firstKeys, min(rows>>sampleBits, sampleKeys))) * sampledBytes
	f.Bytes = processBytes + int64(max(d.Jobs, 1))*pieceBytes + int64(parts)*partBytes + int64(sample) + int64(table*collectionRatio)
	return f, nil
}

// sampleMarks returns the number of files of marks, and estimates those of lines and of documents.
func sampleMarks(name string) (parts int, lines, owners float64, err error) {
	names, err := namesOfMarks(name)
	for _, name := range names {
		l, o, err := sampleFile(name)
		if err != nil {
			return 0, 0, 0, err
		}
		lines, owners = lines+l, owners+o
	}
	return len(names), lines, owners, err
}

func sampleFile(name string) (lines, owners float64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close() // only read
	switch numbers, err := openNumbers(f); {
	case err != nil:
		return 0, 0, err
	case numbers != nil:
		return sampleNumbers(numbers)
	}
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	window := make([]byte, sampleWindow)
	read := 0
	step := max(info.Size()/sampleWindows, sampleWindow)
	for at := int64(0); at < info.Size(); at += step {
		n, err := f.ReadAt(window, at)
		if err != nil && err != io.EOF {
			return 0, 0, err
		}
		l, o, err := countMarks(window[:n])
		if err != nil {
			return 0, 0, err
		}
		read, lines, owners = read+n, lines+l, owners+o
	}
	if read > 0 {
		whole := float64(info.Size()) / float64(read)
		lines, owners = lines*whole, owners*whole
	}
	return lines, owners, nil
}

// sampleNumbers estimates marks by some row groups of a Parquet file.
func sampleNumbers(numbers *parquet.Numbers) (rows, owners float64, err error) {
	rows = float64(numbers.Rows())
	last, read := Place(0), 0.
	for {
		n, err := numbers.Next()
		switch p := Place(n).owner(); {
		case err == io.EOF:
			return rows, owners * rows / max(1, read), nil
		case err != nil:
			return 0, 0, err
		case read == 0 || p != last:
			owners, last = owners+1, p
		}
		if read++; int(read)%sampleNumbersOf == 0 {
			numbers.Skip(numbers.Groups() / sampleGroups)
		}
	}
}

// countMarks counts the lines of a window, and how often the document changes.
func countMarks(window []byte) (lines, owners float64, err error) {
	var last Place
	for i, line := range bytes.Split(window, []byte("\n")) {
		if i == 0 || len(line) == 0 { // the first may be cut
			lines++
			continue
		}
		p, ok := parsePlace(bytes.TrimRight(line, "\r"))
		if !ok {
			return 0, 0, ErrMarks
		}
		lines++
		if p.owner() != last { // a cut last line may count one too many
			owners++
		}
		last = p.owner()
	}
	return lines, owners + 1, nil
}

// sampleEntries returns the mean bytes of a document in the table beside its keys. It decides the
// first documents of at most sampleWindows shards, without any marks.
func (d *Decision) sampleEntries() (mean float64, err error) {
	table, deduper, err := d.begin()
	if err != nil {
		return 0, err
	}
	errEnough := errors.New("enough")
	var doc Doc
	for i := 0; i < len(d.Set); i += 1 + len(d.Set)/sampleWindows {
		n := 0
		err := d.Set[i].eachRecord(context.Background(), func(_ *Manifest, _ Place, record []byte) error {
			if n++; n > sampleRecords {
				return errEnough
			}
			err := doc.read(record)
			for i := range doc.Sketch.Features {
				doc.Sketch.Features[i].Key = 0 // no name of a marked key
			}
			doc.Sketch.Whole = 0
			if err == nil {
				_, err = deduper.Decide(dedup.Document{ID: string(doc.ID), Sketch: &doc.Sketch})
			}
			return err
		})
		if err != nil && !errors.Is(err, errEnough) {
			return 0, err
		}
	}
	return float64(table.arena.used()) / float64(max(len(table.docs), 1)), nil
}
