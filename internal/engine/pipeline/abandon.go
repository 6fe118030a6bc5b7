package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/index"
)

// Abandon gives up the unfinished run on the index in dir, or the lost journals of a server. It
// returns the run, nil if there was none, and the files that are the only copy of its output.
func Abandon(ctx context.Context, dir string) (run *Unfinished, left []string, err error) {
	made, err := index.ReadMade(dir)
	if err == nil && made == nil {
		err = fmt.Errorf("%s holds no index that this version can continue; firstseen index check says why", dir)
	}
	if err != nil {
		return nil, nil, err
	}
	o := index.Options{Scheme: made.Scheme, FilterOnly: made.FilterOnly}
	x, err := index.Open(ctx, dir, o)
	if errors.Is(err, index.ErrServed) {
		return nil, nil, abandonServer(ctx, dir, o, err)
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	ledger, err := OpenLedger(x, &Job{})
	if err != nil {
		return nil, nil, err
	}
	if run = ledger.Unfinished(); run == nil {
		started, err := x.Started()
		switch {
		case err != nil:
			return nil, nil, err
		case started != nil:
			return nil, nil, fmt.Errorf("index %s: a run on it was interrupted before its first checkpoint: nothing is remembered, so there is nothing to abandon, and any command can run", dir)
		}
		return nil, nil, fmt.Errorf("index %s has no interrupted run", dir)
	}
	if left, err = ledger.GiveUp(); err == nil {
		err = x.Finish(map[string][]byte{LedgerName: nil})
	}
	return run, left, err
}

// abandonServer gives up the lost journals of a server. Existing ones are needed, so an index with
// all its journals is refused as before.
func abandonServer(ctx context.Context, dir string, o index.Options, refused error) (err error) {
	o.Serve = true
	x, err := index.Open(ctx, dir, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	lost, err := x.ForgetServer()
	if err == nil && !lost {
		err = refused
	}
	return err
}
