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

// One process writes a table while others read it, each the state of one transaction. bbolt
// alone would keep them out: it uses the pages of earlier states again, and knows only the
// readers of its own process. So readers of other processes sign in, in a file beside the
// table. The writer holds a snapshot of every state with a reader.
//
//   - A reader holds a shared lock on the sign-in file as long as it reads. It opens a
//     snapshot, appends its transaction's number to the file, and checks that this is still
//     the newest transaction. If not, it tries again.
//   - With each transaction the writer opens a snapshot of the newest state. It keeps that
//     until it has read the sign-in file before its next transaction. So a reader that finds
//     its state still newest after signing in is seen in time.
//   - If no reader holds a lock, the writer empties the file.
//   - A killed writer's snapshots are gone. A new writer therefore waits until all readers
//     read the newest state.
//   - Before the file outgrows its mapping, all snapshots must be closed: the writer locks
//     the sign-in file. That waits for present readers and keeps new ones waiting.
//   - A reader signs out. If it is killed, its state stays held until the last reader leaves.

// readersSuffix is added to a table's name for the sign-in file. The file exists while a process
// writes the table and, after a kill, until the next writer starts.
const readersSuffix = ".readers"

// growthRoom is the part of the mapping that must stay free while snapshots are held.
const growthRoom = 1 << 30

// ReadBesideWriter reports whether a table can be read while another process writes it. That
// needs the locks of flock and a large address space.
const ReadBesideWriter = canShare

// readers is the writer's side of the protocol above.
type readers struct {
	file   *os.File
	mapped int64       // length of bbolt's mapping
	read   int64       // of file
	wanted map[int]int // number of readers signed in, by transaction
	last   *bbolt.Tx
	held   []*bbolt.Tx
	alone  bool // the file is locked: no reader can sign in
}

// admitReaders lets readers in, once the table is open for writing.
func (t *Table) admitReaders(table *os.File, mapped int64) (err error) {
	if t.opt.Temporary || mapped == 0 || !canShare {
		return nil
	}
	d := &readers{mapped: mapped, wanted: map[int]int{}}
	if d.file, err = os.OpenFile(t.path+readersSuffix, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return fmt.Errorf("opening the table for readers beside: %w", err)
	}
	t.readers = d
	if err := t.waitForOldReaders(); err != nil {
		return err
	}
	return lockShared(table) // which other writers respect and readers pass
}

// waitForOldReaders waits until every reader reads the newest state.
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
			return fmt.Errorf("%s: %w by a process still reading a state from before the last writer was stopped%s: wait for it to end", t.path, ErrLocked, holders(t.readers.file.Name()))
		}
	}
}

// onlyWant reports whether no reader has signed in for another transaction.
func (d *readers) onlyWant(id int) bool {
	return len(d.wanted) == 0 || len(d.wanted) == 1 && d.wanted[id] > 0
}

// signedOut is set in the number of a transaction when its reader signs out.
const signedOut = 1 << 63

// look reads the sign-ins and sign-outs since the last look. free means that there is no reader.
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
	id := int(sign &^ signedOut)
	if sign&signedOut == 0 {
		d.wanted[id]++
		return
	}
	if d.wanted[id]--; d.wanted[id] <= 0 {
		delete(d.wanted, id)
	}
}

// beforeUpdate makes sure that the coming transaction changes no page of a reader's state. size
// is the length of the file.
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
	if _, err := d.look(); err != nil {
		return err
	}
	return d.release()
}

// hold opens a snapshot of the newest state after the writing transaction has begun. Opened
// earlier, it would make bbolt keep the pages of one more state.
func (d *readers) hold(db *bbolt.DB) (err error) {
	if d != nil && !d.alone {
		d.last, err = db.Begin(false)
	}
	return err
}

// afterUpdate lets readers in again if beforeUpdate has locked them out.
func (d *readers) afterUpdate() error {
	if d == nil || !d.alone {
		return nil
	}
	d.alone = false
	return unlock(d.file)
}

// release closes the snapshots that no reader wants.
func (d *readers) release() (err error) {
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

// close admits no more readers. Present readers keep their state: the file is no longer written,
// and the next writer waits for them.
func (d *readers) close(path string) error {
	if d == nil {
		return nil
	}
	clear(d.wanted)
	err := d.release()
	if free, lockErr := tryLock(d.file); lockErr == nil && free {
		// A reader that has just opened it notices that its name is gone.
		err = errors.Join(err, removeLeft(path+readersSuffix))
	}
	return errors.Join(err, d.file.Close())
}
