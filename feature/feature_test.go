package feature

import (
	"strings"
	"testing"
)

func TestScheme(t *testing.T) {
	key := []byte("0123456789abcdef")
	for _, s := range []Scheme{{}, {Method: "segments"}, {Method: "exact"}, {Method: Former}, {Segments: 7, MinWidth: 20, Key: key}} {
		got, ok := Named(s.Name(), s.Key)
		if !ok || got.Name() != s.Name() || got.Features() != s.Features() || s.Validate() != nil {
			t.Errorf("%+v: named %+v, %v", s, got, ok)
		}
	}
	for _, c := range []struct {
		scheme Scheme
		want   string
	}{
		{Scheme{Method: "magic"}, `no method "magic"`},
		{Scheme{Segments: -1}, "-1 segments"},
	} {
		if _, err := NewExtractor(c.scheme); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.scheme, err)
		}
	}
	if s, ok := Named("fs9", key); ok || string(s.Key) != string(key) {
		t.Errorf("fs9 is %+v, %v", s, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("a scheme of no method has a name")
		}
	}()
	_ = Scheme{Method: "magic"}.Name()
}
