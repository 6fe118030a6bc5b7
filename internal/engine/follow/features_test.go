package follow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// unkeyed starts a follower on a new index without a secret.
func unkeyed(t *testing.T, dir string, log Log) (*Follower, *index.Index) {
	t.Helper()
	o := followOptions
	o.Key, o.Shape, o.UUID = index.KeyRefused, index.ShapeFor(1000, feature.Scheme{}, false), [16]byte{1}
	x, err := index.Open(context.Background(), dir, o)
	indextest.Must(t, err)
	f, err := Open(t.Context(), Config{Index: x, Dir: dir, Log: log})
	if err != nil {
		t.Fatal(err, x.Close())
	}
	f.Start(nil)
	return f, x
}

// featuresOf returns the record of a document's features.
func featuresOf(t *testing.T, id string, arrival int64, scheme feature.Scheme, text []byte) []byte {
	t.Helper()
	e, err := feature.NewExtractor(scheme)
	indextest.Must(t, err)
	var s feature.Sketch
	e.ExtractFor(&s, text, false)
	return AppendFeatures(nil, id, arrival, scheme.Name(), &s)
}

// TestFeatures checks that a log of features gives the verdicts and index of a log of texts.
func TestFeatures(t *testing.T) {
	open := settings(t, func(s *Settings) { s.NoKey = true })
	texts, features := [][]byte{open}, [][]byte{open}
	for i := range 80 {
		e := journal.Entry{Kind: journal.Seen, Time: (1_700_000_000 + int64(i)) * 1e9, ID: fmt.Sprint("d", i), Text: []byte(text(i))}
		texts = append(texts, e.Append(nil))
		features = append(features, featuresOf(t, e.ID, e.Time, feature.Scheme{}, e.Text))
	}
	dir := t.TempDir()
	var published []map[int64]string
	for name, values := range map[string][][]byte{"texts": texts, "features": features} {
		log := newMemory(values...)
		f, x := unkeyed(t, filepath.Join(dir, name), log)
		reach(t, f, 80)
		end(t, f, x)
		published = append(published, log.published)
	}
	if diff := cmp.Diff(dumped(t, filepath.Join(dir, "texts")), dumped(t, filepath.Join(dir, "features"))); diff != "" {
		t.Error(diff)
	}
	kept := 0
	for offset, verdict := range published[0] {
		if withoutSample(verdict) != withoutSample(published[1][offset]) {
			t.Errorf("offset %d: %s and %s", offset, verdict, published[1][offset])
		}
		if strings.Contains(verdict, `"kept":true`) {
			kept++
		}
	}
	if kept < 40 || kept > 70 {
		t.Errorf("%d documents kept of 80", kept)
	}
}

// withoutSample cuts the sample, which needs the text, from a verdict.
func withoutSample(verdict string) string {
	before, rest, found := strings.Cut(verdict, `,"sample":[`)
	if !found {
		return verdict
	}
	_, after, _ := strings.Cut(rest, "]")
	return before + after
}

// TestFeaturesRefused checks that faulty features are a bad record for all and stop no follower.
func TestFeaturesRefused(t *testing.T) {
	good := featuresOf(t, "a", 1e9, feature.Scheme{}, []byte(text(1)))
	for name, c := range map[string]struct {
		open   bool
		record []byte
		want   string
	}{
		"good":   {true, good, ""},
		"keyed":  {false, good, noFeatures},
		"no id":  {true, featuresOf(t, "", 1e9, feature.Scheme{}, []byte(text(1))), noID},
		"scheme": {true, featuresOf(t, "a", 1e9, feature.Scheme{Method: "exact"}, []byte(text(1))), otherScheme},
		"more":   {true, AppendFeatures(nil, "a", 1, feature.Scheme{}.Name(), &feature.Sketch{Features: make([]feature.Feature, 500)}), otherFeatures},
		"data":   {true, AppendFeatures(nil, "a", 1, feature.Scheme{}.Name(), &feature.Sketch{Data: []byte("\xff\xff\xff")}), otherFeatures},
		"flip":   {true, append(good[:len(good)-20:len(good)-20], append([]byte{good[len(good)-20] ^ 1}, good[len(good)-19:]...)...), otherFeatures},
	} {
		log := newMemory(settings(t, func(s *Settings) { s.NoKey = c.open }), c.record)
		dir := filepath.Join(t.TempDir(), "x")
		var f *Follower
		var x *index.Index
		if c.open {
			f, x = unkeyed(t, dir, log)
		} else {
			f, x = followed(t, dir, log, nil)
		}
		reach(t, f, 1)
		end(t, f, x)
		verdict := log.published[1]
		if (c.want == "") != strings.Contains(verdict, `"kept":true`) || !strings.Contains(verdict, c.want) {
			t.Errorf("%s: %s, want %q", name, verdict, c.want)
		}
	}
}

// TestFeaturesNeedNoKey checks that an index with a key refuses a log that takes features.
func TestFeaturesNeedNoKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	x := openIndex(t, dir, followOptions)
	defer x.Close()
	_, err := Open(t.Context(), Config{Index: x, Dir: dir, Log: newMemory(settings(t, func(s *Settings) { s.NoKey = true }))})
	if err == nil || !strings.Contains(err.Error(), "made with --no-key") {
		t.Error(err)
	}
}

// TestAnyFeatures checks that features of any bytes stop no follower.
func TestAnyFeatures(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	e, err := feature.NewExtractor(feature.Scheme{})
	indextest.Must(t, err)
	for i := range 2000 {
		var s feature.Sketch
		e.ExtractFor(&s, []byte(text(i%50)), false)
		switch rnd.IntN(4) {
		case 0:
			s.Leads = rnd.IntN(100)
		case 1:
			s.Data = s.Data[:rnd.IntN(len(s.Data)+1)]
		case 2:
			for range 3 {
				s.Data[rnd.IntN(len(s.Data))] = byte(rnd.Uint32())
			}
		default:
			s.Features = s.Features[:rnd.IntN(len(s.Features)+1)]
			s.Width, s.Units = rnd.Uint64(), rnd.Uint64()
		}
		if s.Leads > len(s.Features) {
			continue
		}
		entry, rest, err := journal.CutEntry(AppendFeatures(nil, "a", 1, feature.Scheme{}.Name(), &s))
		if err != nil || len(rest) > 0 {
			t.Fatal(err)
		}
		takeFeatures(&apply.Step{Entry: entry}, feature.Scheme{}.Name())
	}
}

// TestFeatureScheme checks that a log shows its scheme, also after the loss of its first records.
func TestFeatureScheme(t *testing.T) {
	c := cluster(t)
	log := dialed(t, c, "")
	expect := func(what, want string) {
		t.Helper()
		got, err := FeatureScheme(t.Context(), dialed(t, c, ""), "log")
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && got.Name() != want {
			t.Errorf("%s: %s, error %v, want %s", what, got.Name(), err, want)
		}
	}
	append := func(values ...[]byte) {
		t.Helper()
		_, err := log.Append(t.Context(), values)
		indextest.Must(t, err)
	}
	scheme := feature.Scheme{}.Name()
	expect("an empty log", "begin it with firstseen serve follow --no-key")
	open := settings(t, func(s *Settings) { s.NoKey = true })
	append(open, entry(0, ""), []byte("neither"), featuresOf(t, "a", 1, feature.Scheme{}, []byte(text(1))), entry(2, ""))
	expect("a whole log", scheme)
	request(t, c, deleteBefore(1))
	expect("a log with features", scheme)
	for _, before := range []int64{4, 5} {
		request(t, c, deleteBefore(before))
		expect("a log without features", "begin another")
	}
	append(entry(3, ""), open)
	expect("a log with later settings", scheme)
	request(t, c, deleteBefore(7))
	append(settings(t, nil))
	expect("a log with a key", "takes no features")
}
