package follow

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/ask"
	"github.com/firstseen/firstseen/internal/engine/server"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// fetch copies the index of a server as a new follower of the log does.
func fetch(t *testing.T, web *httptest.Server, log Log) (dest string, err error) {
	t.Helper()
	c, err := client.New(web.URL)
	indextest.Must(t, err)
	dest = filepath.Join(t.TempDir(), "copy")
	return dest, ask.Fetch(t.Context(), c, dest, func(dir string) error { return CheckSnapshot(t.Context(), log, dir) })
}

// copied is fetch of a snapshot that fits. Its follower has decided nothing yet.
func copied(t *testing.T, web *httptest.Server, c *kfake.Cluster) (dest string, next int64) {
	t.Helper()
	log := dialed(t, c, "")
	dest, err := fetch(t, web, log)
	indextest.Must(t, err)
	x := openIndex(t, dest, followOptions)
	f, err := Open(t.Context(), Config{Index: x, Dir: dest, Log: log})
	indextest.Must(t, err)
	next = f.Next()
	f.Start(nil)
	kill(t, f, x)
	return dest, next
}

// TestFromSnapshot starts followers from snapshots that another one gives while it decides. The log
// then loses all records before the snapshot's offset. The new follower is killed again and again.
// Its index and its verdicts equal those of the follower of the whole log.
func TestFromSnapshot(t *testing.T) {
	for name, window := range map[string]uint32{"plain": 0, "window": 20} {
		t.Run(name, func(t *testing.T) {
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "log", "whole", "copies"))
			indextest.Must(t, err)
			t.Cleanup(c.Close)
			all := changed(t, records(t, 80), func(s *Settings) { s.Window = window })
			configure := func(c *Config) { c.Policy.Window = window }
			producer, given := dialed(t, c, ""), 0
			give := func(n int) {
				n = min(n, len(all)-given)
				if _, err := producer.Append(t.Context(), all[given:given+n]); err != nil {
					t.Error(err)
				}
				given += n
			}
			give(10)
			whole := filepath.Join(t.TempDir(), "whole")
			x := openIndex(t, whole, followOptions)
			f, err := Open(t.Context(), Config{Index: x, Dir: whole, Log: dialed(t, c, "whole"), Policy: index.Policy{CheckpointBytes: 3000, Window: window}})
			indextest.Must(t, err)
			s, err := server.Open(server.Config{Index: x, Dir: whole, Log: f})
			indextest.Must(t, err)
			web := httptest.NewServer(s.Handler(""))
			defer web.Close()

			of := map[string]bool{} // the offsets that the new followers decide
			for given < len(all) {
				reach(t, f, int64(given-1))
				done := make(chan bool)
				go func() {
					give(9)
					close(done)
				}()
				dir, next := copied(t, web, c)
				<-done
				request(t, c, deleteBefore(next))
				give(9)
				for at := next; at < int64(given); at++ {
					of[fmt.Sprint(at)] = true
				}
				killedOften(t, c, dir, next, int64(given-1), configure)
				reach(t, f, int64(given-1))
				now, _ := copied(t, web, c)
				if diff := cmp.Diff(dumped(t, now), dumped(t, dir)); diff != "" {
					t.Errorf("from offset %d to %d: %s", next, given, diff)
				}
			}
			indextest.Must(t, s.Close())
			indextest.Must(t, x.Close())
			want := verdicts(t, c, "whole")
			maps.DeleteFunc(want, func(offset, _ string) bool { return !of[offset] })
			if diff := cmp.Diff(want, verdicts(t, c, "copies")); diff != "" || len(want) < 30 {
				t.Errorf("%d verdicts: %s", len(want), diff)
			}
		})
	}
}

// killedOften decides the records from next to last with a kill after every fourth.
func killedOften(t *testing.T, c *kfake.Cluster, dir string, next, last int64, configure func(*Config)) {
	t.Helper()
	for at := next; at <= last; at += 4 {
		f, x := followed(t, dir, dialed(t, c, "copies"), configure)
		reach(t, f, at)
		kill(t, f, x)
	}
	f, x := followed(t, dir, dialed(t, c, "copies"), configure)
	reach(t, f, last)
	end(t, f, x)
}

// bounded is a log with other bounds.
type bounded struct {
	*memory
	first, end int64
	id         string
}

func (b bounded) Topic() (name, id string) { return "memory", b.id }

func (b bounded) Bounds(context.Context) (first, end int64, err error) { return b.first, b.end, nil }

// TestSnapshotRefused checks that a snapshot that does not fit the log is refused with advice, and
// that nothing of it is left.
func TestSnapshotRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	x := openIndex(t, dir, followOptions)
	f, err := Open(t.Context(), Config{Index: x, Dir: dir, Log: newMemory(records(t, 20)...)})
	indextest.Must(t, err)
	s, err := server.Open(server.Config{Index: x, Dir: dir, Log: f})
	indextest.Must(t, err)
	reach(t, f, 20)
	web := httptest.NewServer(s.Handler(""))
	defer web.Close()
	unlogged := filepath.Join(t.TempDir(), "index")
	alone := openIndex(t, unlogged, index.Options{Serve: true})
	single, err := server.Open(server.Config{Index: alone, Dir: unlogged})
	indextest.Must(t, err)
	other := httptest.NewServer(single.Handler(""))
	defer other.Close()
	for name, c := range map[string]struct {
		web  *httptest.Server
		log  bounded
		says string
	}{
		"fits":           {web, bounded{nil, 21, 21, "1"}, ""},
		"expired":        {web, bounded{nil, 22, 30, "1"}, "topic memory begins at offset 22, and the snapshot ends before 21: the next record is no longer there: retention has removed it; start from a newer snapshot"},
		"lost":           {web, bounded{nil, 0, 20, "1"}, "the cluster has lost them"},
		"another topic":  {web, bounded{nil, 0, 30, "2"}, "the snapshot follows topic memory (id 1), and this is memory (id 2)"},
		"follows no log": {other, bounded{nil, 0, 30, "1"}, "follows no log: give the address of a follower"},
	} {
		dest, err := fetch(t, c.web, c.log)
		if c.says == "" {
			indextest.Must(t, err)
			continue
		}
		if !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%s: error %v", name, err)
		}
		if left, err := os.ReadDir(filepath.Dir(dest)); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
	indextest.Must(t, single.Close())
	indextest.Must(t, alone.Close())
	indextest.Must(t, s.Close())
	indextest.Must(t, x.Close())
}
