package bulk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
)

// TestRecordsAreWhole checks that a record gives the document back, with a secret and without one,
// and that one that is cut or has more bytes is refused.
func TestRecordsAreWhole(t *testing.T) {
	for name, doc := range map[string]*Doc{
		"empty": {ID: []byte{}, Sketch: feature.Sketch{Features: []feature.Feature{}, Data: []byte{}}},
		"all": {
			Input: 3, At: corpus.Place{Part: 300, Record: math.MaxInt64}, ID: []byte("an id"), Time: time.Unix(-5, 999_999_999).UTC(),
			Sketch: feature.Sketch{
				Features: []feature.Feature{{Key: 1, Order: 9, Width: 12, Units: 3}, {Key: math.MaxUint64, Order: 8, Width: 400, Units: 80}, {Key: 7}},
				Leads:    1, Whole: 5, Width: 412, Units: 83, Truncated: true, Data: []byte("data"),
			},
		},
	} {
		for _, keyed := range []bool{true, false} {
			record := appendRecord(nil, doc, keyed)
			want := *doc
			want.Sketch.Features = slices.Clone(want.Sketch.Features)
			want.keys = nil
			for i := range want.Sketch.Features {
				f := &want.Sketch.Features[i]
				if !keyed || i >= want.Sketch.Parts() {
					f.Order = f.Key
				}
				want.keys = append(want.keys, f.Key)
			}
			want.keys = append(want.keys, want.Sketch.Whole)
			got := Doc{Input: 7, ID: []byte("other"), Time: time.Unix(1, 1), Sketch: feature.Sketch{Leads: 2, Truncated: true, Data: []byte("x")}}
			if err := got.read(record); err != nil {
				t.Fatal(name, err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(Doc{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, keyed %v (-want +got):\n%s", name, keyed, diff)
			}
			for n := range record {
				if err := got.read(record[:n:n]); !errors.Is(err, errRecord) {
					t.Errorf("%s, the first %d bytes of %d: %v", name, n, len(record), err)
				}
			}
			if err := got.read(append(record, 0)); !errors.Is(err, errRecord) {
				t.Errorf("%s, a byte more: %v", name, err)
			}
		}
	}
	var d Doc
	leads := append(make([]byte, 1+8+1+1+1+1+1), 1, 0, 0, 0) // no feature, and one that leads
	if err := d.read(leads); !errors.Is(err, errRecord) {
		t.Errorf("more leads than features: %v", err)
	}
	for n, want := range map[int]error{maxSlots - 1: nil, maxSlots: errRecord} {
		record := append(binary.AppendUvarint(nil, uint64(n)), make([]byte, 8*(n+1))...)
		if _, err := d.readKeys(record); !errors.Is(err, want) {
			t.Errorf("%d features: %v", n, err)
		}
	}
}

// TestDocumentsOfASet checks the documents and rows for engines: each row is a key of a document at
// its place.
func TestDocumentsOfASet(t *testing.T) {
	texts := newWorld(4).texts(30)
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, 10, 0, 20)
	set := readSet(t, dir)
	e, err := feature.NewExtractor(feature.Scheme{})
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	n := 0
	err = eachDocument(t.Context(), set, func(d *Document) error {
		shard, at := 0, n
		if n >= 10 {
			shard, at = 2, n-10
		}
		var s feature.Sketch
		e.Extract(&s, []byte(texts[n]))
		want := Document{Place: placeOf(shard, uint64(at), 0), ID: fmt.Sprint(n), File: fmt.Sprint("in-", shard), Line: corpus.Place{Part: int64(shard), Record: int64(at + 1)}}
		if at%3 == 0 {
			made := time.Unix(int64(n), 5).UTC()
			want.Time = &made
		}
		for _, f := range s.Features {
			want.Keys = append(want.Keys, int64(f.Key))
		}
		want.Keys = append(want.Keys, int64(s.Whole))
		if diff := cmp.Diff(want, *d); diff != "" {
			t.Errorf("document %d (-want +got):\n%s", n, diff)
		}
		for slot, key := range d.Keys {
			rows = append(rows, Row{uint64(key), placeOf(shard, uint64(at), slot)})
		}
		n++
		return nil
	})
	if err != nil || n != 30 {
		t.Fatal(n, err)
	}
	err = eachRow(t.Context(), set, func(r Row) error {
		if len(rows) == 0 || r != rows[0] {
			t.Errorf("row %+v", r)
		}
		rows = rows[min(1, len(rows)):]
		return nil
	})
	if err != nil || len(rows) > 0 {
		t.Errorf("%d rows are missing, error %v", len(rows), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := eachRow(ended, set, func(Row) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// TestInputsOfAShard checks that a document of an input that the shard does not have is refused.
func TestInputsOfAShard(t *testing.T) {
	for input, want := range map[int]error{0: nil, 1: nil, 2: errRecord} {
		dir := t.TempDir()
		m := &Manifest{Shard: 1, Of: 1, Scheme: feature.Scheme{}.Name(), Inputs: []File{{Name: "a"}, {Name: "b"}}}
		err := Write(dir, m, func(add func(*Frame) error) error {
			var f Frame
			f.Add(&Doc{Input: input}, nil, false)
			return add(&f)
		})
		if err != nil {
			t.Fatal(err)
		}
		err = eachDocument(t.Context(), readSet(t, dir), func(d *Document) error {
			if d.File != m.Inputs[input].Name {
				t.Errorf("input %d is %s", input, d.File)
			}
			return nil
		})
		if !errors.Is(err, want) {
			t.Errorf("input %d: %v", input, err)
		}
	}
}

// TestPlaces checks which lines are places.
func TestPlaces(t *testing.T) {
	for line, want := range map[string]bool{
		"0": true, "0000000000000000001": true, "9223372036854775807": true, "9223372036854775808": false,
		"00000000000000000001": false, "": false, "-1": false, "1 ": false, "a": false, ":": false,
	} {
		if p, ok := parsePlace([]byte(line)); ok != want {
			t.Errorf("%q is the place %v, %v", line, p, ok)
		}
	}
	p := placeOf(MaxShards-1, MaxDocuments-1, maxSlots-1)
	if p.shard() != MaxShards-1 || p.document() != MaxDocuments-1 || p.slot() != maxSlots-1 || p >= 1<<63 {
		t.Errorf("the last place is %v", p)
	}
	if got := p.String(); got != "9223372036854775807 (shard 65536, document 68719476736, key 2048)" {
		t.Error(got)
	}
}

// TestMarksOfDocuments checks that all marks belong to a document and a key, also the last ones, and
// that documents without a mark and bad records are counted.
func TestMarksOfDocuments(t *testing.T) {
	texts := []string{"One text of its own, with nothing shared.", "Another text, which nobody else has either.", "A third, and the last of all texts here."}
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, 2, 1)
	set := readSet(t, dir)
	set[0].Bad = 5
	d := Decision{}
	if lines, err := decide(t, set, "", &d); err != nil || len(lines) > 0 || d.Tally.Documents != 3 || d.Tally.Bad != 5 || d.Marked != 0 {
		t.Errorf("%d lines, error %v, %+v", len(lines), err, d.Tally)
	}
	for name, p := range map[string]Place{
		"a document behind the last": placeOf(1, 1, 0), "one between two shards": placeOf(0, 2, 0),
		"a key behind the last": placeOf(1, 0, 40), "of the first": placeOf(0, 0, 40), "of another shard": placeOf(2, 0, 0),
	} {
		if _, err := decide(t, set, string(p.AppendLine(nil)), &Decision{}); !errors.Is(err, ErrMarks) || !strings.Contains(err.Error(), fmt.Sprint(p)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := string(placeOf(1, 0, 1).AppendLine(nil))
	for _, marks := range []string{whole, whole + whole, strings.TrimSuffix(whole, "\n"), strings.ReplaceAll(whole, "\n", "\r\n"), strings.TrimLeft(whole, "0")} {
		d := Decision{}
		if _, err := decide(t, set, marks, &d); err != nil || d.Marked != 1 {
			t.Errorf("%q: %d marks, error %v", marks, d.Marked, err)
		}
	}
}

// TestPreferred checks that the preferred copy of a set stays, with its file, time and rank, and that
// the first document has a line that names it.
func TestPreferred(t *testing.T) {
	copied := "This text stands in three inputs, word for word. It has several sentences. Each of them is long enough to count as a segment."
	texts := []string{"The first text is of no interest to anybody here at all.", copied, "Another one, in the second input, is as boring as the first.", copied, copied, copied}
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, 2, 2, 2)
	set := readSet(t, dir)
	marks := reduce(t, rowsOf(t, set))
	var asked []string
	d := Decision{Prefer: func(file string, made time.Time) (string, int64) {
		asked = append(asked, fmt.Sprint(file, " ", made.Unix()))
		return "", map[string]int64{"in-0": 2, "in-1": 1, "in-2": 3}[file]
	}}
	file := filepath.Join(t.TempDir(), "marks")
	if err := os.WriteFile(file, []byte(marks), 0o666); err != nil {
		t.Fatal(err)
	}
	d.Set, d.Marks = set, file
	var lines []string
	d.Line = func(text []byte) error {
		l, instead := parsed(t, text), ""
		if l.Instead != nil {
			instead = l.Instead.ID + " in " + l.Instead.File
		}
		lines = append(lines, fmt.Sprint(l.ID, " in ", l.File, " kept ", l.Kept, ", instead ", instead))
		return nil
	}
	if err := d.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 in in-0 kept false, instead 3 in in-1", "3 in in-1 kept true, instead ",
		"4 in in-2 kept false, instead 3 in in-1", "5 in in-2 kept false, instead 3 in in-1",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none := time.Time{}.Unix()
	if diff := cmp.Diff([]string{fmt.Sprint("in-0 ", none), fmt.Sprint("in-1 ", none), "in-2 4", fmt.Sprint("in-2 ", none)}, asked); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
	if d.Tally.Documents != 6 {
		t.Errorf("%+v", d.Tally)
	}
}

// TestManifests checks that a set is of one number of shards, that empty shards are no input given
// twice, and that a manifest keeps its name and its shard.
func TestManifests(t *testing.T) {
	texts := newWorld(9).texts(30)
	dir, other := t.TempDir(), t.TempDir()
	write(t, dir, feature.Scheme{}, texts, 10)
	write(t, other, feature.Scheme{}, texts, 10, 10, 10)
	for _, dirs := range [][]string{{dir, other}, {other, dir}} {
		if _, err := ReadSet(dirs); !errors.Is(err, ErrSet) || !strings.Contains(err.Error(), "is one of") {
			t.Errorf("of one shard and of three: %v", err)
		}
	}
	empty := t.TempDir()
	for i := range 3 {
		m := &Manifest{Shard: i + 1, Of: 3, Scheme: "x", Inputs: []File{{Name: "a"}}}
		if err := Write(empty, m, func(func(*Frame) error) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if set, err := ReadSet([]string{empty}); err != nil || len(set) != 3 {
		t.Errorf("empty shards: %v", err)
	}
	if _, err := ReadManifest(dir, 1, 1); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, Name(1, 1)+shardEnding)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(dir, 1, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its shard: %v", err)
	}
	if err := os.Rename(filepath.Join(dir, Name(1, 1)+manifestEnding), filepath.Join(dir, Name(1, 2)+manifestEnding)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSet([]string{dir}); err == nil || !strings.Contains(err.Error(), "it was renamed") {
		t.Errorf("renamed: %v", err)
	}
}

// TestFramesAreWhole checks a shard of several frames, and that a frame with more or fewer records
// than it says is damaged.
func TestFramesAreWhole(t *testing.T) {
	dir := t.TempDir()
	data := bytes.Repeat([]byte("x"), frameBytes/10)
	write := func(documents uint64) error {
		m := &Manifest{Shard: 1, Of: 1, Scheme: "x", Inputs: []File{{Name: "a"}}}
		return Write(dir, m, func(add func(*Frame) error) error {
			for i := range 25 {
				var f Frame
				f.Add(&Doc{ID: fmt.Append(nil, i), Sketch: feature.Sketch{Data: data}}, nil, false)
				f.documents = documents
				if err := add(&f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for documents, want := range map[uint64]error{1: nil, 2: ErrDamaged, 0: nil} {
		if err := write(documents); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := eachDocument(t.Context(), readSet(t, dir), func(d *Document) error {
			if d.ID != fmt.Sprint(n) {
				t.Errorf("document %d is %s", n, d.ID)
			}
			n++
			return nil
		})
		if documents > 0 && !errors.Is(err, want) || documents == 1 && n != 25 {
			t.Errorf("frames of %d documents: %d, error %v", documents, n, err)
		}
	}
	m := &Manifest{Shard: 1, Of: 1, Scheme: "x", Inputs: []File{{Name: "a"}}}
	err := Write(dir, m, func(add func(*Frame) error) error {
		var f Frame
		f.Add(&Doc{}, nil, false)
		f.Add(&Doc{}, nil, false)
		f.documents = 1
		return add(&f)
	})
	if err == nil {
		err = eachDocument(t.Context(), readSet(t, dir), func(*Document) error { return nil })
	}
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("more records than documents: %v", err)
	}
}

// TestTableEqualsAMap compares the table with a map, for keys that grow it many times, documents
// that only count, and data longer than a slab.
func TestTableEqualsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	s := allMarked{newTable()}
	want, data := map[uint64][]uint32{}, map[uint32][]byte{}
	for i := range 12_000 {
		keys := []uint64{r.Uint64() % 3000, r.Uint64(), r.Uint64() << 40, r.Uint64() % 3000}
		keys = append(keys, keys[0]) // twice
		value := fmt.Appendf(nil, "data of %d", i)
		if i%4000 == 10 {
			value = bytes.Repeat(value, slabBytes/3)
		}
		counts := r.IntN(5) == 0
		num, err := s.Add([]string{fmt.Sprint("id ", i)}, [][]byte{value}, [][]uint64{keys}, nil, []bool{counts})
		if err != nil || num != uint32(i+1) {
			t.Fatal(num, err)
		}
		data[num] = value
		if counts {
			num |= countedBit
		}
		for _, key := range keys {
			if held := want[key]; len(held) < dedup.MaxHolders && !slices.Contains(held, num) {
				want[key] = append(held, num)
			}
		}
	}
	holders, n := make([]uint32, dedup.MaxHolders), make([]uint8, 1)
	for key, nums := range want {
		for i := range nums {
			if nums[i]&countedBit != 0 {
				nums[i] = dedup.Counted
			}
		}
		if err := s.Lookup([]uint64{key}, holders, n); err != nil || !slices.Equal(holders[:n[0]], nums) {
			t.Fatalf("key %d: %v, want %v, error %v", key, holders[:n[0]], nums, err)
		}
	}
	ids, got := make([][]byte, 1), make([][]byte, 1)
	for num, value := range data {
		if err := s.Records([]uint32{num}, ids, got); err != nil || string(ids[0]) != fmt.Sprint("id ", num-1) || !bytes.Equal(got[0], value) {
			t.Fatalf("document %d is %s, %.20s, error %v", num, ids[0], got[0], err)
		}
	}
	if used := s.arena.used(); s.arena.total < used || s.bytes() < used {
		t.Errorf("%d bytes of memory hold %d bytes", s.arena.total, used)
	}
	for _, num := range []uint32{0, 12_001} {
		if err := s.Records([]uint32{num}, ids, got); !errors.Is(err, errRecord) {
			t.Errorf("document %d: %v", num, err)
		}
	}
}

// TestForecastOfLargeMarks checks the forecast of marks that are sampled, and that it refuses
// compressed ones.
func TestForecastOfLargeMarks(t *testing.T) {
	texts := newWorld(2).texts(sampleRecords + 1)
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, texts, len(texts))
	d := Decision{Set: readSet(t, dir), Marks: filepath.Join(t.TempDir(), "marks")}
	var marks []byte
	const documents, each = 200_000, 3
	d.Set[0].Documents = documents // the first ones are read
	for i := range uint64(documents) {
		for slot := range each {
			marks = placeOf(0, i, slot).AppendLine(marks)
		}
	}
	if err := os.WriteFile(d.Marks, marks, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := d.Expect()
	near := func(got, want uint64) bool { return got >= want*98/100 && got <= want*102/100 }
	if err != nil || !near(f.Marks, documents*each) || !near(f.Documents, documents) {
		t.Errorf("%+v, error %v", f, err)
	}
	if least := int64(processBytes + pieceBytes + partBytes + documents*each/2*keyBytes); f.Bytes < least {
		t.Errorf("%d bytes, and keys alone take %d", f.Bytes, least)
	}
	packed := append([]byte{0x1f, 0x8b, 8, 0}, bytes.Repeat([]byte("\x93\x01\n"), 100)...)
	if err := os.WriteFile(d.Marks, packed, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Expect(); !errors.Is(err, ErrMarks) {
		t.Errorf("compressed: %v", err)
	}
}

// TestSchemes checks that features of unknown schemes, and of methods that need more, are refused.
func TestSchemes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, feature.Scheme{}, []string{"a text"}, 1)
	for scheme, want := range map[string]error{"fs9-u15b": ErrRules, (feature.Scheme{Key: make([]byte, 16)}).Name(): ErrScheme} {
		set := readSet(t, dir)
		set[0].Scheme = scheme
		for _, key := range [][]byte{nil, make([]byte, 16)} {
			if _, err := decide(t, set, "", &Decision{Key: key}); !errors.Is(err, want) && (key == nil || scheme == "fs9-u15b") {
				t.Errorf("%s: %v", scheme, err)
			}
		}
	}
	if err := Check(feature.Scheme{Method: "imatch"}); !errors.Is(err, ErrMethod) {
		t.Error(err)
	}
	if err := Check(feature.Scheme{}); err != nil {
		t.Error(err)
	}
}

// TestLargeSample checks that beyond a million keys the sample has one in 64, and room for more.
func TestLargeSample(t *testing.T) {
	s := newSample()
	keys, marks := make([]uint64, 1024), make([]bool, 1024)
	for i := range uint64(firstKeys/1024 + 1) {
		for slot := range keys {
			keys[slot] = (1024*i + uint64(slot)) * 0x2545f4914f6cdd1d
		}
		if err := s.check(placeOf(0, i, 0), keys, marks); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.first); s.bits != sampleBits || s.most != sampleKeys || n < firstKeys/80 || n > firstKeys/50 {
		t.Errorf("%d keys of %d bits, at most %d", n, s.bits, s.most)
	}
}
