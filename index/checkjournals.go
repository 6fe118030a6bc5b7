package index

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/firstseen/firstseen/index/filterlog"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
)

const fromACopy = "put the index back from a copy, or begin a new one"

// checkJournals reads the journals of a filter-only index. It checks that each continues the one
// before, and the checksums of all groups.
func (c *checker) checkJournals() error {
	a, err := filterlog.Find(c.dir)
	if errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) {
		return c.checkHeaders()
	}
	if misplaced := (*filterlog.MisplacedError)(nil); errors.As(err, &misplaced) {
		c.find(filepath.Base(misplaced.Path), Damaged, "it "+misplaced.What, fromACopy)
		return nil
	}
	if err != nil {
		return err
	}
	c.out.Unfinished = len(a.Journals()) > 0
	if c.out.Scheme == "" {
		c.out.Scheme = a.Header.Scheme
	}
	for _, path := range a.Stale {
		c.find(filepath.Base(path), Stale, "its keys are already in the filter, as after a kill while the filter was saved", "the next run removes it")
	}
	for _, path := range a.Journals() {
		if err := c.checkJournal(path); err != nil {
			return err
		}
	}
	return nil
}

// checkHeaders finds the journals without a readable header.
func (c *checker) checkHeaders() error {
	generations, err := filterlog.Logs(c.dir)
	for _, n := range generations {
		name := filterlog.LogName(n)
		_, err := filterlog.ReadLogHeader(c.path(name))
		c.findJournal(name, err)
	}
	return err
}

func (c *checker) checkJournal(path string) error {
	name := filepath.Base(path)
	c.o.Progress("journal", 0, 0)
	_, torn, err := filterlog.ReadLog(path, func(filterlog.Group) error { return c.ctx.Err() })
	if c.findJournal(name, err) {
		return nil
	}
	if err != nil {
		return err
	}
	if torn > 0 {
		c.find(name, Torn, fmt.Sprintf("its last %d bytes are an incomplete group, as after a kill while they were written", torn),
			"the next run goes on without them, and keeps the documents of that instant again")
	}
	return nil
}

func (c *checker) findJournal(name string, err error) bool {
	remedy := fromACopy + ", or remove it and the later journals: documents kept in that time will be kept again"
	return c.findError(name, err, journal.ErrDamaged, journal.ErrVersion, remedy, otherVersion)
}

// checkServed reads the journals of a running server, which is still writing the last one.
func (c *checker) checkServed() error {
	generations, err := owners.Journals(c.dir)
	if err != nil || c.o.Frozen == nil {
		return err
	}
	for _, n := range generations {
		name := owners.Journal(n)
		_, _, err := journal.Served.Read(c.path(name), nil, func([]byte) error { return c.ctx.Err() })
		if errors.Is(err, fs.ErrNotExist) || c.findError(name, err, journal.ErrDamaged, journal.ErrVersion, fromACopy, otherVersion) {
			continue // removed after a checkpoint, or a finding
		}
		if err != nil {
			return err
		}
	}
	return nil
}
