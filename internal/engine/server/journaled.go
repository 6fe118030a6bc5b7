package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/engine/apply"
)

// journaled is the decider of a single server. It writes a journal of its steps.
type journaled struct {
	cfg        *Config
	extractors apply.Extractors
	count      *counters
	loop       *apply.Loop
	header     header      // of its journals, without a generation
	full       atomic.Bool // the filter accepts no more documents
	feed       *feed

	// The rest belongs to the deciding goroutine.

	steps    apply.Applier
	rec      *recorder
	rotated  bool  // a checkpoint began another journal
	ending   bool  // the next checkpoint is one of a clean end
	replayed state // valid while rec is nil
	encoded  []byte
}

// openJournaled replays the journals left by a killed server.
func openJournaled(cfg *Config, free apply.Extractors, count *counters, applied func(*apply.Step, *dedup.Result)) (*journaled, error) {
	j := &journaled{cfg: cfg, extractors: free, count: count, feed: newFeed()}
	j.loop = apply.NewLoop(cfg.Waiting, cfg.Index, func() { count.noteSaving(cfg.Index) })
	j.steps = apply.Applier{Index: cfg.Index, Done: j.record}
	p := cfg.Policy
	p.Now, p.Flush = j.steps.Now, j.flush
	j.steps.Arrive(cfg.Policy.Now().UnixNano())
	if err := cfg.Index.Begin(p); err != nil {
		return nil, err
	}
	if err := j.recover(); err != nil {
		return nil, err
	}
	j.steps.Applied = applied // the last server counted what was replayed
	go j.loop.Run()
	return j, nil
}

// recover replays the journals and begins a new one.
func (j *journaled) recover() error {
	p := &j.cfg.Policy
	rules, err := json.Marshal(map[string]any{
		"version": dedup.RulesVersion, "scheme": j.cfg.Index.Scheme().Name(), "rules": p.Rules, "window": j.cfg.Index.Window(), "told": p.TellsTimes,
	})
	if err != nil {
		return err
	}
	h := header{Table: fmt.Sprintf("%x", j.cfg.Index.Table().Generation().UUID), Rules: rules}
	j.header = h
	have, next, err := j.journals()
	if err != nil {
		return err
	}
	for _, n := range have {
		h.Generation = n
		if err := j.replay(h); err != nil {
			return err
		}
	}
	h.Generation = max(next, 1)
	if j.rec, err = newRecorder(j.cfg.Dir, h, j.replayed.position, j.feed, j.cfg.journal, j.loop.Fail, &j.count.journaling); err != nil {
		return err
	}
	if err = j.cfg.Index.EnsureCapacity(); err == nil || j.isFull(err) {
		j.rotated = true // the replayed journals are obsolete now
		err = j.checkpoint()
	}
	if err != nil {
		err = errors.Join(err, j.rec.close())
	}
	return err
}

// journals returns the generations of the journals to replay, ascending, and the one after them.
func (j *journaled) journals() (have []uint64, next uint64, err error) {
	at, dir := &j.replayed, j.cfg.Dir
	if err := j.place(); err != nil {
		return nil, 0, err
	}
	err = dropBefore(dir, at.Next-uint64(max(0, len(at.Begins)-1)))
	if err == nil {
		have, err = owners.Journals(dir)
	}
	if err != nil {
		return nil, 0, err
	}
	have = slices.DeleteFunc(have, func(n uint64) bool { return n < at.Next })
	first := at.Next
	if first == 0 && len(have) > 0 {
		first = have[0]
	}
	n := 0
	for n < len(have) && have[n] == first+uint64(n) {
		n++
	}
	next = first + uint64(n)
	if n < len(have) || len(have) == 0 && at.Next > 0 && !at.Ended {
		err = fmt.Errorf("index %s: %s is missing, and its documents were answered; put the whole index back from a copy, or give them up: remove any journals and run firstseen index abandon %s", dir, owners.Journal(next), dir)
	}
	return have, next, err
}

// place reads the position of the index. One with more than the entries of its servers gets another,
// which no standby has.
func (j *journaled) place() error {
	at, x := &j.replayed, j.cfg.Index
	b, err := x.Value(owners.Served)
	if err == nil && b != nil {
		err = json.Unmarshal(b, at)
	}
	if err != nil {
		return err
	}
	if b == nil || at.Ended && at.Checkpoint != x.Table().Generation().Sequence {
		if j.cfg.standby != nil {
			return fmt.Errorf("index %s: another command has changed it since it was copied: serve it without --standby-of, or remove the folder to copy it again", j.cfg.Dir)
		}
		at.Chain = rand.Uint64()
	}
	if j.feed.begins = at.Begins; len(at.Begins) > 0 {
		j.feed.last = time.Now() // the standby may come again
	}
	return nil
}

// replay repeats the steps of a journal.
func (j *journaled) replay(want header) error {
	var h header
	path := journalPath(j.cfg.Dir, want.Generation)
	_, _, err := journal.Served.Read(path, &h, nil)
	switch {
	case err != nil:
		return err
	case h.Table != want.Table || h.Generation != want.Generation:
		return fmt.Errorf("%s belongs to another index: put the whole index back from a copy", path)
	case string(h.Rules) != string(want.Rules):
		return fmt.Errorf("%s was written under other rules: start the server once with the rules %s and the version of firstseen that wrote it, stop it, and then change them", path, h.Rules)
	}
	skip := uint64(0)
	if j.replayed.Next == want.Generation {
		skip = j.replayed.Done
	} else {
		j.feed.began(want.Generation, j.replayed.position, 0)
	}
	j.replayed = state{Next: want.Generation, position: j.replayed.position}
	_, _, err = journal.Served.Read(path, nil, func(group []byte) error {
		return eachStep(group, func(steps []*apply.Step) error {
			n := min(skip, uint64(len(steps)))
			j.replayed.Done, skip = j.replayed.Done+n, skip-n
			return j.repeat(steps[n:])
		})
	})
	return err
}

// together bounds the steps that are repeated at once.
const together = 256

// eachStep calls do with the steps of a group of the journal, some at a time.
func eachStep(group []byte, do func(steps []*apply.Step) error) error {
	for len(group) > 0 {
		var steps []*apply.Step
		for len(group) > 0 && len(steps) < together {
			e, rest, err := journal.CutEntry(group)
			if err != nil {
				return err
			}
			steps, group = append(steps, &apply.Step{Entry: e}), rest
		}
		if err := do(steps); err != nil {
			return err
		}
	}
	return nil
}

// repeat does steps that a server has done, at their times.
func (j *journaled) repeat(steps []*apply.Step) error {
	j.extractors.SketchAll(steps)
	for _, s := range steps {
		if err := j.do(s); err != nil && !j.isFull(err) { // the filter was full for the first server, too
			return err
		}
	}
	return nil
}

// flush precedes a checkpoint. It returns the position in the journals that the checkpoint covers.
func (j *journaled) flush(bool) (map[string][]byte, error) {
	if j.rec == nil {
		j.replayed.Begins = j.feed.wanted()
		return j.replayed.values(), nil
	}
	if j.rec.bytes >= j.rec.limit {
		if err := j.rec.rotate(); err != nil {
			return nil, err
		}
		j.rotated = true
	}
	if j.ending {
		return j.ended().values(), nil
	}
	now := state{Next: j.rec.header.Generation, Done: j.rec.entries, position: j.rec.at, Begins: j.feed.wanted()}
	return now.values(), nil
}

// ended returns the state that the next checkpoint stores as an ordinary end: all journals are in the index.
func (j *journaled) ended() state {
	checkpoint := j.cfg.Index.Table().Generation().Sequence + 1
	return state{Next: j.rec.header.Generation + 1, Ended: true, Checkpoint: checkpoint, position: j.rec.at}
}

// position returns the position after all steps before the call.
func (j *journaled) position() (at position, err error) {
	err = j.Do(func() error { at = j.rec.at; return nil })
	return at, err
}

// maxText bounds a text, so that its entry and any before it fit into a group of the journal.
const maxText = 1<<30 - maxPending/4 - 1<<20

// Append does the steps as one block.
func (j *journaled) Append(steps []*apply.Step, durable bool) error {
	for _, s := range steps {
		if len(s.Text) > maxText {
			return refuse(http.StatusRequestEntityTooLarge, "a text has %d bytes, and at most %d fit into the journal", len(s.Text), maxText)
		}
	}
	return j.between(len(steps), durable, func() error {
		now := j.steps.Now().UnixNano()
		for i, s := range steps {
			if s.Time = now; s.Kind == journal.Seen && j.full.Load() {
				return index.ErrFull
			}
			if err := j.do(s); err != nil && !(j.isFull(err) && i+1 == len(steps)) { // the last one has its answer
				return err
			}
		}
		return nil
	})
}

// Do calls task between two steps.
func (j *journaled) Do(task func() error) error { return j.between(0, false, task) }

// between runs a task on the deciding goroutine, after all tasks before it.
func (j *journaled) between(docs int, durable bool, task func() error) error {
	return j.loop.Do(docs, func(done func(error)) {
		err := context.Cause(j.loop.Failed)
		if err == nil {
			j.steps.Arrive(j.cfg.Policy.Now().UnixNano())
			err = task()
		}
		if err != nil && !errors.Is(err, index.ErrFull) && !errors.Is(err, index.ErrNoBatch) {
			j.loop.Fail(err) // an error of the index, not of the request
		}
		if err != nil || !durable {
			done(err)
			done = nil
		}
		j.rec.hand(done)
	})
}

// do does a step. If it returns index.ErrFull, the step is done but is the last document.
func (j *journaled) do(s *apply.Step) error {
	return errors.Join(j.steps.Do(s), j.drop())
}

// record appends a completed step to the journal, or counts it if it was replayed.
func (j *journaled) record(s *apply.Step) error {
	if j.rec == nil {
		j.encoded = s.Append(j.encoded[:0])
		j.replayed.add(j.encoded)
		j.replayed.Done++
		return nil
	}
	j.rec.add(&s.Entry)
	return nil
}

// drop removes the journals that a checkpoint made obsolete.
func (j *journaled) drop() error {
	j.count.noteSaving(j.cfg.Index)
	if !j.rotated {
		return nil
	}
	j.rotated = false
	return j.rec.dropOld(j.cfg.room)
}

func (j *journaled) checkpoint() error {
	return errors.Join(j.cfg.Index.Checkpoint(), j.drop())
}

// isFull reports whether an error means a full filter. From then on no document is decided.
func (j *journaled) isFull(err error) bool {
	if errors.Is(err, index.ErrFull) {
		j.full.Store(true)
		return true
	}
	return false
}

// Failed is closed when the index or the journal has failed.
func (j *journaled) Failed() <-chan struct{} { return j.loop.Failed.Done() }

// Close answers waiting requests, and moves everything into the index.
func (j *journaled) Close() error {
	j.loop.Close()
	err := context.Cause(j.loop.Failed)
	if err == nil {
		err = j.rec.drain()
	}
	j.feed.end(parting / 6)
	if err == nil {
		err = j.checkpoint()
	}
	if err = errors.Join(err, j.rec.close()); err != nil {
		return err
	}
	end := j.ended()
	if err := j.cfg.Index.Finish(end.values()); err != nil {
		return err
	}
	return dropBefore(j.cfg.Dir, end.Next)
}
