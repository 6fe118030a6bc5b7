package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/base/step"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// clock returns a clock of arrivals that moves on by a second with each reading.
func clock() func() time.Time {
	now := time.Unix(1_700_000_000, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// memtableKeys is so small that a few documents fill the memtable.
const memtableKeys = 1000

func opened(t *testing.T, dir string, keys int, change func(*Config)) (*Service, *index.Index) {
	t.Helper()
	x, err := index.Open(context.Background(), dir, index.Options{
		Key: index.KeyNew, Secret: make([]byte, 16), Shape: index.ShapeFor(1000, feature.Scheme{}, false), MemtableKeys: keys, UUID: [16]byte{1}, Serve: true,
	})
	indextest.Must(t, err)
	cfg := Config{Index: x, Dir: dir, Policy: index.Policy{CheckpointBytes: 1 << 30}}
	if change != nil {
		change(&cfg)
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err, x.Close())
	}
	return s, x
}

func closed(t *testing.T, s *Service, x *index.Index) {
	t.Helper()
	indextest.Must(t, s.Close())
	indextest.Must(t, x.Close())
}

// texts returns n documents. Every third has the text of an earlier one, half of them with a sentence
// more: these are kept.
func texts(n int) (docs []*apply.Step) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		from, edit := i, ""
		if i > 0 && i%3 == 0 {
			from, edit = rnd.IntN(i), fmt.Sprintf(" One more sentence, the %dth of them.", i)
		}
		if i%6 == 0 {
			edit = ""
		}
		docs = append(docs, apply.NewDocument("d"+strconv.Itoa(i), []byte(indextest.Sentences(from)+edit), false))
	}
	return docs
}

// give lets a service decide documents, in requests of at most 7.
func give(t *testing.T, s *Service, docs []*apply.Step) {
	t.Helper()
	for block := range slices.Chunk(docs, 7) {
		indextest.Must(t, see(s, &request{docs: block, batch: "b" + block[0].ID[1:2]}))
	}
}

func see(s *Service, r *request) error {
	s.prepare(r)
	return s.decide(r)
}

// dumped returns the content of an index that has no writer.
func dumped(t *testing.T, dir string) (lines []string) {
	t.Helper()
	f, err := index.OpenFiles(dir)
	indextest.Must(t, err)
	defer f.Close()
	for doc, err := range f.Documents() {
		indextest.Must(t, err)
		lines = append(lines, fmt.Sprintf("%+v", doc))
	}
	for key, err := range f.Keys() {
		indextest.Must(t, err)
		lines = append(lines, fmt.Sprintf("%+v", key))
	}
	for removed, err := range f.Table.Removed() {
		indextest.Must(t, err)
		lines = append(lines, fmt.Sprintf("%+v", removed))
	}
	_, clock, edge := f.Table.Window()
	lines = append(lines, fmt.Sprint("clock ", clock, edge))
	for _, b := range f.Table.Batches() {
		lines = append(lines, fmt.Sprintf("%+v", b))
	}
	if len(lines) < 20 {
		t.Fatalf("the index has %d lines: it is almost empty", len(lines))
	}
	return lines
}

// TestMetrics checks that each document counts once, though its server is killed, and each checkpoint
// once, however many documents were decided.
func TestMetrics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	s, x := opened(t, dir, 0, nil)
	defer closed(t, s, x)
	give(t, s, texts(30))
	settle(t, s)
	all := s.metrics()
	if n := decided(s); n != 30 || !strings.Contains(all.String(), "firstseen_checkpoint_seconds_count 1\n") {
		t.Errorf("%d documents, want 30 and one checkpoint in\n%s", n, all.String())
	}
	next, y := opened(t, indextest.Copy(t, dir), 0, nil)
	defer closed(t, next, y)
	if n := decided(next); n != 0 {
		t.Errorf("the next server counted %d documents that it did not answer", n)
	}
}

// TestKilledAnywhere kills a server after any request and opens the index with another server. The
// result must equal an undisturbed index, whatever checkpoints came before or during the replay.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Config){
		"one checkpoint":   nil,
		"many checkpoints": func(c *Config) { c.Policy.CheckpointBytes = 3000 },
		"many journals":    func(c *Config) { c.Policy.CheckpointBytes, c.journal = 1000, 4000 },
		"window":           func(c *Config) { c.Policy.Window = 40 },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			whole := func(c *Config) {
				if c.Policy.Now = clock(); change != nil {
					change(c)
				}
			}
			s, x := opened(t, dir, memtableKeys, whole)
			docs := texts(120)
			for i := 0; i < len(docs); i += 20 {
				give(t, s, docs[i:i+20])
				if i == 60 {
					forgetAndCancel(t, s)
				}
				settle(t, s) // now the copy equals the state after a kill
				killed := indextest.Copy(t, dir)
				if _, err := index.OpenFiles(killed); !errors.Is(err, index.ErrServed) {
					t.Fatalf("without a server: error %v", err)
				}
				undisturbed := filepath.Join(t.TempDir(), "index")
				s2, x2 := opened(t, undisturbed, memtableKeys, whole)
				for at := 0; at <= i; at += 20 {
					give(t, s2, texts(120)[at:at+20])
					if at == 60 {
						forgetAndCancel(t, s2)
					}
					settle(t, s2) // because it reads the clock, too
				}
				closed(t, s2, x2)
				s3, x3 := opened(t, killed, memtableKeys, whole)
				closed(t, s3, x3)
				if diff := cmp.Diff(dumped(t, undisturbed), dumped(t, killed)); diff != "" {
					t.Fatalf("killed after %d documents: %s", i+20, diff)
				}
			}
			closed(t, s, x)
		})
	}
}

// TestKilledWhileReadingJournal kills the second server at each checkpoint of its replay of the
// first server's journal. The index must be the same.
func TestKilledWhileReadingJournal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	s, x := opened(t, dir, 0, func(c *Config) { c.Policy.Now = clock() })
	give(t, s, texts(60))
	settle(t, s)
	left := indextest.Copy(t, dir)
	closed(t, s, x)
	want := dumped(t, dir)
	t.Cleanup(func() { step.Hook = nil })
	for stop, died := 1, true; died; stop++ {
		killed := indextest.Copy(t, left)
		died = failedOpen(t, killed, stop)
		s, x := opened(t, killed, 0, nil)
		closed(t, s, x)
		if diff := cmp.Diff(want, dumped(t, killed)); diff != "" {
			t.Fatalf("killed after checkpoint %d: %s", stop, diff)
		}
		if !died && stop < 5 {
			t.Fatalf("only %d checkpoints came", stop)
		}
	}
}

// leftJournal returns the folder of a killed server and its journal.
func leftJournal(t *testing.T) (dir, path string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "index")
	s, x := opened(t, dir, 0, nil)
	give(t, s, texts(60))
	settle(t, s)
	dir = indextest.Copy(t, dir)
	closed(t, s, x)
	return dir, filepath.Join(dir, owners.Journal(1))
}

// TestDamagedJournalIsGivenUp follows the remedy in the message about a damaged journal.
func TestDamagedJournalIsGivenUp(t *testing.T) {
	dir, path := leftJournal(t)
	data, err := os.ReadFile(path)
	indextest.Must(t, err)
	data[10] ^= 1
	indextest.Must(t, os.WriteFile(path, data, 0o666))
	for _, want := range []string{"remove this file and run firstseen index abandon", "run firstseen index abandon " + dir} {
		x, err := index.Open(context.Background(), dir, index.Options{Serve: true})
		indextest.Must(t, err)
		if _, err := Open(Config{Index: x, Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		indextest.Must(t, errors.Join(x.Close(), os.RemoveAll(path)))
	}
	x, err := index.Open(context.Background(), dir, index.Options{Serve: true})
	indextest.Must(t, err)
	if lost, err := x.ForgetServer(); !lost || err != nil {
		t.Error(lost, err)
	}
	indextest.Must(t, x.Close())
	s, x := opened(t, dir, 0, nil)
	closed(t, s, x)
}

// TestJournalOfOtherRules checks that the journal of a version with other rules is not replayed.
func TestJournalOfOtherRules(t *testing.T) {
	dir, path := leftJournal(t)
	var h header
	_, _, err := journal.Served.Read(path, &h, nil)
	indextest.Must(t, err)
	h.Rules = bytes.Replace(h.Rules, fmt.Appendf(nil, `,"version":%d`, dedup.RulesVersion), nil, 1)
	l, err := journal.Served.Create(path, h)
	indextest.Must(t, err)
	indextest.Must(t, l.Close())
	x, err := index.Open(context.Background(), dir, index.Options{Serve: true})
	indextest.Must(t, err)
	defer x.Close()
	if _, err := Open(Config{Index: x, Dir: dir}); err == nil || !strings.Contains(err.Error(), "the version of firstseen that wrote it") {
		t.Error(err)
	}
}

// failedOpen opens a service that fails right after the checkpoint numbered stop, if one comes.
func failedOpen(t *testing.T, dir string, stop int) (died bool) {
	step.Hook = func(name string) error {
		if name == "took checkpoint" {
			if stop--; stop == 0 {
				return errors.New("killed")
			}
		}
		return nil
	}
	defer func() { step.Hook = nil }()
	x, err := index.Open(context.Background(), dir, index.Options{MemtableKeys: memtableKeys, Serve: true})
	indextest.Must(t, err)
	s, err := Open(Config{Index: x, Dir: dir, Policy: index.Policy{CheckpointBytes: 3000}})
	if err == nil {
		s.own.loop.Close()
		indextest.Must(t, s.own.rec.close())
	}
	indextest.Must(t, x.Close())
	return err != nil
}

// TestJournalFails checks that no document is answered from the first failed journal write on. The
// next server has the documents answered before.
func TestJournalFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	s, x := opened(t, dir, 0, nil)
	docs := texts(3)
	give(t, s, docs[:1])
	full := errors.New("no space")
	step.Hook = func(name string) error {
		if name == "wrote the journal" {
			return full
		}
		return nil
	}
	t.Cleanup(func() { step.Hook = nil })
	for _, doc := range docs[1:] {
		if err := see(s, &request{docs: []*apply.Step{doc}}); !errors.Is(err, full) {
			t.Errorf("%s: error %v", doc.ID, err)
		}
	}
	<-s.Failed()
	if err := s.Close(); !errors.Is(err, full) {
		t.Errorf("closing: error %v", err)
	}
	indextest.Must(t, x.Close())
	step.Hook = nil
	s, x = opened(t, dir, 0, nil)
	again := texts(1)
	give(t, s, again)
	if !strings.Contains(string(again[0].Answer), `"again":true`) {
		t.Errorf("the answered document: %s", again[0].Answer)
	}
	closed(t, s, x)
}

// settle waits until the service is idle.
func settle(t *testing.T, s *Service) {
	t.Helper()
	indextest.Must(t, s.decider.Do(func() error {
		for s.own.loop.Step() {
			continue
		}
		if s.own.rec.next != nil {
			_, _ = s.own.rec.next()
		}
		return s.own.rec.dropped()
	}))
}

func forgetAndCancel(t *testing.T, s *Service) {
	t.Helper()
	for _, c := range []struct {
		kind byte
		id   string
	}{{journal.Forgotten, "d1"}, {journal.Cancelled, "b2"}} {
		answer, err := s.takeBack(c.kind, c.id)
		indextest.Must(t, err)
		if string(answer) == `{"forgotten":0}` {
			t.Errorf("nothing of %s was taken back", c.id)
		}
	}
}

// TestLargeRequestsAreHandedOver checks that the entries of a request do not pile up until its end.
func TestLargeRequestsAreHandedOver(t *testing.T) {
	r, err := newRecorder(t.TempDir(), header{Generation: 1}, position{}, newFeed(), 1<<40, func(err error) { t.Error(err) }, new(histogram))
	indextest.Must(t, err)
	text := make([]byte, 1<<20)
	for range 2 * maxPending / 4 >> 20 {
		if r.add(&journal.Entry{Kind: journal.Seen, ID: "1", Text: text}); len(r.pending) >= maxPending/4 {
			t.Fatalf("%d bytes wait for the end of a request", len(r.pending))
		}
	}
	indextest.Must(t, r.close())
}

// TestForgettingOnly checks that journals stay short even if documents are only taken back.
func TestForgettingOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	s, x := opened(t, dir, 0, func(c *Config) { c.Policy.CheckpointBytes, c.journal = 1000, 4000 })
	for i := range 1000 {
		_, err := s.takeBack(journal.Forgotten, fmt.Sprint("document ", i))
		indextest.Must(t, err)
	}
	settle(t, s)
	generations, err := owners.Journals(dir)
	indextest.Must(t, err)
	for _, n := range generations {
		info, err := os.Stat(filepath.Join(dir, owners.Journal(n)))
		indextest.Must(t, err)
		if info.Size() > 20_000 {
			t.Errorf("journal %d has %d bytes", n, info.Size())
		}
	}
	closed(t, s, x)
}

// TestTextBeyondJournal refuses a text too long for the journal, and the service goes on.
func TestTextBeyondJournal(t *testing.T) {
	s, x := opened(t, filepath.Join(t.TempDir(), "index"), 0, nil)
	doc := apply.NewDocument("long", make([]byte, 1<<30), false)
	if p := (*problem)(nil); !errors.As(s.decider.Append([]*apply.Step{doc}, true), &p) || p.status != 413 {
		t.Errorf("a long text: %v", p)
	}
	give(t, s, texts(1))
	closed(t, s, x)
}

// decided returns the number of documents that a service has counted.
func decided(s *Service) (n uint64) {
	for v := range s.count.verdicts {
		n += s.count.verdicts[v].Load()
	}
	return n
}
