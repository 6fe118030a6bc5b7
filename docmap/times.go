package docmap

import (
	"runtime"
	"unsafe"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// times are the times of documents, in order. They lie in blocks outside of the Go heap,
// which is limited for what does not grow with a window.
type times struct {
	blocks []*timeBlock
	n      int
}

// blockTimes is how many times a block has: 256 KiB, of which the system gives the pages
// that are written to.
const blockTimes = 1 << 16

type timeBlock struct {
	list *[blockTimes]uint32
	mem  []byte // that it lies in
}

func newTimeBlock() *timeBlock {
	mem, err := hugemem.Alloc(4 * blockTimes)
	if err != nil {
		return &timeBlock{list: new([blockTimes]uint32)} // of the heap, then
	}
	b := &timeBlock{mem: mem, list: (*[blockTimes]uint32)(unsafe.Pointer(unsafe.SliceData(mem)))}
	runtime.SetFinalizer(b, func(b *timeBlock) { _ = hugemem.Free(b.mem) }) // nobody is left to be told
	return b
}

func (t *times) add(time uint32) {
	if t.n%blockTimes == 0 {
		t.blocks = append(t.blocks[:len(t.blocks):len(t.blocks)], newTimeBlock())
	}
	t.blocks[t.n/blockTimes].list[t.n%blockTimes] = time
	t.n++
}

func (t *times) at(i int) uint32 { return t.blocks[i/blockTimes].list[i%blockTimes] }
