package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// TestWindowIsContinued checks that a run with a window, stopped and continued later, ends as if
// nothing had happened. Times are those of the documents or of arrival.
func TestWindowIsContinued(t *testing.T) {
	for _, tells := range []bool{true, false} {
		r := newTold(t)
		withTimes(t, r)
		r.command.Window = Window{Seconds: 1000, Told: tells}
		processes := int64(0)
		r.command.Now = func() time.Time { return time.Unix(1_700_000_000+processes*2000, 0) }
		indextest.Must(t, r.run())
		want := r.files()
		kept := strings.Count(want["kept.jsonl"], "\n")
		r.reset()
		r.command.Window = Window{}
		indextest.Must(t, r.run())
		if same := strings.Count(r.files()["kept.jsonl"], "\n") == kept; same == tells {
			t.Fatalf("told %v: %d are kept, as without a window: %v", tells, kept, same)
		}
		r.command.Window = Window{Seconds: 1000, Told: tells}
		n, continued := 1, 0
		every := 1
		if testing.Short() {
			every = 3
		}
		for ; ; n += every {
			r.reset()
			processes = 0
			name, err := r.stopAfter(n)
			if name == "" {
				indextest.Must(t, err)
				break
			}
			if !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			processes++
			continued++
			indextest.Must(t, r.run())
			if got := r.files(); !maps.Equal(got, want) {
				t.Fatalf("told %v: stopped after step %d (%s) and continued (-want +got):\n%s", tells, n, name, cmp.Diff(want, got))
			}
		}
		if continued < 5 {
			t.Errorf("stopped %d times: too few to mean anything", continued)
		}
	}
}

// withTimes gives the documents of a run times. Most follow each other; some are late, missing or
// in the future.
func withTimes(t *testing.T, r *told) {
	t.Helper()
	var lines strings.Builder
	for n := range 60 {
		at := fmt.Sprint(1_600_000_000 + 40*n)
		switch n % 12 {
		case 5:
			at = fmt.Sprint(1_600_000_000 + 40*n - 700)
		case 7:
			at = "null"
		case 9:
			at = "4102444800"
		}
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"at\":%s,\"text\":%q}\n", n, at, indextest.Sentences(n%30))
	}
	for _, in := range r.command.Inputs {
		indextest.Must(t, os.WriteFile(in.Path, []byte(lines.String()), 0o666))
	}
	// The sizes have changed.
	paths := []string{r.command.Inputs[0].Path, r.command.Inputs[1].Path}
	inputs, _, err := input.Expand(paths, jsonl.Format{}.Endings())
	indextest.Must(t, err)
	r.command.Inputs = inputs
	r.format.Fields = jsonl.Fields{Time: "at"}
}

// TestTimesToCome checks that a time may be ahead by an eighth of the window, at most 24 hours.
func TestTimesToCome(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for window, most := range map[time.Duration]time.Duration{
		time.Second: 0, 8 * time.Second: time.Second, 12 * time.Hour: 90 * time.Minute, 8 * 24 * time.Hour: 24 * time.Hour, 1000 * time.Hour: 24 * time.Hour,
	} {
		for _, pipe := range []bool{true, false} {
			job := &Job{Choices: Choices{Window: Window{Seconds: uint32(window / time.Second), Told: true}}, Pipe: pipe, Now: func() time.Time { return now }}
			job.began = job.now().Unix()
			for ahead, want := range map[time.Duration]bool{-50 * 365 * 24 * time.Hour: true, 0: true, most: true, most + time.Second: false} {
				doc := corpus.Document{Time: now.Add(ahead)}
				if got := job.appendTime(nil, &doc); len(got) > 0 != want || want && len(got) != storedTime {
					t.Errorf("a window of %v, a document of %v from now: %d bytes, want it believed: %v", window, ahead, len(got), want)
				}
			}
			if len(job.appendTime(nil, &corpus.Document{})) > 0 {
				t.Error("a document that tells no time has one")
			}
		}
	}
}

// TestWindowIsNotEmptied checks that no document moves the window by more than an eighth.
func TestWindowIsNotEmptied(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, window := range []time.Duration{time.Minute, 12 * time.Hour, 48 * time.Hour, 300 * 24 * time.Hour} {
		job := &Job{Choices: Choices{Window: Window{Seconds: uint32(window / time.Second), Told: true}}, Pipe: true, Now: func() time.Time { return now }}
		if edge := job.latest().Add(-window); edge.After(now.Add(-window * 7 / 8)) {
			t.Errorf("a window of %v: a document moves the edge to %v before now", window, now.Sub(edge))
		}
	}
}
