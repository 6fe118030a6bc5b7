// Package revisit writes revisit records of web archives in place of removed ones.
package revisit

import (
	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/internal/base/fields"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/report"
)

// tagWebRecord tags the revisit data of a web record: docs/format.md, "Data of a document".
const tagWebRecord = 3

// Write makes a run over web archives store the data of revisit records, and write these records.
func Write(job *pipeline.Job, archive warc.Format) {
	if !archive.Revisit.Write {
		return
	}
	store := job.Store
	job.Store = func(dst []byte, file string, doc *corpus.Document) []byte {
		if store != nil {
			dst = store(dst, file, doc)
		}
		if of := archive.AppendWitness(nil, doc.Raw, doc.ID); of != nil {
			dst = fields.Append(dst, tagWebRecord, of)
		}
		return dst
	}
	job.Replace = func(w *output.Writer, r pipeline.Removal) (bool, error) {
		removed := warc.Removed{Raw: r.Raw, Of: r.Result.Of.ID, Verdict: r.Result.Verdict.String()}
		score, err := report.Share(r.Result.Score).MarshalJSON()
		if err == nil {
			removed.Score = string(score)
			removed.Own, _, err = r.Own.Field(tagWebRecord)
		}
		if err == nil {
			removed.Witness, _, err = r.Of.Field(tagWebRecord)
		}
		if err != nil {
			return false, err
		}
		return archive.Instead(w, removed)
	}
}
