package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/base/step"
)

// SetBatch puts documents kept from now on into a batch, for [Editor.Cancel]. "" means no batch.
func (x *Index) SetBatch(name string) error {
	switch {
	case x.closed:
		return errIndexClosed
	case x.table == nil && name == "":
		return nil
	case x.table == nil:
		return noTable(x.dir, "has no batches")
	}
	return x.table.SetBatch(name)
}

// NoteDependent records the witness of a document that was removed because of it, or sent again. If
// the witness is in this index, Dependents lists the document. The next checkpoint makes that
// durable.
func (x *Index) NoteDependent(id string, r *dedup.Result) {
	if x.closed || x.table == nil || r.Kept && !r.Again {
		return
	}
	before := uint32(x.before)
	if r.Of.Num != 0 {
		if r.Of.Num > before {
			x.table.NoteRemoved(r.Of.Num-before, id)
		}
		return
	}
	noted := map[string]bool{"": true} // a mosaic: once for each batch
	for i := range r.Also {
		if r.Also[i].Num <= before {
			continue
		}
		num := r.Also[i].Num - before
		if batch := x.table.BatchOf(num); !noted[batch] {
			noted[batch] = true
			x.table.NoteRemoved(num, id)
		}
	}
}

// decideReplacing is Decide under ReplaceSameID: a new version replaces the kept documents with its
// id. They stay if the text is unchanged, or occurs in another document.
func (x *Index) decideReplacing(doc dedup.Document) (dedup.Result, error) {
	earlier, err := x.table.ByID(doc.ID)
	if err != nil {
		return dedup.Result{}, err
	}
	if len(earlier) == 0 {
		return x.deduper.Decide(doc)
	}
	r, err := x.deduper.Check(doc.ID, doc.Sketch)
	if err == nil && r.Exact {
		r, err = x.deduper.Judge(doc) // it may have to be confirmed
	}
	if err != nil || r.Exact {
		return r, err
	}
	if _, err := x.table.Forget(earlier); err != nil {
		return dedup.Result{}, err
	}
	doc.Uncounted = true // the earlier ones are gone, and may come back
	r, err = x.deduper.Decide(doc)
	if err != nil || !r.Kept {
		x.table.Recall(earlier)
	}
	return r, err
}

// Forget takes back the documents of an id, and returns the number of live ones. The next
// checkpoint makes the change durable.
func (x *Index) Forget(id string) (n int, err error) {
	if x.table == nil {
		return 0, noTable(x.dir, cannotTakeBack)
	}
	nums, err := x.table.AllByID(id)
	if err != nil {
		return 0, err
	}
	return x.table.Forget(nums)
}

// Cancel takes back a batch and all its documents, and returns the number of live ones. The next
// checkpoint makes that durable. The error for an unknown batch is ErrNoBatch.
func (x *Index) Cancel(batch string) (n int, err error) {
	if x.table == nil {
		return 0, noTable(x.dir, cannotTakeBack)
	}
	nums, err := x.table.BatchDocs(batch)
	if err != nil {
		return 0, err
	}
	if n, err = x.table.Forget(nums); err != nil {
		return 0, err
	}
	return n, x.table.EndBatch(batch)
}

const cannotTakeBack = "cannot take documents back"

func noTable(dir, what string) error {
	return fmt.Errorf("index %s: an index without a side table %s: a filter knows no documents; use one with a table, made without --filter-only", dir, what)
}

// An Editor is an index open for taking documents back, by one goroutine at a time. It loads no
// filter: superfluous bits change no verdict. A change is visible at once, and Save makes it durable.
type Editor struct {
	x *Index // with only lock and table
}

// Edit opens the index in dir for taking documents back, and locks it as [Open] does. The error is
// ErrFollowed for an index that follows a log: even compacting would change verdicts.
func Edit(dir string) (*Editor, error) {
	p, err := lookAtIndex(dir)
	if err == nil {
		err = p.unserved(dir)
	}
	if err != nil {
		return nil, err
	}
	if !p.table {
		return nil, noTable(dir, cannotTakeBack)
	}
	x := newLocked(dir)
	if err := x.takeLock(); err != nil {
		return nil, err
	}
	e := &Editor{x: x}
	if err = e.open(); err == nil {
		err = errors.Join(p.refuseEmptied(dir, x.table), complete(dir, x.Value), x.unfollowed())
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// open opens the table. After an error the closed table stays, so that Close works.
func (e *Editor) open() error {
	table, err := docmap.Open(e.x.path(TableFile), docmap.Options{AsIs: true})
	if err == nil {
		e.x.table = table
	}
	return err
}

// Forget is [Index.Forget]. It saves the changes when they become many.
func (e *Editor) Forget(id string) (n int, err error) {
	n, err = e.x.Forget(id)
	if err == nil && e.x.table.Full() {
		err = e.Save()
	}
	return n, err
}

// Save makes all changes durable in one step.
func (e *Editor) Save() error { return e.x.table.SaveForgotten() }

// A Dependent is a document removed as a copy of a cancelled one.
type Dependent struct {
	ID    string // of the removed document
	Batch string // of the removed document, "" for none
	Of    string // id of the cancelled document
}

// Dependents calls f for the removed documents with a live witness in a batch, in order of removal.
// It skips documents of the batch itself.
func (e *Editor) Dependents(batch string, f func(Dependent) error) error {
	for r, err := range e.x.table.Removed() {
		if err != nil {
			return err
		}
		if e.x.table.BatchOf(r.Of) != batch || !e.x.table.Live(r.Of) {
			continue
		}
		doc, err := e.x.table.Doc(r.Of)
		if err != nil {
			return err
		}
		if err := f(Dependent{ID: r.ID, Batch: r.Batch, Of: doc.ID}); err != nil {
			return err
		}
	}
	return nil
}

// Cancel is [Index.Cancel], made durable in one step.
func (e *Editor) Cancel(batch string) (n int, err error) {
	if n, err = e.x.Cancel(batch); err != nil {
		return 0, err
	}
	return n, e.Save()
}

// Close releases the index. Changes after the last Save are lost.
func (e *Editor) Close() error { return e.x.Close() }

// Compacted is the result of Compact. The JSON form is a contract.
type Compacted struct {
	Before TableStats `json:"before"`
	After  TableStats `json:"after"`
	Filter bool       `json:"filter_rebuilt"`
}

// Compact rewrites the table without the documents taken back, which frees their space, and
// rebuilds the filter at its size. Each new file replaces the old one in one step, so a kill at any
// moment leaves a usable index. It needs disk space for a second table, and memory for the filter.
func (e *Editor) Compact(ctx context.Context) (c Compacted, err error) {
	c.Before = e.x.table.Stats()
	h, err := e.usableFilter()
	if err != nil {
		return c, err
	}
	if err := e.x.table.Compact(ctx); err != nil {
		return c, err
	}
	err = step.Done("compacted the table")
	if err == nil {
		err = e.open()
	}
	if err != nil {
		return c, fmt.Errorf("the table is compacted, and the filter is not yet: %w; compact once more", err)
	}
	c.After = e.x.table.Stats()
	if h == nil {
		return c, nil // the next run rebuilds it
	}
	err = e.rebuildFilter(ctx, h.Shape)
	c.Filter = err == nil
	return c, err
}

// usableFilter returns the header of the filter file, nil without one that the table follows.
func (e *Editor) usableFilter() (*bloomstore.Header, error) {
	h, err := bloomstore.ReadHeader(e.x.path(FilterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ok, err := follows(e.x.table, h.Stamp, nil)
	if !ok {
		return nil, err
	}
	return &h, nil
}

// rebuildFilter saves a filter without the keys of dead documents.
func (e *Editor) rebuildFilter(ctx context.Context, shape bloomstore.Shape) error {
	f, err := filterOf(ctx, shape, e.x.table, false)
	if err == nil {
		err = errors.Join(f.Save(ctx, e.x.path(FilterFile), tableStamp(e.x.table)), f.Close())
	}
	if err != nil {
		return fmt.Errorf("rebuilding the filter: %w", err)
	}
	return nil
}
