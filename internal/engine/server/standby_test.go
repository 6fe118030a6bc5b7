package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// primary is a server with a network that can be cut, like that of a killed process.
type primary struct {
	t       *testing.T
	dir     string
	address string
	change  func(*Config)
	s       *Service
	x       *index.Index

	mu      sync.Mutex
	l       net.Listener
	conns   []net.Conn
	entries []journal.Entry // all that it has decided
}

func newPrimary(t *testing.T, dir string, change func(*Config)) *primary {
	p := &primary{t: t, dir: dir, change: change}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	indextest.Must(t, err)
	p.address = l.Addr().String()
	p.start(l)
	t.Cleanup(func() {
		p.cut()
		closed(t, p.s, p.x)
	})
	return p
}

// start opens the index of the primary, and answers.
func (p *primary) start(l net.Listener) {
	p.s, p.x = opened(p.t, p.dir, memtableKeys, p.change)
	record := p.s.own.steps.Done
	indextest.Must(p.t, p.s.own.Do(func() error {
		p.s.own.steps.Done = func(s *apply.Step) error {
			e := s.Entry
			e.Text = slices.Clone(e.Text)
			p.entries = append(p.entries, e)
			return record(s)
		}
		return nil
	}))
	p.listen(l)
}

func (p *primary) listen(l net.Listener) {
	var err error
	for l == nil {
		if l, err = net.Listen("tcp", p.address); err != nil {
			time.Sleep(time.Millisecond)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.l = l
	web := &http.Server{Handler: p.s.Handler(""), ConnState: func(c net.Conn, to http.ConnState) {
		if to == http.StateNew {
			p.mu.Lock()
			p.conns = append(p.conns, c)
			p.mu.Unlock()
		}
	}}
	go web.Serve(l)
}

// cut ends all connections, and takes no more.
func (p *primary) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.l.Close()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// killed returns a copy of the folder, as a kill leaves it.
func (p *primary) killed() string {
	settle(p.t, p.s)
	return indextest.Copy(p.t, p.dir)
}

// reference returns the dump of an index after the first n steps of the primary.
func (p *primary) reference(n uint64) []string {
	p.t.Helper()
	var steps []*apply.Step
	for _, e := range p.entries[:n] {
		steps = append(steps, &apply.Step{Entry: e})
	}
	dir := filepath.Join(p.t.TempDir(), "reference")
	s, x := opened(p.t, dir, 0, func(c *Config) { c.Policy.Window = p.s.cfg.Policy.Window })
	indextest.Must(p.t, s.own.repeatQueued(steps))
	closed(p.t, s, x)
	return dumped(p.t, dir)
}

// standby returns a standby of an address with its copy in dir.
func standby(t *testing.T, address, dir string, change func(*Config)) (*Standby, error) {
	c, err := client.New("http://" + address)
	indextest.Must(t, err)
	return NewStandby(StandbyConfig{Primary: c, Dir: dir, retry: 10 * time.Millisecond, Open: func() (Config, error) {
		x, err := index.Open(context.Background(), dir, index.Options{Key: index.KeyNew, MemtableKeys: memtableKeys, Serve: true})
		cfg := Config{Index: x, Dir: dir, Policy: index.Policy{CheckpointBytes: 1 << 30}, room: 1}
		if change != nil {
			change(&cfg)
		}
		return cfg, err
	}})
}

func mustStandby(t *testing.T, p *primary, dir string) *Standby {
	t.Helper()
	b, err := standby(t, p.address, dir, p.change)
	indextest.Must(t, err)
	return b
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for begun := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatalf("for a minute not: %s", what)
		}
	}
}

// whole waits until a standby has n entries.
func whole(t *testing.T, b *Standby, n int) {
	t.Helper()
	until(t, "the standby has all", func() bool {
		l, _ := b.behind()
		return l.up && l.has == l.wants && l.has >= uint64(n)
	})
}

func asked(t *testing.T, h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

// promote promotes a standby within the 5 seconds of the manual.
func promote(t *testing.T, b *Standby) (p promotion) {
	t.Helper()
	begun := time.Now()
	w := asked(t, b.Handler(""), "POST", "/v1/promote", "")
	ready := asked(t, b.Handler(""), "GET", "/readyz", "")
	if took := time.Since(begun); w.Code != http.StatusOK || ready.Code != http.StatusOK || took > 5*time.Second {
		t.Fatalf("after %v: %d %s, ready: %d %s", took, w.Code, w.Body, ready.Code, ready.Body)
	}
	indextest.Must(t, json.Unmarshal(w.Body.Bytes(), &p))
	return p
}

// load gives documents to a server from several goroutines, until stop. It returns the answers with
// their times by id.
type answered struct {
	doc  *apply.Step
	when time.Time
}

func load(t *testing.T, p *primary, docs []*apply.Step) (stop func() []answered) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var out []answered
	next, done := 0, false
	for range 4 {
		all.Go(func() {
			for {
				mu.Lock()
				mine := docs[min(next, len(docs)):min(next+3, len(docs))]
				ended := done || len(mine) == 0
				next += 3
				mu.Unlock()
				if ended {
					return
				}
				if err := see(p.s, &request{docs: mine}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, doc := range mine {
					out = append(out, answered{doc, time.Now()})
				}
				mu.Unlock()
			}
		})
	}
	return func() []answered {
		mu.Lock()
		done = true
		mu.Unlock()
		all.Wait()
		return out
	}
}

// TestStandbyTakesOver cuts a primary under load off at ten random instants. Each time a standby, which
// took its snapshot under load too, takes over: it has all documents whose answers are older than a
// second, its index is that of the primary at its place, and repeated documents get the same answers.
func TestStandbyTakesOver(t *testing.T) {
	if testing.Short() {
		t.Skip("ten standbys")
	}
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), func(c *Config) { c.Policy.CheckpointBytes, c.journal, c.Policy.Window = 20_000, 100_000, 3600 })
	docs := texts(20_000)
	for round := range 10 {
		stop := load(t, p, docs[round*2000:][:2000])
		dir := filepath.Join(t.TempDir(), "copy")
		b := mustStandby(t, p, dir)
		keptUp := func() bool { l, seconds := b.behind(); return l.up && seconds < 0.5 }
		until(t, "the standby keeps up", keptUp)
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		until(t, "the standby keeps up", keptUp)
		if round%2 == 1 {
			_, err := p.s.takeBack(journal.Forgotten, docs[0].ID)
			indextest.Must(t, err)
		}
		p.cut()
		cut := time.Now()
		got := promote(t, b)
		indextest.Must(t, b.Close())
		all := stop()
		if diff := cmp.Diff(p.reference(got.Entries), dumped(t, dir)); diff != "" {
			t.Fatalf("round %d, after %d entries: %s", round, got.Entries, diff)
		}
		lost := sameAnswers(t, p, dir, got.Entries, all, cut)
		t.Logf("round %d: %d entries, the oldest lost answer came %v before the cut", round, got.Entries, lost)
		if lost > time.Second {
			t.Errorf("an answer is lost that came %v before the cut", lost)
		}
		p.listen(nil)
	}
}

// sameAnswers gives documents again to the copy in dir, which has n entries, and expects the answers of
// the primary. It returns the longest time before the cut of an answer that is not there.
func sameAnswers(t *testing.T, p *primary, dir string, n uint64, all []answered, cut time.Time) (lost time.Duration) {
	t.Helper()
	has, gone := map[string]bool{}, map[string]bool{}
	for _, e := range p.entries[:n] {
		has[e.ID], gone[e.ID] = e.Kind == journal.Seen, e.Kind == journal.Forgotten
	}
	s, x := opened(t, dir, memtableKeys, p.change)
	defer closed(t, s, x)
	for _, a := range all {
		if !has[a.doc.ID] {
			lost = max(lost, cut.Sub(a.when))
			continue
		}
		again := apply.NewDocument(a.doc.ID, a.doc.Text, false)
		indextest.Must(t, see(s, &request{docs: []*apply.Step{again}, check: true}))
		var first, second verdict
		indextest.Must(t, errors.Join(json.Unmarshal(a.doc.Answer, &first), json.Unmarshal(again.Answer, &second)))
		same := first.Kept == second.Kept && (first.Of == second.Of || first.Kept) && second.Again == first.Kept
		if !same && !gone[first.Of] {
			t.Fatalf("%s: first %s, then %s", a.doc.ID, a.doc.Answer, again.Answer)
		}
	}
	return lost
}

// TestStandbyWaits checks that a standby decides nothing, answers questions, and is not ready.
func TestStandbyWaits(t *testing.T) {
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	give(t, p.s, texts(30))
	dir := filepath.Join(t.TempDir(), "copy")
	b := mustStandby(t, p, dir)
	whole(t, b, 30)
	h := b.Handler("")
	for _, c := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"GET", "/readyz", "", 503, "standby"},
		{"GET", "/livez", "", 200, "ok"},
		{"POST", "/v1/see", line("new", article), 503, "standby"},
		{"POST", "/v1/see?check=1", line("new", article), 503, "standby"},
		{"DELETE", "/v1/documents/d1", "", 503, "standby"},
		{"POST", "/v1/batches/b1/cancel", "", 503, "standby"},
		{"GET", "/v1/entries/0-0000000000000000", "", 503, "standby"},
		{"GET", "/v1/documents/d1", "", 200, `"id":"d1"`},
		{"GET", "/v1/stats", "", 200, "documents"},
		{"GET", "/metrics", "", 200, "firstseen_standby_up 1\n"},
	} {
		w := asked(t, h, c.method, c.path, c.body)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) || c.code == 503 && c.path != "/readyz" && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, w.Body)
		}
	}
	for request, code := range map[string]int{
		"POST /v1/promote": 409, "GET /v1/entries/30": 400, "GET /v1/entries/30-123": 400,
		"GET /v1/entries/30-0000000000000000": 410, "GET /v1/entries/31-0000000000000000": 410,
	} {
		method, path, _ := strings.Cut(request, " ")
		if w := asked(t, p.s.Handler(""), method, path, ""); w.Code != code {
			t.Errorf("asking the primary: %s: %d %s", request, w.Code, w.Body)
		}
	}
	promote(t, b)
	promote(t, b)
	if w := asked(t, h, "POST", "/v1/see", line("new", article)); w.Code != 200 || !strings.Contains(w.Body.String(), `"kept":true`) {
		t.Errorf("after the promotion: %d %s", w.Code, w.Body)
	}
	indextest.Must(t, b.Close())
	if _, err := standby(t, p.address, dir, nil); err == nil || !strings.Contains(err.Error(), "was promoted") {
		t.Errorf("a promoted copy stands by again: %v", err)
	}
}

// TestStandbySurvives restarts the primary and the standby, with kills and without. The standby goes
// on where it was, without another snapshot.
func TestStandbySurvives(t *testing.T) {
	if testing.Short() {
		t.Skip("eight restarts")
	}
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), func(c *Config) { c.Policy.CheckpointBytes, c.journal = 3000, 9000 })
	docs := texts(300)
	give(t, p.s, docs[:30])
	dir := filepath.Join(t.TempDir(), "copy")
	b := mustStandby(t, p, dir)
	whole(t, b, 30)
	inode, err := os.Stat(filepath.Join(dir, index.TableFile))
	indextest.Must(t, err)
	for i := 30; i < 270; i += 30 {
		give(t, p.s, docs[i:i+20])
		switch i / 30 % 4 {
		case 0: // the primary ends, and gives the standby everything before
			p.s.Drain()
			give(t, p.s, docs[i+20:i+30])
			p.mu.Lock()
			indextest.Must(t, p.l.Close())
			p.mu.Unlock()
			closed(t, p.s, p.x)
			until(t, "the standby has the last entry", func() bool { l, _ := b.behind(); return l.has == uint64(i+30) })
			p.start(nil)
		case 1: // the primary is killed
			give(t, p.s, docs[i+20:i+30])
			killed := p.killed()
			p.cut()
			closed(t, p.s, p.x)
			indextest.Must(t, errors.Join(os.RemoveAll(p.dir), os.Rename(killed, p.dir)))
			p.start(nil)
		case 2: // the standby ends
			indextest.Must(t, b.Close())
			give(t, p.s, docs[i+20:i+30])
			b = mustStandby(t, p, dir)
		case 3: // the standby is killed
			whole(t, b, i+20)
			settle(t, b.service)
			killed := indextest.Copy(t, dir)
			indextest.Must(t, b.Close())
			indextest.Must(t, errors.Join(os.RemoveAll(dir), os.Rename(killed, dir)))
			inode, err = os.Stat(filepath.Join(dir, index.TableFile))
			indextest.Must(t, err)
			give(t, p.s, docs[i+20:i+30])
			b = mustStandby(t, p, dir)
		}
		whole(t, b, i+30)
		if now, err := os.Stat(filepath.Join(dir, index.TableFile)); err != nil || !os.SameFile(inode, now) {
			t.Fatalf("after %d documents the standby took another snapshot: %v", i, err)
		}
	}
	p.cut()
	got := promote(t, b)
	indextest.Must(t, b.Close())
	if diff := cmp.Diff(p.reference(got.Entries), dumped(t, dir)); diff != "" || got.Entries != 270 {
		t.Errorf("%d entries: %s", got.Entries, diff)
	}
}

// TestStandbyBeginsAgain changes the primary so that the standby's place is gone, in several ways. It
// takes another snapshot.
func TestStandbyBeginsAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of checkpoints")
	}
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), func(c *Config) { c.Policy.CheckpointBytes, c.journal = 1000, 2000 })
	dir, older := filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "older")
	docs := texts(500)
	give(t, p.s, docs[:60])
	indextest.Must(t, os.Rename(p.killed(), older))
	give(t, p.s, docs[60:90])
	first := mustStandby(t, p, dir)
	whole(t, first, 90)
	indextest.Must(t, first.Close())
	for i, change := range []func(){
		func() { // an older copy of the index has come back, and had other documents
			p.cut()
			closed(t, p.s, p.x)
			indextest.Must(t, errors.Join(os.RemoveAll(p.dir), os.Rename(older, p.dir)))
			p.start(nil)
			give(t, p.s, docs[90:150])
		},
		func() { give(t, p.s, docs[150:400]) }, // more journals than are kept
		func() { // another command has changed the index
			p.cut()
			closed(t, p.s, p.x)
			x, err := index.Open(t.Context(), p.dir, index.Options{Key: index.KeyNew, MemtableKeys: memtableKeys})
			indextest.Must(t, err)
			_, err = x.See("foreign", []byte(article))
			indextest.Must(t, errors.Join(err, x.End(), x.Finish(nil), x.Close()))
			p.start(nil)
		},
	} {
		change()
		was, err := os.Stat(filepath.Join(dir, index.TableFile))
		indextest.Must(t, err)
		b := mustStandby(t, p, dir)
		whole(t, b, 60)
		is, err := os.Stat(filepath.Join(dir, index.TableFile))
		indextest.Must(t, err)
		if give(t, p.s, docs[400+10*i:410+10*i]); os.SameFile(was, is) {
			t.Errorf("change %d: no other snapshot", i)
		}
		at, err := p.s.own.position()
		indextest.Must(t, err)
		until(t, "the standby has the last", func() bool { got, err := b.service.own.position(); return err == nil && got == at })
		indextest.Must(t, b.Close())
		killed := p.killed()
		s, x := opened(t, killed, memtableKeys, p.change)
		closed(t, s, x)
		if diff := cmp.Diff(dumped(t, killed), dumped(t, dir)); diff != "" {
			t.Fatalf("change %d: %s", i, diff)
		}
	}
}

// TestStandbyBeforeAGap kills a primary whose last entries are in its checkpoint, but not in its journal.
// A standby without them takes a snapshot, and one with them goes on.
func TestStandbyBeforeAGap(t *testing.T) {
	if testing.Short() {
		t.Skip("a snapshot after a kill")
	}
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	docs := texts(90)
	give(t, p.s, docs[:30])
	behind, ahead := filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "copy")
	b := mustStandby(t, p, behind)
	whole(t, b, 30)
	indextest.Must(t, b.Close())
	give(t, p.s, docs[30:60])
	b = mustStandby(t, p, ahead)
	whole(t, b, 60)
	indextest.Must(t, b.Close())
	indextest.Must(t, p.s.own.Do(p.s.own.checkpoint))
	killed := p.killed()
	log := journalPath(killed, p.s.own.rec.header.Generation)
	info, err := os.Stat(log)
	indextest.Must(t, err)
	indextest.Must(t, os.Truncate(log, info.Size()-10))
	p.cut()
	closed(t, p.s, p.x)
	indextest.Must(t, errors.Join(os.RemoveAll(p.dir), os.Rename(killed, p.dir)))
	p.start(nil)
	give(t, p.s, docs[60:])
	for _, dir := range []string{behind, ahead} {
		was, err := os.Stat(filepath.Join(dir, index.TableFile))
		indextest.Must(t, err)
		b := mustStandby(t, p, dir)
		whole(t, b, 90)
		indextest.Must(t, b.Close())
		is, err := os.Stat(filepath.Join(dir, index.TableFile))
		indextest.Must(t, err)
		if os.SameFile(was, is) == (dir == behind) {
			t.Errorf("%s: it went on: %v", dir, os.SameFile(was, is))
		}
		if diff := cmp.Diff(p.reference(90), dumped(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestStandbyKilledInReplacing starts standbys in the states that a kill leaves while a snapshot is put in
// place. Promotion leaves nothing of it.
func TestStandbyKilledInReplacing(t *testing.T) {
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	give(t, p.s, texts(60))
	first := filepath.Join(t.TempDir(), "copy")
	b := mustStandby(t, p, first)
	whole(t, b, 60)
	indextest.Must(t, b.Close())
	half, later := indextest.Copy(t, first), indextest.Copy(t, first)
	indextest.Must(t, os.RemoveAll(filepath.Join(half, index.FilterFile)))
	for _, dir := range []string{half, later} {
		indextest.Must(t, os.Mkdir(filepath.Join(dir, newFolder), 0o777))
	}
	indextest.Must(t, os.Rename(filepath.Join(half, index.TableFile), filepath.Join(half, newFolder, index.TableFile)))
	indextest.Must(t, os.WriteFile(filepath.Join(later, newFolder, index.TableFile), nil, 0o666))
	give(t, p.s, texts(90)[60:])
	for _, dir := range []string{half, later} {
		b := mustStandby(t, p, dir)
		whole(t, b, 90)
		promote(t, b)
		indextest.Must(t, b.Close())
		if diff := cmp.Diff(p.reference(90), dumped(t, dir)); diff != "" {
			t.Error(diff)
		}
		if left, err := filepath.Glob(filepath.Join(dir, newFolder+"*")); len(left) > 0 || err != nil {
			t.Errorf("%q is left, %v", left, err)
		}
	}
}

// TestStandbyOfAnother checks that a standby replaces its copy neither by an index with another key,
// nor by anything after another command has changed it, and that it follows no other rules.
func TestStandbyOfAnother(t *testing.T) {
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	give(t, p.s, texts(60))
	dir := filepath.Join(t.TempDir(), "copy")
	first := mustStandby(t, p, dir)
	whole(t, first, 60)
	indextest.Must(t, first.Close())
	want := dumped(t, dir)
	b, err := standby(t, p.address, dir, func(c *Config) { c.Policy.Rules.Threshold = 0.9 })
	indextest.Must(t, err)
	b.stop()
	<-b.stopped
	if err := b.follow(t.Context()); err == nil || !strings.Contains(err.Error(), `"Threshold":0.9`) {
		t.Errorf("following other rules: %v", err)
	}
	indextest.Must(t, b.Close())
	otherDir := filepath.Join(t.TempDir(), "index")
	x, err := index.Open(t.Context(), otherDir, index.Options{Key: index.KeyNew, Secret: []byte("another secret !")})
	indextest.Must(t, errors.Join(err, x.Close()))
	other := newPrimary(t, otherDir, nil)
	if b, err = standby(t, other.address, dir, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the other index was looked at", func() bool {
		_, err := os.Stat(filepath.Join(dir, newFolder, index.TableFile))
		return err == nil
	})
	promote(t, b)
	indextest.Must(t, b.Close())
	if diff := cmp.Diff(want, dumped(t, dir)); diff != "" {
		t.Error(diff)
	}
	indextest.Must(t, os.WriteFile(filepath.Join(dir, markFile), nil, 0o666))
	x, err = index.Open(t.Context(), dir, index.Options{Key: index.KeyNew})
	indextest.Must(t, err)
	_, err = x.See("foreign", []byte(article))
	indextest.Must(t, errors.Join(err, x.End(), x.Finish(nil), x.Close()))
	if _, err := standby(t, p.address, dir, nil); err == nil || !strings.Contains(err.Error(), "another command has changed it") {
		t.Errorf("a changed copy stands by again: %v", err)
	}
	s, x := opened(t, dir, 0, nil) // without its primary
	closed(t, s, x)
	if _, err := os.Stat(filepath.Join(dir, markFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy that was served alone is still that of a standby: %v", err)
	}
}

// TestStandbyRefusesDamage sends a standby streams and snapshots that are cut or damaged. The copy stays
// as it was, or there is none, and the standby catches up from a sound one.
func TestStandbyRefusesDamage(t *testing.T) {
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	give(t, p.s, texts(60))
	var mu sync.Mutex
	left, flip := 9000, -1 // bytes before the cut, or byte that is changed
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, err := http.NewRequestWithContext(r.Context(), "GET", "http://"+p.address+r.URL.String(), nil)
		indextest.Must(t, err)
		a, err := http.DefaultClient.Do(to)
		if err != nil {
			return
		}
		defer a.Body.Close()
		w.WriteHeader(a.StatusCode)
		buf := make([]byte, 1000)
		for {
			n, err := a.Body.Read(buf)
			mu.Lock()
			if 0 <= flip && flip < n {
				buf[flip] ^= 4
			}
			flip -= n
			left -= n
			over := left < 0
			mu.Unlock()
			if over {
				panic(http.ErrAbortHandler)
			}
			_, writeErr := w.Write(buf[:n])
			_ = http.NewResponseController(w).Flush()
			if err != nil || writeErr != nil {
				return
			}
		}
	}))
	defer between.Close()
	damage := func(l, f int) {
		mu.Lock()
		defer mu.Unlock()
		left, flip = l, f
	}
	dir := filepath.Join(t.TempDir(), "copy")
	b, err := standby(t, strings.TrimPrefix(between.URL, "http://"), dir, nil)
	indextest.Must(t, err)
	defer func() { indextest.Must(t, b.Close()) }()
	until(t, "the snapshot is cut", func() bool { mu.Lock(); defer mu.Unlock(); return left < 0 })
	if w := asked(t, b.Handler(""), "POST", "/v1/promote", ""); w.Code != 503 || index.Exists(dir) {
		t.Errorf("without a copy: %d %s", w.Code, w.Body)
	}
	damage(1<<30, -1)
	whole(t, b, 60)
	give(t, p.s, texts(90)[60:])
	whole(t, b, 90)
	for flipped := 0; flipped < 3000; flipped += 211 {
		damage(1<<30, flipped)
		doc := apply.NewDocument("more"+string(rune('a'+flipped/211)), []byte(indextest.Sentences(5000+flipped)), false)
		give(t, p.s, []*apply.Step{doc})
		until(t, "the standby has the document", func() bool {
			return asked(t, b.Handler(""), "GET", "/v1/documents/"+doc.ID, "").Code == 200
		})
	}
	whole(t, b, 90)
	p.cut()
	settle(t, b.service)
	got := promote(t, b)
	killed := indextest.Copy(t, dir)
	s, x := opened(t, killed, memtableKeys, nil)
	closed(t, s, x)
	if diff := cmp.Diff(p.reference(got.Entries), dumped(t, killed)); diff != "" {
		t.Error(diff)
	}
}

// TestJournalsStayForStandbys checks that old journals stay while a standby wants them, at most 32, and
// that no server without a standby keeps any.
func TestJournalsStayForStandbys(t *testing.T) {
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), func(c *Config) { c.Policy.CheckpointBytes, c.journal = 500, 1000 })
	journals := func() int {
		settle(t, p.s)
		have, err := owners.Journals(p.dir)
		indextest.Must(t, err)
		return len(have)
	}
	docs := texts(300)
	give(t, p.s, docs[:60])
	if n := journals(); n > 2 { // one is made early
		t.Errorf("without a standby there are %d journals", n)
	}
	leave := p.s.own.feed.copies()
	give(t, p.s, docs[60:280])
	if n := journals(); n < keptJournals || n > keptJournals+2 {
		t.Errorf("with a standby there are %d journals", n)
	}
	leave()
	p.s.own.feed.last = time.Now().Add(-2 * keptFor)
	give(t, p.s, docs[280:])
	if n := journals(); n > 2 {
		t.Errorf("an hour after a standby there are %d journals", n)
	}
}

// TestStandbyThatStops checks that a client that reads no entries does not hold up the server, and that
// the newest connections win: a standby that comes again may have left the old ones open.
func TestStandbyThatStops(t *testing.T) {
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	at, err := p.s.own.position()
	indextest.Must(t, err)
	var conns []net.Conn
	for range mostStandbys + 3 {
		c, err := net.Dial("tcp", p.address)
		indextest.Must(t, err)
		defer c.Close()
		_, err = fmt.Fprintf(c, "GET /v1/entries/%s HTTP/1.1\r\nHost: x\r\n\r\n", at)
		indextest.Must(t, err)
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || line != "HTTP/1.1 200 OK\r\n" {
			t.Fatal(line, err)
		}
		conns = append(conns, c)
	}
	until(t, "the first connections end", func() bool { return p.s.own.feed.standbys() <= mostStandbys })
	large := strings.Repeat(article+" ", (4<<20)/len(article)) // more than a connection holds
	for i := range 3 {
		give(t, p.s, []*apply.Step{apply.NewDocument(fmt.Sprint("large", i), []byte(large), true)})
	}
	b := mustStandby(t, p, filepath.Join(t.TempDir(), "copy"))
	whole(t, b, 3)
	promote(t, b)
	indextest.Must(t, b.Close())
	for _, c := range conns[3:] {
		_ = c.Close()
	}
	until(t, "all have ended", func() bool { return p.s.own.feed.standbys() == 0 })
}

// TestStandbyGivesUpSilence checks that a standby leaves a primary that sends no more, as behind a broken
// network, but not one whose line is slow.
func TestStandbyGivesUpSilence(t *testing.T) {
	if testing.Short() {
		t.Skip("a slow line")
	}
	p := newPrimary(t, filepath.Join(t.TempDir(), "index"), nil)
	give(t, p.s, texts(30))
	dir := filepath.Join(t.TempDir(), "copy")
	b := mustStandby(t, p, dir)
	whole(t, b, 30)
	b.stop()
	<-b.stopped
	defer func(was time.Duration) { silence = was }(silence)
	silence = 500 * time.Millisecond
	_, header, err := journal.Served.NewEncoder(b.service.own.header)
	indextest.Must(t, err)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		for i := range header { // in parts, together longer than the silence
			_, _ = w.Write(header[i : i+1])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2 * silence / time.Duration(len(header)))
		}
		if time.Since(begun) < silence {
			t.Error("the header came fast")
		}
		<-r.Context().Done()
	}))
	defer slow.Close()
	b.cfg.Primary.URL = slow.URL
	if err := b.follow(t.Context()); !errors.Is(err, errSilent) {
		t.Errorf("a silent primary: %v", err)
	}
	if l, _ := b.behind(); !l.up {
		t.Error("the header did not come")
	}
	indextest.Must(t, b.Close())
}

// TestNoStandbyOfAFollower checks that a server with a log gives nothing to standbys.
func TestNoStandbyOfAFollower(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x, err := index.Open(t.Context(), dir, index.Options{Follow: true})
	indextest.Must(t, err)
	defer x.Close()
	indextest.Must(t, x.Begin(index.Policy{}))
	s, err := Open(Config{Index: x, Dir: dir, Log: &later{}})
	indextest.Must(t, err)
	for _, path := range []string{"/v1/snapshot?standby=1", "/v1/entries/0-0000000000000000"} {
		if w := asked(t, s.Handler(""), "GET", path, ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "another follower") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
