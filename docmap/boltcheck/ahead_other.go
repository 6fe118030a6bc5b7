//go:build !linux

package boltcheck

import "io"

func willNeed(io.ReaderAt, uint64) {}
