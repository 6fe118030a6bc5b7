package docmap

import (
	"bytes"
	"errors"
	"fmt"
)

// Documents returns the number of documents, which is also the last document's number.
func (t *Table) Documents() uint32 { return t.docs }

// Records stores the ids and data of documents in ids and data, which must be as long as nums. The
// copies are valid until the next call of Records. A number without a live document gives ErrNoDoc.
func (r *reader) Records(nums []uint32, ids, data [][]byte) error {
	if len(ids) < len(nums) || len(data) < len(nums) {
		return fmt.Errorf("reading %d documents: room for %d ids and %d data only", len(nums), len(ids), len(data))
	}
	r.copies = r.copies[:0]
	var at uint32
	err := r.look(func(*snapshot) error {
		for i, num := range nums {
			at = num
			id, d, err := r.doc(num)
			if err != nil {
				return err
			}
			ids[i], data[i] = r.copied(id), r.copied(d)
		}
		return nil
	})
	return wrap(err, "reading document %d", at)
}

// copied returns a copy of mapped bytes. A disk error while reading them is caught here; in a
// caller's code it would look like a bug.
func (r *reader) copied(b []byte) []byte {
	at := len(r.copies)
	r.copies = append(r.copies, b...)
	return r.copies[at:len(r.copies):len(r.copies)]
}

// doc returns bytes of the mapped file or of memory, valid while the snapshot is open.
func (r *reader) doc(num uint32) (id, data []byte, err error) {
	if r.table.tombstones.has(num) {
		return nil, nil, ErrNoDoc
	}
	rec, err := r.record(num)
	if err != nil {
		return nil, nil, err
	}
	return splitRecord(rec, num)
}

// record returns a document's record, even if the document was taken back.
func (r *reader) record(num uint32) ([]byte, error) {
	t := r.table
	if num == 0 || num > t.docs {
		return nil, ErrNoDoc
	}
	if num >= t.recs.blocks[0].first {
		return t.recs.record(num), nil
	}
	if holdsRecord(r.read.block, num) {
		return blockRecord(r.read.block, num)
	}
	want, err := r.read.floor(r.read.docs.Bucket(), binKey(uint64(num)))
	switch {
	case err != nil:
		return nil, err
	case want == nil:
		return nil, damage("document %d is missing", num)
	}
	k, v := r.read.docs.Seek(want)
	if string(k) != string(want) {
		if k == nil {
			k, v = r.read.docs.Last()
		} else {
			k, v = r.read.docs.Prev()
		}
	}
	if k == nil {
		return nil, damage("document %d is missing", num)
	}
	r.read.block = v
	return blockRecord(v, num)
}

// Doc returns a document by a call of Records. A number without a live document gives ErrNoDoc.
func (t *Table) Doc(num uint32) (Doc, error) {
	var id, data [1][]byte
	err := t.Records([]uint32{num}, id[:], data[:])
	return Doc{string(id[0]), bytes.Clone(data[0])}, err
}

// ByID returns the first 1024 documents with an id, ascending. The empty id is not indexed.
func (t *Table) ByID(id string) ([]uint32, error) {
	nums, more, err := t.byID(id)
	if err == nil && more && len(nums) == 0 { // all indexed documents were taken back
		nums, err = t.AllByID(id)
		nums = nums[:min(len(nums), idLimit)]
	}
	return nums, err
}

// AllByID is ByID without a limit. It reads all documents if the index of ids may lack some.
func (t *Table) AllByID(id string) ([]uint32, error) {
	nums, more, err := t.byID(id)
	if err != nil || !more {
		return nums, err
	}
	nums = nums[:0]
	for doc, err := range t.Docs(1) {
		if err != nil {
			return nil, err
		}
		if doc.ID == id {
			nums = append(nums, doc.Num)
		}
	}
	return nums, nil
}

// byID implements ByID. more reports that the index of ids may lack documents of the id.
func (t *Table) byID(id string) (nums []uint32, more bool, err error) {
	err = t.look(func(s *snapshot) error {
		if id == "" {
			return nil
		}
		if err := t.readIDs(); err != nil {
			return err
		}
		found, err := t.all(s, ofIDs, idKey(id))
		if err != nil {
			return err
		}
		more = len(found) >= idLimit // in one run or in several
		for _, num := range t.tombstones.liveOnly(found) {
			if len(nums) == idLimit {
				break
			}
			got, _, err := t.doc(num)
			if errors.Is(err, ErrNoDoc) {
				return damage("the id %q belongs to document %d of %d", id, num, t.docs)
			}
			if err != nil {
				return err
			}
			if string(got) == id { // and not another with the same hash
				nums = append(nums, num)
			}
		}
		return nil
	})
	return nums, more, wrap(err, "looking the id %q up", id)
}
