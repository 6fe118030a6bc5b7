package docmap

import (
	"errors"
	"iter"
	"os"

	"go.etcd.io/bbolt"

	"github.com/firstseen/firstseen/internal/base/step"
)

// A change is a write transaction. After its first error, which update returns, its methods do
// nothing. They create missing buckets. Changes in memory are made in tx.OnCommit.
type change struct {
	tx   *bbolt.Tx
	head header // the table's next header, for putHeader
	err  error
}

func (c *change) bucket(name []byte) (b *bbolt.Bucket) {
	if c.err == nil {
		b, c.err = c.tx.CreateBucketIfNotExists(name)
	}
	return b
}

func (c *change) put(bucket, key, value []byte) {
	if b := c.bucket(bucket); c.err == nil {
		c.err = b.Put(key, value)
	}
}

// add is put for ascending keys: it fills pages completely.
func (c *change) add(bucket []byte, num uint64, value []byte) {
	if b := c.bucket(bucket); c.err == nil {
		b.FillPercent = 1
		c.err = b.Put(binKey(num), value)
	}
}

func (c *change) delete(bucket, key []byte) {
	if b := c.bucket(bucket); c.err == nil {
		c.err = b.Delete(key)
	}
}

func (c *change) drop(bucket []byte) {
	if c.err == nil && c.tx.Bucket(bucket) != nil {
		c.err = c.tx.DeleteBucket(bucket)
	}
}

// update runs f in a write transaction. Through t, f reads the state before it.
func (t *Table) update(f func(c *change)) (err error) {
	if err := t.stopReading(); err != nil {
		return err
	}
	info, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	// bbolt grows the file in steps of this size.
	t.db.AllocSize = int(min(32<<20, max(64<<10, info.Size()/16)))
	tx, err := t.db.Begin(true)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	c := &change{tx: tx, head: t.head}
	if f(c); c.err != nil {
		return c.err
	}
	// With an open snapshot, the commit could wait forever to remap the file.
	if err := t.stopReading(); err != nil {
		return err
	}
	id := tx.ID()
	if err := tx.Commit(); err != nil {
		t.unsure = t.unsure || !t.before(id)
		return err
	}
	if t.committed != nil {
		t.committed()
	}
	if step.Committed != nil {
		step.Committed(t.path)
	}
	return nil
}

// before reports whether the file is as before transaction id, which failed. If only its last step
// failed, the sync of the header, the header is written all the same. The next transaction would
// then build on a state unknown to this Table.
func (t *Table) before(id int) bool {
	tx, err := t.db.Begin(false)
	if err != nil {
		return false
	}
	now := tx.ID()
	return tx.Rollback() == nil && now < id
}

// entries iterates over the keys and values of a bucket, beginning at from. A nil bucket has none.
func entries(b *bbolt.Bucket, from []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if b == nil {
			return
		}
		c := b.Cursor()
		for key, value := c.Seek(from); key != nil && yield(key, value); {
			key, value = c.Next()
		}
	}
}

// steps holds the work that checkpoints left to Step, and its piece in progress.
type steps struct {
	owed  []func() error
	next  func() (struct{}, bool) // resumes the first; nil before it begins
	stop  func()
	yield func(struct{}) bool // set while work is done in steps
	err   error               // of the piece that has ended
}

var errStopped = errors.New("the work of a checkpoint is left to a later one")

// stepBytes bounds the values in a transaction of Step: about 10 ms.
const stepBytes = 1 << 20

// Owes reports whether Step has work to do.
func (t *Table) Owes() bool { return len(t.steps.owed) > 0 }

// Step does one transaction of the work that checkpoints of a [Options.Stepwise] table left, and
// reports whether there is more. After an error, a later checkpoint resumes the work.
func (t *Table) Step() (more bool, err error) {
	s := &t.steps
	if !t.Owes() {
		return false, nil
	}
	if err := t.writable(); err != nil {
		return false, err
	}
	t.version++
	if s.next == nil {
		s.next, s.stop = iter.Pull(func(yield func(struct{}) bool) {
			s.yield = yield
			s.err = t.commit("merging", s.owed[0])
			s.yield = nil
		})
	}
	if _, paused := s.next(); paused {
		return true, nil
	}
	err = s.err
	s.next, s.owed, s.err = nil, s.owed[1:], nil
	return t.Owes(), err
}

// pause returns control to the caller of Step. Meanwhile, nothing writes runs.
func (t *Table) pause() error {
	if t.steps.yield != nil && !t.steps.yield(struct{}{}) {
		return errStopped
	}
	return nil
}

func (t *Table) updateStep(f func(c *change)) error {
	if err := t.update(f); err != nil {
		return err
	}
	return t.pause()
}

// finishSteps does all owed work, because no run may be added in the middle of it.
func (t *Table) finishSteps() error {
	for more := true; more; {
		var err error
		if more, err = t.Step(); err != nil {
			return err
		}
	}
	return nil
}
