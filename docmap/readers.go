package docmap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// One process writes a table, and any number may read it meanwhile: each the state that
// was there when it came, which is that of a transaction. bbolt itself has the writer
// keep everybody out, because it uses the pages of earlier states again, and knows of
// none but its own readers. So readers of other processes sign in at a desk, a file
// beside the table, and the writer holds a transaction of its own open on every state
// that somebody has signed in for.
//
//   - A reader holds a shared lock on the desk as long as it reads. It opens a snapshot,
//     appends the number of its transaction to the desk, and looks whether that is still
//     the newest; if not, it tries again.
//   - With each transaction the writer opens a snapshot of the newest state, and keeps it
//     until it has looked at the desk before the next. So whoever finds that its state is
//     the newest after having signed in finds it held by the next look at the desk. Where
//     nobody holds a lock the desk is emptied.
//   - A process that begins to write finds out whether all who read do so in the newest
//     state; the snapshots of a writer that was killed are gone with it.
//   - Where the file is about to outgrow its mapping no snapshot may be open: the writer
//     locks the desk, which waits for the readers and keeps others waiting.
//   - A reader signs out. Of one that was killed the state is held until nobody reads.

// readersSuffix is added to the name of a table for its desk, which is there as long as
// somebody writes to it and, after a kill, until the next one does.
const readersSuffix = ".readers"

// growthRoom is how much of the mapping has to be left for snapshots to be held.
const growthRoom = 1 << 30

// ReadBesideWriter says whether a table can be read while another process writes it. That
// is so where locks are those of flock and address space is not short.
const ReadBesideWriter = canShare

// A readers is the writer's side.
type readers struct {
	file   *os.File
	mapped int64       // length of bbolt's mapping
	read   int64       // of file
	wanted map[int]int // transactions for which readers have signed in, how many each
	last   *bbolt.Tx
	held   []*bbolt.Tx
	alone  bool // nobody can come
}

// admitReaders lets readers in, once the table is open for writing.
func (t *Table) admitReaders(table *os.File, mapped int64) (err error) {
	if t.opt.Temporary || mapped == 0 || !canShare {
		return nil
	}
	d := &readers{mapped: mapped}
	if d.file, err = os.OpenFile(t.path+readersSuffix, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return fmt.Errorf("opening the table for readers beside: %w", err)
	}
	t.readers = d
	if err := t.waitForOldReaders(); err != nil {
		return err
	}
	return share(table)
}

// waitForOldReaders wants all who read to do so in the newest state.
func (t *Table) waitForOldReaders() error {
	for end := time.Now().Add(lockPatience); ; time.Sleep(lockPatience / 50) {
		free, err := t.readers.look()
		if err != nil || free {
			return err
		}
		now, err := newest(t.db)
		if err != nil || t.readers.onlyWant(now) {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: %w by a process that reads an earlier state of it, from before the last writer was stopped%s: wait for it to end", t.path, ErrLocked, holders(t.readers.file.Name()))
		}
	}
}

// onlyWant says that nobody has signed in for another transaction.
func (d *readers) onlyWant(id int) bool {
	return len(d.wanted) == 0 || len(d.wanted) == 1 && d.wanted[id] > 0
}

// signedOut is set in the number of a transaction that a reader needs no more.
const signedOut = 1 << 63

// look reads who has signed in, and out. free says that nobody reads.
func (d *readers) look() (free bool, err error) {
	if free, err = tryLock(d.file); err != nil {
		return false, err
	}
	if free {
		clear(d.wanted)
		d.read = 0
		return true, errors.Join(d.file.Truncate(0), unlock(d.file))
	}
	for b := make([]byte, 8); ; d.read += 8 {
		if n, _ := d.file.ReadAt(b, d.read); n < len(b) {
			return false, nil
		}
		d.note(binary.LittleEndian.Uint64(b))
	}
}

func (d *readers) note(sign uint64) {
	if d.wanted == nil {
		d.wanted = map[int]int{}
	}
	id := int(sign &^ signedOut)
	if sign&signedOut == 0 {
		d.wanted[id]++
		return
	}
	if d.wanted[id]--; d.wanted[id] <= 0 {
		delete(d.wanted, id)
	}
}

// beforeUpdate makes sure that the transaction to come changes no page that somebody
// reads. size is the length of the file.
func (d *readers) beforeUpdate(size int64) error {
	if d == nil {
		return nil
	}
	if size+growthRoom > d.mapped {
		if err := lock(d.file); err != nil {
			return err
		}
		d.alone = true
		clear(d.wanted)
		d.read = 0
		return errors.Join(d.release(), d.file.Truncate(0))
	}
	_, err := d.look()
	if err != nil {
		return err
	}
	if d.last != nil {
		d.held, d.last = append(d.held, d.last), nil
	}
	d.held = slices.DeleteFunc(d.held, func(tx *bbolt.Tx) bool {
		drop := d.wanted[tx.ID()] == 0
		if drop {
			err = errors.Join(err, tx.Rollback())
		}
		return drop
	})
	return err
}

// hold opens a snapshot of the newest state, which a transaction that has begun will leave
// behind. Before it has, bbolt would keep the pages of one state more for it.
func (d *readers) hold(db *bbolt.DB) (err error) {
	if d != nil && !d.alone {
		d.last, err = db.Begin(false)
	}
	return err
}

// afterUpdate follows it.
func (d *readers) afterUpdate() error {
	if d == nil || !d.alone {
		return nil
	}
	d.alone = false
	return unlock(d.file)
}

// release closes all snapshots.
func (d *readers) release() (err error) {
	if d.last != nil {
		d.held = append(d.held, d.last)
	}
	for _, tx := range d.held {
		err = errors.Join(err, tx.Rollback())
	}
	d.last, d.held = nil, nil
	return err
}

// close lets nobody in any more. Those who read stay where they are: the file is not
// written, and who writes it next looks for them.
func (d *readers) close(path string) error {
	if d == nil {
		return nil
	}
	err := d.release()
	if free, lockErr := tryLock(d.file); lockErr == nil && free {
		// Who opens it now finds out that it has lost its name.
		err = errors.Join(err, removeLeft(path+readersSuffix))
	}
	return errors.Join(err, d.file.Close())
}
