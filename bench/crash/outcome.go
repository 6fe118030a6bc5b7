package crash

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstseen/firstseen/bloomstore"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/docmap"
	"github.com/firstseen/firstseen/feature/segments"
	"github.com/firstseen/firstseen/index"
)

// An outcome is the result of a run.
type outcome struct {
	files   map[string]string // output → length and hash
	summary string
	content content
}

// counted are the fields of the summary that do not depend on the number of restarts.
var counted = []string{
	"documents", "kept", "removed", "unique", "duplicates", "exact", "same_id", "mosaics", "related",
	"revisits", "bad_records", "line_bytes",
}

func (w *workload) outcome(ctx context.Context, dir string) (*outcome, error) {
	o := &outcome{files: map[string]string{}}
	key, err := index.ReadKey(filepath.Join(dir, indexDir))
	if err != nil {
		return nil, err
	}
	keyed := key != nil
	for _, name := range w.outputs {
		data, err := readOutput(filepath.Join(dir, name), keyed)
		if err != nil {
			return nil, err
		}
		o.files[name] = fmt.Sprintf("%d bytes, %x", len(data), sha256.Sum256(data))
	}
	data, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("reading the summary: %w", err)
	}
	for _, name := range counted {
		o.summary += fmt.Sprintf("%s %v; ", name, fields[name])
	}
	o.content, err = readContent(ctx, filepath.Join(dir, indexDir))
	return o, err
}

// readOutput reads an output in comparable form. Of equally long segments, the one with the smaller
// key is quoted first. If each index draws its own key, quotations are left out.
func readOutput(path string, keyed bool) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !keyed {
		return data, err
	}
	if data, err = unpack(path, data); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for text := range bytes.Lines(data) {
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		delete(fields, "sample")
		if err := json.NewEncoder(&out).Encode(fields); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// differences describes how an outcome differs from the wanted one.
func (o *outcome) differences(want *outcome) []string {
	var found []string
	for name, file := range want.files {
		if o.files[name] != file {
			found = append(found, fmt.Sprintf("%s has %s, want %s", name, o.files[name], file))
		}
	}
	if o.summary != want.summary {
		found = append(found, fmt.Sprintf("the summary has %s want %s", o.summary, want.summary))
	}
	if o.content != want.content {
		found = append(found, fmt.Sprintf("the index holds %v, want %v", o.content, want.content))
	}
	slices.Sort(found)
	return found
}

// content holds the contents of an index, whatever its files look like. If each index draws its own
// key, it omits keys and compares the groups of documents that hold one.
type content struct {
	Docs, Keys int
	Sum        string
}

// readContent also checks the index: the whole table, and that the filter contains every key.
func readContent(ctx context.Context, dir string) (c content, err error) {
	key, err := index.ReadKey(dir)
	if err != nil {
		return c, err
	}
	r, err := index.OpenReader(context.Background(), dir, key)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Table == nil {
		return filterContent(r.Loaded, key != nil), nil
	}
	findings, err := r.Table.Verify(ctx)
	if err != nil {
		return c, err
	}
	if len(findings) > 0 {
		return c, fmt.Errorf("the table is not sound: %+v", findings)
	}
	if err := checkFilter(filepath.Join(dir, index.FilterFile), r.Table); err != nil {
		return c, err
	}
	return tableContent(r.Table, key != nil)
}

func tableContent(t *docmap.Table, keyed bool) (c content, err error) {
	var lines []string
	for doc, err := range t.Docs(1) {
		if err != nil {
			return c, err
		}
		c.Docs++
		if keyed {
			var rec dedup.Record
			if err := rec.Parse(doc.Data); err != nil {
				return c, err
			}
			kept, _, err := segments.ParseRecord(rec.Sketch)
			if err != nil {
				return c, err
			}
			lines = append(lines, fmt.Sprintf("doc %d %q %d %x", c.Docs, doc.ID, kept.Features, rec.Added))
		} else {
			lines = append(lines, fmt.Sprintf("doc %d %+v", c.Docs, doc))
		}
	}
	for posting, err := range t.All() {
		if err != nil {
			return c, err
		}
		c.Keys++
		if keyed {
			posting.Key = 0
		}
		lines = append(lines, fmt.Sprintf("key %+v", posting))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	c.Sum = hex.EncodeToString(sum[:8])
	return c, nil
}

// filterContent distinguishes filters by their bits or, if keyed, by the number of keys added.
func filterContent(f *bloomstore.Filter, keyed bool) content {
	c := content{Keys: int(f.Items())}
	if !keyed {
		c.Sum = fmt.Sprintf("%d ones", f.Ones())
	}
	return c
}

// checkFilter checks that the saved filter, with the pending keys, contains every key of the table.
func checkFilter(path string, t *docmap.Table) (err error) {
	f, stamp, err := bloomstore.Open(context.Background(), path, t.Scheme())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if len(stamp) != 32 {
		return fmt.Errorf("the stamp of the filter has %d bytes", len(stamp))
	}
	docs, content := binary.LittleEndian.Uint64(stamp[16:]), binary.LittleEndian.Uint64(stamp[24:])
	if ok, err := t.Since(uint32(docs), content, f.Add); !ok || err != nil {
		return errors.Join(err, fmt.Errorf("the filter of %d documents does not belong to the table", docs))
	}
	var seen []bool
	for keys, err := range t.Keys() {
		if err != nil {
			return err
		}
		seen = append(seen[:0], make([]bool, len(keys))...)
		f.Test(keys, seen)
		if i := slices.Index(seen, false); i >= 0 {
			return fmt.Errorf("the filter does not know the key %x of the table", keys[i])
		}
	}
	return nil
}
