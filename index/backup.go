package index

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/internal/base/durable"
	"github.com/firstseen/firstseen/internal/base/step"
)

// snapshotFiles are the files of a snapshot in their order. The table is last: without it, none of
// the others is an index. The filter is derived from the table, and the next Open makes it.
var snapshotFiles = []string{KeyFile, TermsFile, TableFile}

// A Snapshot is the state of an index at a checkpoint, while the index changes. Until Close the
// table's file grows by everything that is written.
type Snapshot struct {
	dir   string
	table *docmap.Copy
}

// Snapshot returns the state of the last checkpoint. Close it before the index.
func (x *Index) Snapshot() (*Snapshot, error) {
	if x.closed {
		return nil, errIndexClosed
	}
	return snapshotOf(x.dir, x.table)
}

func snapshotOf(dir string, table *docmap.Table) (*Snapshot, error) {
	if table == nil {
		return nil, fmt.Errorf("index %s: it has no side table to copy; copy its folder while no run is in progress", dir)
	}
	c, err := table.Copy()
	return &Snapshot{dir, c}, err
}

// Close ends the use of the index.
func (s *Snapshot) Close() error { return s.table.Close() }

// Write writes the snapshot as a tar archive, which Restore and tar -x unpack to an index.
func (s *Snapshot) Write(w io.Writer) error {
	archive := tar.NewWriter(w)
	for _, name := range snapshotFiles[:2] { // they never change
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(b))})
		}
		if err == nil {
			_, err = archive.Write(b)
		}
		if err != nil {
			return err
		}
	}
	err := archive.WriteHeader(&tar.Header{Name: TableFile, Mode: 0o644, Size: s.table.Size()})
	if err == nil {
		_, err = s.table.WriteTo(archive)
	}
	return errors.Join(err, archive.Close())
}

// Backup copies the index in dir, which no run may have open, to the new folder dest.
func Backup(ctx context.Context, dir, dest string) error {
	files, err := OpenFiles(dir)
	if errors.Is(err, docmap.ErrLocked) || errors.Is(err, ErrServed) {
		err = fmt.Errorf("%w; from a server with a token: curl -f -H 'Authorization: Bearer TOKEN' -o copy.tar http://HOST:PORT/v1/snapshot", err)
	}
	if err != nil {
		return err
	}
	s, err := snapshotOf(dir, files.Table)
	if err != nil {
		return errors.Join(err, files.Close())
	}
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := s.Write(w)
		w.CloseWithError(err)
		done <- errors.Join(s.Close(), files.Close())
	}()
	err = Restore(ctx, r, dest)
	r.CloseWithError(err)
	return errors.Join(err, <-done)
}

// Restore unpacks a snapshot to the folder dest, which must not exist. The folder appears in one
// step, complete and durable, unless a check refuses the index where it lies before. A killed process
// leaves at most dest with ".partial" appended, and the next Restore to dest replaces that.
func Restore(ctx context.Context, r io.Reader, dest string, checks ...func(dir string) error) (err error) {
	dest = filepath.Clean(dest)
	temp := dest + ".partial"
	if err := isNew(dest); err != nil {
		return err
	}
	if err := makeTemporary(temp); err != nil {
		return err
	}
	release, err := HoldTemporary(temp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("copying the index to %s: %w", dest, errors.Join(err, removeSnapshot(temp), release(),
				durable.RemoveLeft(filepath.Join(temp, lockFile)), durable.RemoveLeft(temp)))
		}
	}()
	if err := removeSnapshot(temp); err != nil {
		return err
	}
	if err := unpack(ctx, r, temp); err != nil {
		return err
	}
	for _, check := range checks {
		if err := check(temp); err != nil {
			return err
		}
	}
	if err := durable.SyncName(filepath.Join(temp, TableFile)); err != nil {
		return err
	}
	if err := errors.Join(step.Done("unpacked a snapshot"), isNew(dest), release()); err != nil { // Windows renames no open file
		return err
	}
	return durable.Rename(temp, dest)
}

func isNew(dest string) error {
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("%s exists already: name a folder that does not", dest))
	}
	return nil
}

// makeTemporary makes the folder of a copy, or takes one that a killed process left. It refuses an
// index, and any other folder with files that unpack does not make.
func makeTemporary(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); name != lockFile && !slices.Contains(snapshotFiles, name) {
			err = fmt.Errorf("%s is in the way: no copy left its file %s; move it, or name another folder", dir, name)
		}
	}
	return err
}

// removeSnapshot removes the files that unpack made.
func removeSnapshot(dir string) (err error) {
	for _, name := range snapshotFiles {
		err = errors.Join(err, durable.RemoveLeft(filepath.Join(dir, name)))
	}
	return err
}

// unpack writes the files of a snapshot, each once and in their order.
func unpack(ctx context.Context, r io.Reader, dir string) error {
	archive, next := tar.NewReader(r), 0
	for next < len(snapshotFiles) {
		h, err := archive.Next()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("the snapshot is not complete: %w; make another", err)
		}
		for next < len(snapshotFiles) && h.Name != snapshotFiles[next] {
			next++
		}
		if next == len(snapshotFiles) || h.Typeflag != tar.TypeReg {
			return fmt.Errorf("the archive has %q: it is no snapshot of an index", h.Name)
		}
		next++
		if err := writeSynced(filepath.Join(dir, h.Name), h.FileInfo().Mode().Perm(), &endedBy{ctx, archive}); err != nil {
			return err
		}
	}
	return nil
}

func writeSynced(path string, mode fs.FileMode, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), step.Done("wrote "+filepath.Base(path)))
}

// endedBy is a reader that the end of a context ends.
type endedBy struct {
	ctx context.Context
	io.Reader
}

func (r *endedBy) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}
