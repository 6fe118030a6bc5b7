package index

import (
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestNothingUnansweredIsInstalled checks that a copied filter is installed only after the answers
// to its documents are out and their keys are in the journal. An earlier crash would leave
// documents remembered without an answer.
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

// TestGroupOfKeysIsBounded checks that megabytes of keys are saved before records or ticks do it.
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
