package index

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/base/step"
)

func (m *model) crash() {
	if m.x == nil {
		return
	}
	m.stop()
	m.recover()
	m.count["crashes"]++
}

// crashingIn does something, and may resume from the files as after a transaction or step of it.
func (m *model) crashingIn(do func()) {
	if !m.chance(4) {
		do()
		return
	}
	left, to := []int{1, 1, 2, 3, 5, 9}[m.r.IntN(6)], ""
	var saved map[uint64]*believed
	event := func() {
		if left--; left == 0 {
			saved = maps.Clone(m.saved)
			m.copies++
			to = filepath.Join(m.root, fmt.Sprint(m.copies))
			m.must(os.CopyFS(to, os.DirFS(m.dir)))
		}
	}
	before := step.Hook
	step.Committed = func(string) { event() }
	step.Hook = func(name string) error {
		if before != nil {
			m.must(before(name))
		}
		event()
		return nil
	}
	do()
	step.Committed, step.Hook = nil, before
	if to == "" {
		return
	}
	m.stop()
	m.must(os.RemoveAll(m.dir))
	m.dir, m.saved = to, saved
	m.recover()
	m.count["crashes amid"]++
}

// recover finds the checkpoint that a crash has left.
func (m *model) recover() {
	docs := len(m.now.docs)
	table, err := docmap.Open(filepath.Join(m.dir, TableFile), docmap.Options{ReadOnly: true})
	if errors.Is(err, os.ErrNotExist) {
		m.now = newBelieved()
		m.saved = map[uint64]*believed{0: m.now.clone()}
		return
	}
	m.must(err)
	sequence := table.Generation().Sequence
	m.must(table.Close())
	last := uint64(0)
	for s := range m.saved {
		if s <= sequence {
			last = max(last, s)
		}
	}
	m.now = m.saved[last]
	m.saved = map[uint64]*believed{sequence: m.now.clone()}
	if len(m.now.docs) < docs {
		m.count["lost"]++
	}
}
