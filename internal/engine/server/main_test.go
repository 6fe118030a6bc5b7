package server

import (
	"testing"

	"github.com/firstseen/firstseen/internal/testing/indextest"
)

func TestMain(m *testing.M) {
	indextest.ShortInMemory()
	m.Run()
}
