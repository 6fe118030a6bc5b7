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

// TestXzRest: bytes behind an xz file are told, also if they come with the end of the input.
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

// TestXzDamage: the bytes before the damage are the same however they are read.
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
