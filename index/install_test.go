package index

import (
	"testing"

	"github.com/firstseen/firstseen/internal/indextest"
)

// TestNothingUnansweredIsInstalled: documents decided while the filter is saved may be in the copy.
// It becomes the filter only when their answers are out and their keys in the journal: a crash
// before would leave documents remembered that nobody was answered.
func TestNothingUnansweredIsInstalled(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 10_000)
	for l.index.only.Saving() == nil {
		l.feed(10)
		l.save()
	}
	l.feed(7) // in no group
	l.written()
	l.feed(3)
	installed := false
	l.onStep(func(step string) {
		installed = installed || step == "the filter is in place"
		if got := rememberedIn(t, indextest.Copy(t, dir), l.next); got != l.durable {
			t.Errorf("a crash after %q: %d documents remembered, %d are durable, %d decided", step, got, l.durable, l.next)
		}
	})
	l.save()
	if !installed || l.durable != l.next {
		t.Errorf("installed: %v; %d of %d documents are durable", installed, l.durable, l.next)
	}
	l.crash()
}

// TestGroupOfKeysIsBounded: when so many keys wait that they take megabytes, they are
// saved before the bytes of records or a tick ask for it.
func TestGroupOfKeysIsBounded(t *testing.T) {
	l := openLife(t, t.TempDir(), 0)
	groups := 0
	l.onStep(func(step string) {
		if step == "a group is durable" {
			groups++
		}
	})
	l.index.only.Add(make([]uint64, 512<<10-1))
	if err := l.index.Ack(1); err != nil || groups != 0 {
		t.Fatalf("%d groups, %v", groups, err)
	}
	l.index.only.Add(make([]uint64, 1))
	if err := l.index.Ack(1); err != nil || groups != 1 || l.index.only.Due() {
		t.Errorf("%d groups, %v", groups, err)
	}
	l.crash()
}
