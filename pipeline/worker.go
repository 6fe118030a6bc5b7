package pipeline

import (
	"iter"
	"time"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// worker holds the private data of one goroutine that parses and extracts.
type worker struct {
	field     string // added to every record, "" for none
	parser    corpus.Parser
	extractor *feature.Extractor
	set       feature.Set
	help      func() // with the commit, if that needs any; nil without a pool
	linker    dedup.Linker
	store     func(dst []byte, file string, doc *corpus.Document) []byte // Job.Store
	parsed    func(*corpus.Block, iter.Seq[*corpus.Document]) error      // Job.Parsed
	latest    func() time.Time                                           // Job.latest if documents carry their times, else nil
}

// newWorker returns a worker. With annotations every record is answered.
func (j *Job) newWorker() (*worker, error) {
	field := ""
	if j.Annotate {
		field = AnnotationField
	}
	extractor, err := feature.NewExtractor(j.Scheme)
	if err != nil {
		return nil, err
	}
	w := &worker{field: field, extractor: extractor, store: j.Store, parsed: j.Parsed}
	if j.Window.Told {
		w.latest = j.latest
	}
	return w, nil
}

// all are the records of the block. Each is valid until the next.
func (b *block) all() iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		var doc corpus.Document
		for i := range b.records {
			r := &b.records[i]
			doc = corpus.Document{At: r.at, ID: r.id, Text: r.text, Bad: r.bad, Empty: !r.isDocument()}
			if !yield(&doc) {
				return
			}
		}
	}
}

// fill parses the block and extracts the features of its documents.
func (w *worker) fill(b *block) (err error) {
	if w.parser == nil {
		if w.parser, err = b.source.Format.NewParser(w.field); err != nil {
			return err
		}
	}
	b.records, b.features, b.data, b.added = b.records[:0], b.features[:0], b.data[:0], b.added[:0]
	for doc := range w.parser.Parse(&b.source) {
		if w.help != nil {
			w.help()
		}
		r := record{
			id: doc.ID, raw: doc.Raw, text: doc.Text, at: doc.At, slot: doc.Slot,
			sum: output.RecordSum(doc.Raw), empty: doc.Empty, other: doc.Other, bad: doc.Bad, time: doc.Time,
			first: len(b.features), firstData: len(b.data), firstAdded: len(b.added),
		}
		if r.isDocument() {
			w.extractor.ExtractFor(&w.set, doc.Text, doc.Exact)
			b.features = append(b.features, w.set.Features...)
			b.data = append(b.data, w.set.Data...)
			if w.latest != nil {
				b.added = appendTime(b.added, doc, w.latest)
			}
			if w.store != nil {
				b.added = w.store(b.added, b.source.File, doc)
			}
			r.set = w.set
		}
		b.records = append(b.records, r)
	}
	// Only now, when neither moves any more.
	for i := range b.records {
		r := &b.records[i]
		features, data := len(r.set.Features), len(r.set.Data)
		r.set.Features = b.features[r.first:][:features:features]
		r.set.Data = b.data[r.firstData:][:data:data]
		end := len(b.added)
		if i+1 < len(b.records) {
			end = b.records[i+1].firstAdded
		}
		r.added = b.added[r.firstAdded:end:end]
	}
	if w.help != nil {
		w.link(b)
	}
	if w.parsed != nil {
		return w.parsed(&b.source, b.all())
	}
	return nil
}

// link prepares the documents of a block for being decided together.
func (w *worker) link(b *block) {
	b.group.Reset()
	for i := range b.records {
		if r := &b.records[i]; r.isDocument() {
			b.group.Add(r.document())
		}
	}
	w.linker.Link(&b.group)
}
