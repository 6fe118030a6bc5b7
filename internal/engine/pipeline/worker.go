package pipeline

import (
	"iter"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/feature/passages"
)

type worker struct {
	job       *Job
	parser    corpus.Parser
	extractor *feature.Extractor
	set       feature.Set
}

func (b *block) all() iter.Seq[*corpus.Document] {
	return func(yield func(*corpus.Document) bool) {
		for i := range b.records {
			if !yield(&b.records[i].Document) {
				return
			}
		}
	}
}

func (w *worker) fill(b *block) (err error) {
	if w.parser == nil {
		field := ""
		if w.job.Annotate { // every record is answered
			field = AnnotationField
		}
		if w.extractor, err = feature.NewExtractor(w.job.Scheme); err == nil {
			w.parser, err = b.source.Format.NewParser(field)
		}
		if err != nil {
			return err
		}
	}
	b.records, b.features, b.data, b.added = b.records[:0], b.features[:0], b.data[:0], b.added[:0]
	b.picks, b.lists, b.words, b.places = b.picks[:0], b.lists[:0], b.words[:0], b.places[:0]
	for doc := range w.parser.Parse(&b.source) {
		added := len(b.added)
		r := record{Document: *doc, of: b, sum: output.RecordSum(doc.Raw)}
		if r.isDocument() {
			if w.job.Sketch == nil {
				w.extractor.ExtractFor(&w.set, doc.Text, doc.Exact)
			} else if err := w.job.Sketch(&w.set, doc.Raw); err != nil {
				return err
			}
			b.features = append(b.features, w.set.Features...)
			b.data = append(b.data, w.set.Data...)
			b.picks = append(b.picks, w.set.Picks...)
			b.lists = append(b.lists, w.set.PickList...)
			b.words = append(b.words, w.set.Hashes...)
			b.places = append(b.places, w.set.Places...)
			if w.job.Window.Told {
				b.added = w.job.appendTime(b.added, doc)
			}
			if w.job.Store != nil {
				b.added = w.job.Store(b.added, b.source.File, doc)
			}
			b.added = passages.AppendField(b.added, w.set.PickList)
			r.set, r.added = w.set, b.added[added:]
		}
		b.records = append(b.records, r)
	}
	b.share()
	if w.job.Workers > 1 { // the documents are decided together
		b.group.Reset()
		for i := range b.records {
			if r := &b.records[i]; r.isDocument() {
				b.group.Add(r.document())
			}
		}
		b.group.Link()
	}
	if w.job.Parsed != nil {
		return w.job.Parsed(&b.source, b.all())
	}
	return nil
}

// share gives each record its part of the block's slices, once none of these moves any more.
func (b *block) share() {
	features, data, picks, lists, added := b.features, b.data, b.picks, b.lists, b.added
	words, places := b.words, b.places
	for i := range b.records {
		r := &b.records[i]
		r.set.Features, features = cut(features, len(r.set.Features))
		r.set.Data, data = cut(data, len(r.set.Data))
		r.set.Picks, picks = cut(picks, len(r.set.Picks))
		r.set.PickList, lists = cut(lists, len(r.set.PickList))
		r.set.Hashes, words = cut(words, len(r.set.Hashes))
		r.set.Places, places = cut(places, len(r.set.Places))
		r.added, added = cut(added, len(r.added))
	}
}

func cut[T any](s []T, n int) (first, rest []T) { return s[:n:n], s[n:] }
