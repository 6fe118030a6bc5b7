package compress

import (
	"bytes"
	"errors"
	"io"
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
