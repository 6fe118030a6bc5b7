package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/pipeline"
	"github.com/firstseen/firstseen/internal/report"
)

// registerRevisit registers the flags about the replacement for a removed record of a WARC.
func registerRevisit(fs *pflag.FlagSet, r *warc.Revisit) {
	fs.BoolVar(&r.Write, "revisit", false, "write a revisit record to --out for a removed record with the payload of its witness, a metadata record for any other, and copy the revisit records of the inputs")
	oneOf(fs, &r.Keep, "near", "removed records with another payload than their witness: drop or keep", word("drop", false), word("keep", true))
}

// checkRevisits refuses revisit records if the format is not WARC.
func checkRevisits(r warc.Revisit, found corpus.Format) error {
	if _, ok := found.(warc.Format); r.Write && found != nil && !ok {
		return fmt.Errorf("--format warc:revisit writes records of web archives, and the inputs are %s: leave it out", found.Name())
	}
	return nil
}

// revisitText names the replacement for removed records, for the ledger of a run.
func revisitText(r warc.Revisit) string {
	if !r.Write {
		return ""
	}
	return fmt.Sprintf(" revisit, near kept %t", r.Keep)
}

// tagWebRecord is the field with the revisit data of a web record: docs/format.md, "Data of a
// document".
const tagWebRecord dedup.Tag = 3

// writeRevisits makes a run store the data of revisit records, and write these.
func (f *formats) writeRevisits(job *pipeline.Job) {
	archive := f.warc
	if !archive.Revisit.Write {
		return
	}
	store := job.Store
	job.Store = func(dst []byte, file string, doc *corpus.Document) []byte {
		if store != nil {
			dst = store(dst, file, doc)
		}
		if of := archive.AppendWitness(nil, doc.Raw, doc.ID); of != nil {
			dst = dedup.AppendField(dst, tagWebRecord, of)
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
