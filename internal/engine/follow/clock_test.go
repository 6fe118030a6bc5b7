package follow

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

const (
	begun = 1_700_000_000 // the clock of a new log in tests
	wrong = 2_840_140_800 // the year 2060
)

// TestClock checks the time that each document of a log gets, and where the clock is at the end.
func TestClock(t *testing.T) {
	const step = 100 // an eighth of the window
	far := func(n int, from int64) (times []int64) {
		for i := range n {
			times = append(times, from+int64(i))
		}
		return times
	}
	for name, c := range map[string]struct {
		times []int64 // of the documents, after begun
		last  int64   // time of the last document
		clock int64
		ahead int
	}{
		"in order":                    {[]int64{1, 2, 3}, 3, 3, 0},
		"back":                        {[]int64{50, 2}, 2, 50, 0},
		"as far as a step":            {[]int64{step}, step, step, 0},
		"a second more than a step":   {[]int64{step + 1}, 0, 0, 1},
		"one wrong":                   {[]int64{1, wrong, 2}, 2, 2, 1},
		"seven wrong":                 {far(7, wrong), 0, 0, 7},
		"seven wrong, twice":          {slices.Concat(far(7, wrong), []int64{1}, far(7, wrong)), 1, 1, 14},
		"a thousand of a wrong clock": {slices.Repeat([]int64{wrong, wrong + 1}, 500), 0, 0, 1000},
		"a pause":                     {far(8, 1000), 1007, 1007, 7},
		"a pause, one wrong":          {slices.Concat([]int64{wrong}, far(8, 1000)), 1007, 1007, 7},
		"a pause, one wrong at last":  {slices.Concat(far(7, 1000), []int64{wrong}), 1000, 1000, 8},
		"rarer than a step":           {[]int64{200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000}, 600, 600, 10},
	} {
		k, ahead := clock{Time: begun}, 0
		var s apply.Step
		for i, at := range c.times {
			if s.Time = (begun + at) * 1e9; k.arrive(&s, 8*step) {
				ahead++
			}
			again, twice := s, clock{k.Time, slices.Clone(k.Ahead)}
			again.Time = (begun + at) * 1e9
			if twice.arrive(&again, 8*step); again.Time != s.Time || twice.Time != k.Time || !slices.Equal(twice.Ahead, k.Ahead) {
				t.Errorf("%s: document %d arrives again: %+v became %+v", name, i, k, twice)
			}
		}
		if got := s.Time/1e9 - begun; got != c.last || k.Time-begun != c.clock || ahead != c.ahead {
			t.Errorf("%s: the last has time %d, the clock is %d, %d were ahead: want %+v", name, got, k.Time-begun, ahead, c)
		}
	}
	for window, step := range map[uint32]int64{1: 1, 15: 1, 16: 2, 8 * 86400: 86400, 9 * 86400: 86400} {
		k, s := clock{Time: begun}, apply.Step{Entry: journal.Entry{Time: (begun + step) * 1e9}}
		over := apply.Step{Entry: journal.Entry{Time: (begun + 2*step + 1) * 1e9}}
		if k.arrive(&s, window) || !k.arrive(&over, window) {
			t.Errorf("window %d: a step of %d seconds is too far, or one of %d is not", window, step, step+1)
		}
	}
	s := apply.Step{Entry: journal.Entry{Time: wrong * 1e9}, Stamped: true}
	if k := (clock{Time: begun}); k.arrive(&s, 8) || k.Time != wrong {
		t.Errorf("the broker's time moves the clock to %d", k.Time)
	}
}

// timed is a log in memory whose records have other times.
type timed struct {
	*memory
	times   []int64
	stamped bool
}

func (l timed) Next(ctx context.Context) ([]Record, error) {
	records, err := l.memory.Next(ctx)
	for i := range records {
		r := &records[i]
		r.Time, r.Stamped = time.Unix(l.times[r.Offset], 0), l.stamped
	}
	return records, err
}

// TestWrongClock checks that a document of the year 2060, in JSON or in an entry, empties no window,
// that later documents still expire, and that a follower killed after any record decides the same.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	const window = 2 * 86400
	rules := settings(t, func(s *Settings) { s.Window = window })
	values, times := [][]byte{rules}, []int64{begun}
	add := func(name string, n int, at int64, asEntry bool) {
		value := fmt.Appendf(nil, `{"id":%q,"text":%q}`, name, indextest.Sentences(n))
		if asEntry {
			e := journal.Entry{Kind: journal.Seen, Time: at * 1e9, ID: name, Text: []byte(indextest.Sentences(n))}
			value = e.Append(nil)
		}
		values, times = append(values, value), append(times, at)
	}
	for n := range 5 {
		add(fmt.Sprint("first", n), n, begun+int64(n), n%2 == 0)
	}
	for n := range 20 { // a request has one time
		add(fmt.Sprint("wrong", n), 100+n, wrong, n > 0)
	}
	for n := range 5 {
		add(fmt.Sprint("again", n), n, begun+100+int64(n), n%2 == 0)
	}
	for n := range 12 { // after a pause of three days
		add(fmt.Sprint("pause", n), 200+n, begun+3*86400+int64(n), n%2 == 0)
	}
	for n := range 5 {
		add(fmt.Sprint("late", n), n, begun+3*86400+20, n%2 == 0)
	}
	configure := func(c *Config) { c.Policy.Window, c.Policy.CheckpointBytes = window, 1 }
	log := timed{newMemory(values...), times, false}
	whole := filepath.Join(t.TempDir(), "index")
	f, x := followed(t, whole, log, configure)
	reach(t, f, int64(len(values)-1))
	if got := f.Ahead(); got != 20+7 {
		t.Errorf("%d documents ahead of the clock, want 27", got)
	}
	end(t, f, x)
	for offset, v := range log.published {
		again := strings.Contains(v, `"id":"again`)
		if offset > 0 && strings.Contains(v, `"kept":true`) == again {
			t.Errorf("offset %d: %s", offset, v)
		}
	}
	want := dumped(t, whole)
	step := 1
	if testing.Short() {
		step = 5
	}
	for cut := 1; cut < len(values); cut += step {
		dir := filepath.Join(t.TempDir(), "index")
		part := timed{newMemory(values[:cut]...), times, false}
		f, x := followed(t, dir, part, configure)
		reach(t, f, int64(cut-1))
		killed := indextest.Copy(t, dir) // the follower is idle
		end(t, f, x)
		rest := timed{newMemory(values...), times, false}
		rest.published = log.published
		f, x = followed(t, killed, rest, configure)
		reach(t, f, int64(len(values)-1))
		end(t, f, x)
		if diff := cmp.Diff(want, dumped(t, killed)); diff != "" {
			t.Fatalf("killed after %d records: %s", cut, diff)
		}
	}
}

// TestBrokersClock checks that with LogAppendTime a pause ends with its first document, and that
// the time in an entry does not count.
func TestBrokersClock(t *testing.T) {
	e := journal.Entry{Kind: journal.Seen, Time: wrong * 1e9, ID: "a", Text: []byte(indextest.Sentences(1))}
	values := [][]byte{settings(t, func(s *Settings) { s.Window = 3600 }), e.Append(nil), fmt.Appendf(nil, `{"id":"b","text":%q}`, indextest.Sentences(1))}
	log := timed{newMemory(values...), []int64{begun, begun + 100_000, begun + 200_000}, true}
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, func(c *Config) { c.Policy = index.Policy{Window: 3600} })
	reach(t, f, 2)
	end(t, f, x)
	if v := log.published[2]; f.Ahead() != 0 || !strings.Contains(v, `"kept":true`) {
		t.Errorf("%d ahead, %s", f.Ahead(), v)
	}
}

// TestClockBeginsWithTheLog checks that a wrong time of the first document does not count.
func TestClockBeginsWithTheLog(t *testing.T) {
	log := timed{newMemory(settings(t, func(s *Settings) { s.Window = 3600 }), []byte(`{"id":"a","text":"x"}`)), []int64{begun, wrong}, false}
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, func(c *Config) { c.Policy.Window = 3600 })
	reach(t, f, 1)
	end(t, f, x)
	if f.place.Time != begun || f.Ahead() != 1 {
		t.Errorf("the clock is %d, %d ahead", f.place.Time, f.Ahead())
	}
}
