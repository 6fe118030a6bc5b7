package pipeline

import "testing"

// TestNothingUnansweredIsInstalled: documents decided after the filter began to be
// saved and before its first piece was copied are whole in the copy. It becomes the
// filter only when their answers are out and their keys in the journal: a crash
// before would leave documents remembered that nobody was answered.
func TestNothingUnansweredIsInstalled(t *testing.T) {
	dir := t.TempDir()
	l := openLife(t, dir, 10_000)
	for l.index.Journal.Saving == nil {
		l.feed(10)
		l.save()
	}
	l.feed(7) // in no group
	saving := l.index.Journal.Saving
	for saving.Ready() != nil {
		l.index.Journal.CopyPiece(<-saving.Ready())
	}
	note, installed := l.index.Hook, false
	l.index.Journal.Hook = func(step string) {
		note(step)
		installed = installed || step == "the filter is in place"
		if got := rememberedIn(t, copyDir(t, dir), l.next); got != l.durable {
			t.Errorf("a crash after %q: %d documents remembered, %d are durable, %d decided", step, got, l.durable, l.next)
		}
	}
	if err := l.c.installFilter(<-saving.Done()); err != nil {
		t.Fatal(err)
	}
	if !installed || l.durable != l.next {
		t.Errorf("installed: %v; %d of %d documents are durable", installed, l.durable, l.next)
	}
	l.crash()
}
