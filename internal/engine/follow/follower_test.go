package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/engine/server"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// memory is a log in memory.
type memory struct {
	mu        sync.Mutex
	changed   chan struct{}
	values    [][]byte
	next      int
	published map[int64]string
}

func newMemory(values ...[]byte) *memory {
	return &memory{changed: make(chan struct{}), values: values, published: map[int64]string{}}
}

func (m *memory) Topic() (name, id string) { return "memory", "1" }

func (m *memory) Bounds(context.Context) (first, end int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return 0, int64(len(m.values)), nil
}

func (m *memory) Head(context.Context) (Record, error) { return m.record(0), nil }

// begun reports whether records were read.
func (m *memory) begun() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next > 0
}

func (m *memory) From(offset int64) { m.next = int(offset) }

func (m *memory) record(i int) Record {
	return Record{Offset: int64(i), Time: time.Unix(1_700_000_000+int64(i), 0), Value: m.values[i]}
}

func (m *memory) Next(ctx context.Context) (records []Record, err error) {
	for {
		m.mu.Lock()
		for ; m.next < len(m.values); m.next++ {
			records = append(records, m.record(m.next))
		}
		changed := m.changed
		m.mu.Unlock()
		if len(records) > 0 {
			return records, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *memory) Append(_ context.Context, values [][]byte) (offsets []int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range values {
		offsets = append(offsets, int64(len(m.values)))
		m.values = append(m.values, v)
	}
	close(m.changed)
	m.changed = make(chan struct{})
	return offsets, nil
}

func (m *memory) Publish(_ context.Context, offset int64, verdict func() []byte) error {
	v := string(verdict())
	if before, ok := m.published[offset]; ok && before != v {
		return fmt.Errorf("offset %d: verdicts %s and %s", offset, before, v)
	}
	m.published[offset] = v
	return nil
}

func (m *memory) Flush(context.Context) error { return nil }

// openIndex opens an index with the key, shape and UUID of all tests.
func openIndex(t *testing.T, dir string, o index.Options) *index.Index {
	t.Helper()
	o.Key, o.Secret, o.Shape, o.UUID = index.KeyNew, make([]byte, 16), index.ShapeFor(1000, feature.Scheme{}, false), [16]byte{1}
	x, err := index.Open(context.Background(), dir, o)
	indextest.Must(t, err)
	return x
}

// followOptions keeps few keys in memory, so that documents cause checkpoints.
var followOptions = index.Options{Follow: true, MemtableKeys: 1000}

// followed starts a follower on the index in dir.
func followed(t *testing.T, dir string, log Log, change func(*Config)) (*Follower, *index.Index) {
	t.Helper()
	x := openIndex(t, dir, followOptions)
	cfg := Config{Index: x, Dir: dir, Log: log, Policy: index.Policy{CheckpointBytes: 3000}}
	if change != nil {
		change(&cfg)
	}
	f, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err, x.Close())
	}
	f.Start(nil)
	return f, x
}

// reach waits until a follower has decided the record at an offset, and taken a checkpoint if one
// is due. Without that, Close may interrupt the checkpoint.
func reach(t *testing.T, f *Follower, offset int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if f.Next() <= offset {
		_, err := f.answers.get(ctx, offset)
		indextest.Must(t, err)
	}
	indextest.Must(t, f.Do(func() error { return nil }))
}

func end(t *testing.T, f *Follower, x *index.Index) {
	t.Helper()
	indextest.Must(t, f.Close())
	indextest.Must(t, x.Close())
}

// dumped returns the content of an index as lines.
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

// text returns the text of a document. Every third is an edit of an earlier one.
func text(i int) string {
	if i > 0 && i%3 == 0 {
		return indextest.Sentences(rand.New(rand.NewPCG(1, uint64(i))).IntN(i)) + fmt.Sprintf(" One more sentence, called %c.", 'a'+i%26)
	}
	return indextest.Sentences(i)
}

// entry returns the record of a document.
func entry(i int, batch string) []byte {
	e := journal.Entry{Kind: journal.Seen, Time: (1_700_000_000 + int64(i)) * 1e9, Batch: batch, ID: fmt.Sprint("d", i), Text: []byte(text(i))}
	return e.Append(nil)
}

// settings returns a record of the default settings after change.
func settings(t *testing.T, change func(*Settings)) []byte {
	t.Helper()
	s := Settings{Version: dedup.RulesVersion, Scheme: feature.Scheme{}.Name(), Threshold: 0.65, Text: "text", ID: "id"}
	if change != nil {
		change(&s)
	}
	return s.entry()
}

// records returns records of all kinds.
func records(t *testing.T, n int) (values [][]byte) {
	values = append(values, settings(t, nil))
	for i := range n {
		values = append(values, entry(i, fmt.Sprint("b", i%5)))
		switch i {
		case 20:
			e := journal.Entry{Kind: journal.Forgotten, ID: "d1", Time: 1_700_000_020e9}
			values = append(values, e.Append(nil), []byte("neither"), nil)
		case 40:
			e := journal.Entry{Kind: journal.Cancelled, ID: "b2", Time: 1_700_000_040e9}
			values = append(values, e.Append(nil), e.Append(nil), []byte(`{"id":"j1","text":`), []byte(fmt.Sprintf(`{"id":"j2","text":%q}`, text(2))))
		case 50:
			values = append(values, settings(t, func(s *Settings) { s.Threshold = 0.9 }), settings(t, func(s *Settings) { s.Text = "body" }))
		}
	}
	return values
}

// TestJournalIsLog checks that a server's journal, followed as a log, gives the server's index.
func TestJournalIsLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "served")
	x := openIndex(t, dir, index.Options{Serve: true})
	now := time.Unix(1_700_000_000, 0)
	s, err := server.Open(server.Config{Index: x, Dir: dir, Policy: index.Policy{CheckpointBytes: 1 << 30, Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}}})
	indextest.Must(t, err)
	ask := func(method, path, body string) {
		w := httptest.NewRecorder()
		s.Handler("").ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		if w.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	for i := range 60 {
		ask("POST", fmt.Sprintf("/v1/see?batch=b%d", i%5), fmt.Sprintf(`{"id":"d%d","text":%q}`, i, text(i)))
		if i == 30 {
			ask("DELETE", "/v1/documents/d1", "")
			ask("POST", "/v1/batches/b2/cancel", "")
		}
	}
	values := [][]byte{settings(t, nil)}
	generations, err := owners.Journals(dir)
	indextest.Must(t, err)
	for _, n := range generations {
		_, _, err := journal.Served.Read(filepath.Join(dir, owners.Journal(n)), nil, func(group []byte) error {
			for len(group) > 0 {
				_, rest, err := journal.CutEntry(group)
				indextest.Must(t, err)
				values = append(values, bytes.Clone(group[:len(group)-len(rest)]))
				group = rest
			}
			return nil
		})
		indextest.Must(t, err)
	}
	indextest.Must(t, s.Close())
	indextest.Must(t, x.Close())
	if len(values) != 63 {
		t.Fatalf("%d records, want 63", len(values))
	}
	other := filepath.Join(t.TempDir(), "followed")
	f, x := followed(t, other, newMemory(values...), nil)
	reach(t, f, 62)
	end(t, f, x)
	if diff := cmp.Diff(dumped(t, dir), dumped(t, other)); diff != "" {
		t.Error(diff)
	}
}

// changed changes the settings among records.
func changed(t *testing.T, all [][]byte, change func(*Settings)) [][]byte {
	t.Helper()
	for i, v := range all {
		if change != nil && len(v) > 0 && v[0] == journal.Settings {
			e, _, err := journal.CutEntry(v)
			indextest.Must(t, err)
			s, err := parseSettings(e.Text)
			indextest.Must(t, err)
			change(&s)
			all[i] = s.entry()
		}
	}
	return all
}

// TestKilledAnywhere checks that a follower killed after any record continues there. It decides
// nothing twice, and its verdicts and index are those of an undisturbed follower.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Settings){"plain": nil, "window": func(s *Settings) { s.Window = 20 }} {
		t.Run(name, func(t *testing.T) {
			all := changed(t, records(t, 80), change)
			configure := func(c *Config) {
				s := Settings{}
				if change != nil {
					change(&s)
				}
				c.Policy.Window = s.Window
			}
			undisturbed := filepath.Join(t.TempDir(), "index")
			log := newMemory(all...)
			f, x := followed(t, undisturbed, log, configure)
			reach(t, f, int64(len(all)-1))
			end(t, f, x)
			want := dumped(t, undisturbed)

			dir := filepath.Join(t.TempDir(), "index")
			again := newMemory(all[0])
			again.published = log.published
			f, x = followed(t, dir, again, configure)
			for i, v := range all[1:] {
				_, err := again.Append(t.Context(), [][]byte{v})
				indextest.Must(t, err)
				reach(t, f, int64(i+1))
				if i%9 != 0 {
					continue
				}
				// The follower is idle, so the copy is the state after a kill.
				killed := indextest.Copy(t, dir)
				rest := newMemory(all...)
				rest.published = log.published
				f, x := followed(t, killed, rest, configure)
				reach(t, f, int64(len(all)-1))
				end(t, f, x)
				if diff := cmp.Diff(want, dumped(t, killed)); diff != "" {
					t.Fatalf("killed after %d records: %s", i+2, diff)
				}
			}
			end(t, f, x)
		})
	}
}

// stuck is a log that publishes no verdict from an offset on.
type stuck struct {
	*memory
	from int64
	met  chan struct{}
}

func (s *stuck) Publish(ctx context.Context, offset int64, verdict func() []byte) error {
	if offset < s.from {
		return s.memory.Publish(ctx, offset, verdict)
	}
	close(s.met)
	<-ctx.Done()
	return ctx.Err()
}

// TestInterruptedStep checks that a follower stores nothing of an interrupted step.
func TestInterruptedStep(t *testing.T) {
	all := records(t, 80)
	undisturbed := filepath.Join(t.TempDir(), "index")
	whole := newMemory(all...)
	f, x := followed(t, undisturbed, whole, nil)
	reach(t, f, int64(len(all)-1))
	end(t, f, x)
	want := dumped(t, undisturbed)
	for _, from := range []int64{1, 2, 22, 60} {
		dir := filepath.Join(t.TempDir(), "index")
		log := &stuck{newMemory(all...), from, make(chan struct{})}
		f, x := followed(t, dir, log, nil)
		<-log.met
		end(t, f, x)
		rest := newMemory(all...)
		rest.published = whole.published // a different verdict is an error
		f, x = followed(t, dir, rest, nil)
		reach(t, f, int64(len(all)-1))
		end(t, f, x)
		if diff := cmp.Diff(want, dumped(t, dir)); diff != "" {
			t.Errorf("interrupted at offset %d: %s", from, diff)
		}
	}
}

// TestSettingsRule checks that settings in the log apply from the next record on.
func TestSettingsRule(t *testing.T) {
	edit := func(n int) []byte {
		e := journal.Entry{Kind: journal.Seen, ID: fmt.Sprint("e", n), Text: []byte(indextest.Sentences(1) + fmt.Sprintf("One more sentence, called %c.", 'a'+n))}
		return e.Append(nil)
	}
	strict := settings(t, func(s *Settings) { s.Threshold = 0.99 })
	log := newMemory(settings(t, nil), entry(1, ""), edit(1), strict, edit(2), settings(t, func(s *Settings) { s.Window = 5 }), edit(3))
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, nil)
	reach(t, f, 6)
	end(t, f, x)
	for offset, want := range map[int64]string{2: `"verdict":"duplicate"`, 4: `"kept":true`, 5: `"verdict":"bad"`, 6: `"kept":true`} {
		if !strings.Contains(log.published[offset], want) {
			t.Errorf("offset %d: %s, want %s", offset, log.published[offset], want)
		}
	}
}

// skipping is a log that lacks some records and, once read, begins at first.
type skipping struct {
	*memory
	first int64
}

func (s *skipping) Bounds(ctx context.Context) (first, end int64, err error) {
	_, end, err = s.memory.Bounds(ctx)
	if s.begun() {
		first = s.first // once it is read
	}
	return first, end, err
}

func (s *skipping) Next(ctx context.Context) ([]Record, error) {
	records, err := s.memory.Next(ctx)
	if len(records) > 10 {
		records = append(records[:5:5], records[8:]...)
	}
	return records, err
}

// TestGap checks that aborted records may be missing in the log, but removed ones may not.
func TestGap(t *testing.T) {
	for first, removed := range map[int64]bool{0: false, 5: false, 6: true} {
		log := &skipping{newMemory(records(t, 20)...), first}
		f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, nil)
		if removed {
			<-f.Failed()
			if err := f.Close(); !errors.Is(err, errRemoved) || !strings.Contains(err.Error(), "offset 5") {
				t.Errorf("the log begins at %d: error %v", first, err)
			}
			indextest.Must(t, x.Close())
			continue
		}
		reach(t, f, 20)
		end(t, f, x)
	}
}

// TestOtherVersion checks that a follower decides no document by other rules than the log's. With
// Change it continues a log whose documents are all decided.
func TestOtherVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	old := settings(t, func(s *Settings) { s.Version = 7 })
	x := openIndex(t, dir, followOptions)
	if _, err := Open(t.Context(), Config{Index: x, Dir: dir, Log: newMemory(old)}); err == nil || !strings.Contains(err.Error(), "version 7 of the rules") {
		t.Errorf("error %v", err)
	}
	indextest.Must(t, x.Close())
	change := func(c *Config) { c.Change, c.Appends = true, true }
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), newMemory(old, entry(0, "")), change)
	<-f.Failed()
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "offset 1 is decided by version 7") {
		t.Errorf("error %v", err)
	}
	indextest.Must(t, x.Close())
	f, x = followed(t, filepath.Join(t.TempDir(), "index"), newMemory(old), change)
	for f.Behind() {
		time.Sleep(time.Millisecond)
	}
	indextest.Must(t, f.Append([]*apply.Step{{Entry: journal.Entry{Kind: journal.Seen, ID: "x", Text: []byte(text(1))}}}, true))
	end(t, f, x)
}

// TestBehind checks that a follower behind its log appends nothing.
func TestBehind(t *testing.T) {
	log := &stuck{newMemory(records(t, 10)...), 5, make(chan struct{})}
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, func(c *Config) { c.Appends = true })
	<-log.met
	if err := f.Append([]*apply.Step{{Entry: journal.Entry{Kind: journal.Seen, ID: "x"}}}, true); !errors.Is(err, apply.ErrLater) || !f.Behind() {
		t.Errorf("error %v, behind %t", err, f.Behind())
	}
	end(t, f, x)
}

// TestAppendWhileClosing checks that documents are refused at any moment of closing.
func TestAppendWhileClosing(t *testing.T) {
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), newMemory(records(t, 20)...), func(c *Config) { c.Appends = true })
	reach(t, f, 20)
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			if err := f.Append([]*apply.Step{{Entry: journal.Entry{Kind: journal.Seen, ID: "late", Text: []byte("late")}}}, true); err != nil {
				if !errors.Is(err, apply.ErrLater) {
					t.Error(err)
				}
				break
			}
		}
		for range 100 {
			if err := f.Append(nil, true); !errors.Is(err, apply.ErrLater) {
				t.Error(err)
			}
			<-f.Failed()
		}
	})
	end(t, f, x)
	if err := f.Append(nil, true); !errors.Is(err, apply.ErrLater) {
		t.Error(err)
	}
	asking.Wait()
}

// anew is a log that gives every record the offset from.
type anew struct {
	*memory
	from int64
}

func (a anew) Append(context.Context, [][]byte) ([]int64, error) { return []int64{a.from}, nil }

// TestOtherIndex checks that an index that no follower can use does not begin the log.
func TestOtherIndex(t *testing.T) {
	for name, c := range map[string]struct {
		options index.Options
		window  uint32
	}{
		"no side table":           {index.Options{FilterOnly: true}, 0},
		"passages":                {index.Options{Scheme: feature.Scheme{Passages: 50}}, 0},
		"documents without times": {index.Options{}, 3600},
	} {
		log := newMemory()
		x := openIndex(t, filepath.Join(t.TempDir(), "index"), c.options)
		_, err := x.See("old", []byte(text(1)))
		indextest.Must(t, err)
		_, err = Open(t.Context(), Config{Index: x, Log: log, Policy: index.Policy{Window: c.window}})
		if err == nil || !strings.Contains(err.Error(), name) || len(log.values) > 0 {
			t.Errorf("%s: error %v, %d records in the log", name, err, len(log.values))
		}
		indextest.Must(t, x.Close())
	}
}

// TestLogAnew checks that a record at an offset decided before does not get that answer. A record
// at no offset has to be sent again.
func TestLogAnew(t *testing.T) {
	for from, want := range map[int64]error{1: errLost, -1: apply.ErrLater} {
		f, x := followed(t, filepath.Join(t.TempDir(), "index"), anew{newMemory(records(t, 10)...), from}, func(c *Config) { c.Appends = true })
		reach(t, f, 10)
		step := &apply.Step{Entry: journal.Entry{Kind: journal.Seen, ID: "x", Text: []byte("text")}}
		if err := f.Append([]*apply.Step{step}, true); !errors.Is(err, want) || step.Answer != nil {
			t.Errorf("offset %d: answer %s, error %v", from, step.Answer, err)
		}
		if err := f.Close(); (want == errLost) != errors.Is(err, errLost) {
			t.Errorf("offset %d: closing: error %v", from, err)
		}
		indextest.Must(t, x.Close())
	}
}
