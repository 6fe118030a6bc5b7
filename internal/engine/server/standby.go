package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/durable"
)

// StandbyConfig configures NewStandby.
type StandbyConfig struct {
	Primary *client.Client // asks the server to stand by
	Dir     string         // of the copy
	// Open opens the copy. The standby closes its index.
	Open func() (Config, error)

	retry time.Duration // between two connections; 0 means one second
}

// Standby keeps a copy of the index of another server, the primary, and repeats what that decides.
// It answers questions, but decides nothing until it is promoted.
type Standby struct {
	cfg      StandbyConfig
	stop     context.CancelFunc // of following
	stopped  chan struct{}      // closed when following has ended
	promote  sync.Mutex
	promoted chan struct{} // closed
	draining context.Context
	drain    context.CancelFunc
	failed   context.Context
	fail     context.CancelCauseFunc

	using   sync.RWMutex // held by each request
	service *Service     // nil while there is no copy
	address string       // for commands on the index

	mu  sync.Mutex
	lag lag
}

const (
	// markFile says that a folder holds the copy of a standby, which a new snapshot may replace. It has
	// the address of the primary.
	markFile = "standby"
	// newFolder holds a snapshot that is to replace the copy.
	newFolder = "new"
)

var errStandby = errors.New("this server is a standby: send documents to the primary, or promote this one with POST /v1/promote if the primary is gone for good")

// NewStandby opens the copy, if there is one, and begins to follow the primary.
func NewStandby(cfg StandbyConfig) (*Standby, error) {
	b := &Standby{cfg: cfg, stopped: make(chan struct{}), promoted: make(chan struct{})}
	b.draining, b.drain = context.WithCancel(context.Background())
	b.failed, b.fail = context.WithCancelCause(context.Background())
	b.lag.whole = time.Now()
	_, err := os.Lstat(filepath.Join(cfg.Dir, index.TableFile))
	there := !errors.Is(err, fs.ErrNotExist)
	_, err = os.Lstat(filepath.Join(cfg.Dir, markFile))
	switch {
	case err == nil:
	case there || index.Exists(cfg.Dir):
		return nil, fmt.Errorf("index %s is no standby's copy, or was promoted: serve it without --standby-of, or name a new folder", cfg.Dir)
	default:
		err = os.MkdirAll(cfg.Dir, 0o777)
		if err == nil {
			err = durable.Replace(filepath.Join(cfg.Dir, markFile), func(f *os.File) error {
				_, err := fmt.Fprintln(f, cfg.Primary.URL)
				return err
			})
		}
	}
	if err == nil && there {
		err = b.open()
	}
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go b.run(ctx)
	return b, nil
}

// open opens the copy.
func (b *Standby) open() error {
	cfg, err := b.cfg.Open()
	if err != nil {
		return err
	}
	cfg.standby = b
	s, err := Open(cfg)
	if err != nil {
		return errors.Join(err, cfg.Index.Close())
	}
	b.using.Lock()
	defer b.using.Unlock()
	b.service = s
	go func() {
		select {
		case <-s.Failed():
			b.fail(nil) // closing the service tells why
		case <-s.draining.Done():
		}
	}()
	if b.address == "" {
		return nil
	}
	return cfg.Index.Announce(b.address)
}

// closeCopy closes a copy, if there is one.
func closeCopy(s *Service) error {
	if s == nil {
		return nil
	}
	return errors.Join(s.Close(), s.cfg.Index.Close())
}

// replace takes a snapshot, and puts it in the place of the copy. Until it is complete, the old copy
// can be promoted. taken reports whether the primary gave one.
func (b *Standby) replace(ctx context.Context) (taken bool, err error) {
	dir, from := b.cfg.Dir, filepath.Join(b.cfg.Dir, newFolder)
	if err := os.RemoveAll(from); err != nil {
		return false, err
	}
	in, err := b.cfg.Primary.Stream(ctx, http.MethodGet, "/v1/snapshot?standby=1", "", nil)
	if err != nil {
		return false, err
	}
	slog.Info("taking a snapshot of the primary", "primary", b.cfg.Primary.URL)
	err = index.Restore(ctx, in, from)
	if err = errors.Join(err, in.Close()); err != nil {
		return true, err
	}
	if b.service != nil {
		for _, name := range []string{index.KeyFile, index.TermsFile} { // missing is empty
			was, _ := os.ReadFile(filepath.Join(dir, name))
			is, _ := os.ReadFile(filepath.Join(from, name))
			if !bytes.Equal(was, is) {
				return true, fmt.Errorf("the primary has another index than %s, with another %s: remove this folder to copy it", dir, name)
			}
		}
	}
	for !b.using.TryLock() { // requests to a copy end first
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		time.Sleep(time.Millisecond)
	}
	old := b.service
	b.service = nil
	b.using.Unlock()
	if err = closeCopy(old); err == nil {
		err = install(from, dir)
	}
	if err == nil {
		err = b.open()
	}
	if err != nil {
		b.fail(err)
	}
	return true, err
}

// install moves a snapshot into the folder of the copy. The table comes last: it is the index.
func install(from, dir string) error {
	for _, name := range []string{index.KeyFile, index.TermsFile, index.TableFile} {
		err := durable.Rename(filepath.Join(from, name), filepath.Join(dir, name))
		if err != nil && (name == index.TableFile || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	return os.RemoveAll(from)
}

// unmark lets nothing replace the index in dir from now on.
func unmark(dir string) error {
	mark, snapshot := filepath.Join(dir, markFile), filepath.Join(dir, newFolder)
	if _, err := os.Lstat(mark); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(os.RemoveAll(snapshot), os.RemoveAll(snapshot+".partial"), durable.Remove(mark))
}

// waits returns errStandby while a standby is not promoted. A server that is none never waits.
func (b *Standby) waits() error {
	if b != nil {
		select {
		case <-b.promoted:
		default:
			return errStandby
		}
	}
	return nil
}

// promotion is the answer of /v1/promote. The JSON form is a contract.
type promotion struct {
	Promoted bool    `json:"promoted"`
	Entries  uint64  `json:"entries"`     // that the index has had
	Lag      float64 `json:"lag_seconds"` // since it had all of the primary's
}

// Promote ends the following. From then on, this server decides.
func (b *Standby) Promote() (*promotion, error) {
	if b == nil {
		return nil, refuse(http.StatusConflict, "this server is no standby: it decides already")
	}
	b.promote.Lock()
	defer b.promote.Unlock()
	b.stop()
	<-b.stopped
	_, seconds := b.behind()
	if b.waits() != nil {
		if err := unmark(b.cfg.Dir); err != nil {
			return nil, err
		}
		close(b.promoted)
		slog.Warn("promoted: this server decides now, and the old primary must not come back", "primary", b.cfg.Primary.URL, "lag_seconds", seconds)
	}
	at, err := b.service.own.position()
	return &promotion{true, at.Entries, seconds}, err
}

// Handler returns the HTTP interface of the copy.
func (b *Standby) Handler(token string) http.Handler {
	var mu sync.Mutex
	var of *Service
	var handler http.Handler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.using.RLock()
		defer b.using.RUnlock()
		switch s := b.service; {
		case s != nil:
			mu.Lock()
			if of != s {
				of, handler = s, s.Handler(token)
			}
			h := handler
			mu.Unlock()
			h.ServeHTTP(w, r)
		case r.URL.Path == "/livez":
			healthy(func() (int, string) { return 0, "" })(w, r)
		default:
			fail(w, refuse(http.StatusServiceUnavailable, "this server is a standby, and its copy is not complete yet"))
		}
	})
}

// ServeLines serves connections of lines once the standby is promoted. Until then they wait.
func (b *Standby) ServeLines(l net.Listener) error {
	select {
	case <-b.promoted:
		return b.service.ServeLines(l)
	case <-b.draining.Done():
		return nil
	}
}

// Announce publishes the address of the server for commands on the index.
func (b *Standby) Announce(address string) error {
	b.using.Lock()
	defer b.using.Unlock()
	if b.address = address; b.service == nil {
		return nil
	}
	return b.service.cfg.Index.Announce(address)
}

// Failed is closed when the copy or its journal has failed. Close then returns the error.
func (b *Standby) Failed() <-chan struct{} { return b.failed.Done() }

// Drain ends the following, and makes readiness fail.
func (b *Standby) Drain() {
	b.stop()
	<-b.stopped
	b.drain()
	if b.service != nil {
		b.service.Drain()
	}
}

// Close closes the copy.
func (b *Standby) Close() error {
	b.Drain()
	err := closeCopy(b.service)
	if cause := context.Cause(b.failed); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}
