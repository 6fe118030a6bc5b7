package pipeline

import "github.com/firstseen/firstseen/dedup"

// Removal is a removed document, for [Job.Replace]. The data it points to is valid until that
// returns.
type Removal struct {
	Raw    []byte // the record as it came
	Result *dedup.Result
	Own    dedup.Record // only Added is set: the bytes Job.Store made of the document
	Of     dedup.Record // the stored record of the witness; zero if there is none
}

// instead writes the replacement in the output for a removed document.
func (c *committer) replace(rec *record, r *dedup.Result) error {
	if c.job.Replace == nil || c.out.Kept == nil {
		return nil
	}
	removal := Removal{Raw: rec.raw, Result: r, Own: dedup.Record{Added: rec.added}}
	if r.Of.Num != 0 && c.index.Table() != nil {
		kept, err := c.index.Kept(r.Of.Num)
		if err != nil {
			return err
		}
		removal.Of = kept.Record
	}
	revisit, err := c.job.Replace(c.out.Kept, removal)
	if revisit {
		c.tally.Revisits++
	}
	return err
}

// other writes a record that is no document, as it came.
func (o *outputs) other(rec *record) error {
	if o.Kept == nil {
		return nil
	}
	return o.format.Keep(o.Kept, rec.raw)
}
