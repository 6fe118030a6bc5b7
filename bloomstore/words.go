package bloomstore

import (
	"io"
	"math/bits"
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// chunkWords is the number of words read, written or checked at a time: 256 KiB, which stays in a
// core's own cache from one step to the next.
const chunkWords = 32 << 10

func writeWords(w io.Writer, words []uint64, bigEndian bool) error {
	var swapped []uint64
	if bigEndian != cpu.IsBigEndian {
		swapped = make([]uint64, min(chunkWords, len(words)))
	}
	for chunk := range slices.Chunk(words, chunkWords) {
		if swapped != nil {
			chunk = swapped[:copy(swapped, chunk)]
			swapBytes(chunk)
		}
		if _, err := w.Write(asBytes(chunk)); err != nil {
			return err
		}
	}
	return nil
}

// readWords fills words from r, which has them in little-endian order, and returns the number of
// one bits. The error of a short input is io.ErrUnexpectedEOF.
func readWords(r io.Reader, words []uint64) (ones uint64, err error) {
	for chunk := range slices.Chunk(words, chunkWords) {
		if _, err := io.ReadFull(r, asBytes(chunk)); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if cpu.IsBigEndian {
			swapBytes(chunk)
		}
		ones += countOnes(chunk)
	}
	return ones, nil
}

func asBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

func swapBytes(words []uint64) {
	for i, w := range words {
		words[i] = bits.ReverseBytes64(w)
	}
}

func countOnes(words []uint64) uint64 {
	var n int
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return uint64(n)
}

// excess reports whether a bit at m or above is one. words are those of m bits, none for 0.
func excess(words []uint64, m uint64) bool {
	tail := m % 64
	return tail != 0 && words[len(words)-1]>>tail != 0
}
