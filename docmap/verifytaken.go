package docmap

import (
	"github.com/firstseen/firstseen/docmap/sorted"
)

// countedEntries is entries for a table of which documents were taken back: a key has as
// many entries as the rule of holders keeps.
func (v *verifier) countedEntries(r *run, e *sorted.Entries) error {
	for i := 0; i < len(e.Keys); {
		j := i + 1
		for j < len(e.Keys) && e.Keys[j] == e.Keys[i] {
			j++
		}
		docs := e.Docs[i:j]
		for at, d := range docs {
			if d < r.first || d > r.last || at > 0 && (d < docs[at-1] || d == docs[at-1] && d != 0) {
				return damage("run %d has an entry of document %d", r.id, d)
			}
		}
		var room [keyLimit]uint32
		n, _ := v.t.tombstones.count(room[:0], docs)
		if i > 0 && e.Keys[i] < e.Keys[i-1] || n < len(docs) || docs[0] == 0 && len(docs) != keyLimit {
			return damage("run %d is out of order at key %x", r.id, e.Keys[i])
		}
		i = j
	}
	return nil
}

// times reads the times of documents once more.
func (v *verifier) times(s *snapshot) error {
	_, err := readWindow(s.tx, &v.t.head)
	return err
}

// removed reads what was removed for the sake of batches.
func (v *verifier) removed(s *snapshot) error {
	for key := []byte{}; key != nil; {
		list, next, err := removedChunk(s.tx, key)
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.Of == 0 || r.Of > v.t.head.docs {
				v.add("%q was removed for the sake of document %d of %d", r.ID, r.Of, v.t.head.docs)
			}
		}
		key = next
	}
	return nil
}
