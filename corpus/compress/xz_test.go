package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/ulikunitz/xz"
)

// TestXzRest checks that bytes after an xz file are an error, even if they arrive with io.EOF.
func TestXzRest(t *testing.T) {
	var stored bytes.Buffer
	w, err := xz.NewWriter(&stored)
	if err == nil {
		_, err = w.Write([]byte("text"))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	stored.WriteString("x")
	r, err := newXZ(iotest.DataErrReader(&stored), DefaultMaxWindow)
	if err == nil {
		_, err = io.ReadAll(r)
	}
	if err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

// TestXzDamage checks that the same bytes before the damage are read through any reader.
func TestXzDamage(t *testing.T) {
	var stored bytes.Buffer
	w, err := xz.NewWriter(&stored)
	if err == nil {
		_, err = fmt.Fprint(w, rand.New(rand.NewPCG(1, 2)).Perm(20_000))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	stored.Bytes()[stored.Len()/2] ^= 1
	var want []byte
	for i, through := range []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
	} {
		r, err := newXZ(through(bytes.NewReader(stored.Bytes())), DefaultMaxWindow)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(through(r))
		if err == nil || i > 0 && !bytes.Equal(got, want) || len(got) < 4<<10 {
			t.Errorf("%d: %d bytes, %v, want %d", i, len(got), err, len(want))
		}
		want = got
	}
}
