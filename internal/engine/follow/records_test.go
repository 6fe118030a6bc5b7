package follow

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// lacking is a log without the records of some offsets, which retention has removed.
type lacking struct {
	*memory
	from, to int64
}

func (l *lacking) Bounds(ctx context.Context) (first, end int64, err error) {
	_, end, err = l.memory.Bounds(ctx)
	if l.begun() {
		first = l.to // once it is read
	}
	return first, end, err
}

func (l *lacking) Next(ctx context.Context) (records []Record, err error) {
	all, err := l.memory.Next(ctx)
	for _, r := range all {
		if r.Offset < l.from || r.Offset >= l.to {
			records = append(records, r)
		}
	}
	return records, err
}

// TestSmallGaps checks that a gap of any size stops the follower, even of one record.
func TestSmallGaps(t *testing.T) {
	for _, c := range []struct{ from, to int64 }{{5, 6}, {5, 7}, {1, 2}, {20, 21}} {
		log := &lacking{newMemory(records(t, 30)...), c.from, c.to}
		f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, nil)
		if _, err := f.answers.get(t.Context(), 30); err == nil {
			t.Fatalf("the records from %d to %d are passed over", c.from, c.to)
		}
		if err := f.Close(); !errors.Is(err, errRemoved) || !strings.Contains(err.Error(), fmt.Sprintf("offset %d:", c.from)) || !strings.Contains(err.Error(), "topic memory") {
			t.Errorf("the records from %d to %d: error %v", c.from, c.to, err)
		}
		indextest.Must(t, x.Close())
	}
}

// marked is a log in which some records end transactions.
type marked struct{ *memory }

func (m marked) Next(ctx context.Context) ([]Record, error) {
	records, err := m.memory.Next(ctx)
	for i := range records {
		records[i].Mark = records[i].Offset%5 == 4
	}
	return records, err
}

// TestAnswersOfRecords checks the published answer of each kind of record, and what Verdict says
// about it.
func TestAnswersOfRecords(t *testing.T) {
	forget := journal.Entry{Kind: journal.Forgotten, ID: "d0", Time: 1_700_000_020e9}
	cancel := journal.Entry{Kind: journal.Cancelled, ID: "no batch", Time: 1_700_000_021e9}
	log := marked{newMemory(settings(t, nil), entry(0, ""), forget.Append(nil), cancel.Append(nil), []byte("a mark"), entry(0, ""), []byte("bad"))}
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, nil)
	reach(t, f, 6)
	for offset, want := range []string{"", `{"offset":1,"id":"d0","verdict":"unique"`, `{"offset":2,"forgotten":1}`, `{"offset":3,"forgotten":0}`, "", `{"offset":5,"id":"d0","verdict":"unique"`, `{"offset":6,"verdict":"bad"`} {
		line, err := f.Verdict(t.Context(), int64(offset))
		if published := log.published[int64(offset)]; published != string(line) || !strings.HasPrefix(published, want) || (want == "") != (published == "") {
			t.Errorf("offset %d: published %s, the verdict is %s; want %s", offset, published, line, want)
		}
		if (want == "") != errors.Is(err, apply.ErrGone) {
			t.Errorf("offset %d: error %v", offset, err)
		}
	}
	if f.Next() != 7 || f.Behind() {
		t.Errorf("the next offset is %d, behind %v", f.Next(), f.Behind())
	}
	end(t, f, x)
}

// TestAppend checks that appended steps have the time of the clock, in their order, with the answers
// of their records, and that a follower that does not append refuses them.
func TestAppend(t *testing.T) {
	log := newMemory(records(t, 5)...)
	now := time.Unix(1_800_000_000, 7)
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, func(c *Config) {
		c.Appends, c.Policy.Now = true, func() time.Time { return now }
	})
	for f.Behind() {
		time.Sleep(time.Millisecond)
	}
	var steps []*apply.Step
	for i := range 3 {
		steps = append(steps, &apply.Step{Entry: journal.Entry{Kind: journal.Seen, ID: fmt.Sprint("a", i), Text: []byte(text(100))}})
	}
	indextest.Must(t, f.Append(steps, true))
	for i, s := range steps {
		e, _, err := journal.CutEntry(log.values[6+i])
		indextest.Must(t, err)
		if e.Time != now.UnixNano() || e.ID != s.ID {
			t.Errorf("record %d: %+v", 6+i, e)
		}
		want := `"of":"a0"`
		if i == 0 {
			want = `"kept":true`
		}
		if !strings.Contains(string(s.Answer), want) {
			t.Errorf("step %d: %s, want %s", i, s.Answer, want)
		}
	}
	end(t, f, x)
	f, x = followed(t, filepath.Join(t.TempDir(), "index"), newMemory(records(t, 5)...), nil)
	reach(t, f, 5)
	if err := f.Append(steps, true); !errors.Is(err, apply.ErrReadOnly) {
		t.Errorf("a follower that does not append: %v", err)
	}
	end(t, f, x)
}

// TestEarlierVersion checks that records under earlier rules are not decided.
func TestEarlierVersion(t *testing.T) {
	log := newMemory(settings(t, func(s *Settings) { s.Version = dedup.RulesVersion - 1 }), entry(0, ""))
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, func(c *Config) { c.Change = true })
	if _, err := f.answers.get(t.Context(), 1); err == nil {
		t.Fatal("it is decided")
	}
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("decided by version %d", dedup.RulesVersion-1)) {
		t.Errorf("error %v", err)
	}
	indextest.Must(t, x.Close())
}

// unsent is a log whose verdicts are lost.
type unsent struct{ *memory }

var errUnsafe = errors.New("verdicts are lost")

func (unsent) Flush(context.Context) error { return errUnsafe }

// TestVerdictsBeforeCheckpoint checks that the index moves past no record whose verdict is not safe.
func TestVerdictsBeforeCheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	all := records(t, 60)
	f, x := followed(t, dir, unsent{newMemory(all...)}, nil)
	if _, err := f.answers.get(t.Context(), int64(len(all)-1)); err == nil {
		t.Fatal("all are decided")
	}
	if err := f.Close(); !errors.Is(err, errUnsafe) {
		t.Errorf("error %v", err)
	}
	indextest.Must(t, x.Close())
	whole := newMemory(all...)
	f, x = followed(t, dir, whole, nil)
	reach(t, f, int64(len(all)-1))
	end(t, f, x)
	if len(whole.published[1]) == 0 || len(whole.published) < len(all)-3 {
		t.Errorf("%d verdicts of %d records are published again", len(whole.published), len(all))
	}
}

// TestWhatStays checks that seed and key of a log do not change.
func TestWhatStays(t *testing.T) {
	s := Settings{Scheme: "s", Threshold: 0.6, Text: "text", ID: "id", Window: 5}
	for name, change := range map[string]func(*Settings){
		"seed":      func(s *Settings) { s.Seed = "0" },
		"key":       func(s *Settings) { s.NoKey = true },
		"no window": func(s *Settings) { s.Window = 0 },
	} {
		to := s
		if change(&to); !errors.Is(s.checkChange(&to), errSettings) {
			t.Errorf("%s changes", name)
		}
	}
	to := s
	if to.Window = 6; s.checkChange(&to) != nil {
		t.Error("another window is refused")
	}
}

// TestSettingsAreKept checks that flags left out are filled from the log, and that others need Change.
func TestSettingsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	log := newMemory(settings(t, func(s *Settings) { s.Threshold, s.Mosaics, s.Text, s.Score = 0.9, true, "body", dedup.ScoreSegments }))
	f, x := followed(t, dir, log, nil)
	reach(t, f, 0)
	if s := f.place.Settings; s.Threshold != 0.9 || !s.Mosaics || s.Text != "body" || len(log.values) != 1 {
		t.Errorf("settings %s, %d records", &s, len(log.values))
	}
	end(t, f, x)
	x = openIndex(t, dir, followOptions)
	cfg := Config{Index: x, Dir: dir, Log: log}
	cfg.Policy.Rules.Threshold = 0.8
	if _, err := Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "--new-settings") || len(log.values) != 1 {
		t.Errorf("another threshold: error %v, %d records", err, len(log.values))
	}
	indextest.Must(t, x.Close())
	f, x = followed(t, dir, log, func(c *Config) { c.Policy.Rules.Threshold, c.Change = 0.8, true })
	reach(t, f, 1)
	if s := f.place.Settings; s.Threshold != 0.8 || !s.Mosaics || len(log.values) != 2 {
		t.Errorf("changed to %s, %d records", &s, len(log.values))
	}
	end(t, f, x)
}
