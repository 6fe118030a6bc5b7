package bloomstore

import (
	"bytes"
	"context"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/filter-v1 anew")

// TestFixtureOfVersion1 opens a file of version 1, which must work forever. A new version gets its
// own file, under a new name.
func TestFixtureOfVersion1(t *testing.T) {
	const path = "testdata/filter-v1"
	want := mustNew(t, Shape{10007, 8}, "fs1-xxh3-n50-w16")
	want.Add(randomKeys(7, 500))
	stamp := []byte("stamp of version 1")
	if *update {
		if err := want.Save(context.Background(), path, stamp); err != nil {
			t.Fatal(err)
		}
	}
	got, gotStamp, err := Open(context.Background(), path, "fs1-xxh3-n50-w16")
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	equal(t, got, want)
	if !bytes.Equal(gotStamp, stamp) {
		t.Fatalf("stamp %q, want %q", gotStamp, stamp)
	}
	// It must also be written as it was then.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(saved(t, got, stamp), data) {
		t.Fatal("version 1 is written as other bytes now")
	}
}
