package docmap

import (
	"runtime"
	"unsafe"

	"github.com/firstseen/firstseen/internal/hugemem"
)

// times are the times of documents, in order. Their blocks lie outside the Go heap, whose limit
// does not allow for memory that grows with a window.
type times struct {
	blocks []*timeBlock
	n      int
}

// blockTimes is the number of times in a block of 256 KiB. The system allocates its pages when
// they are first written.
const blockTimes = 1 << 16

type timeBlock struct {
	list *[blockTimes]uint32
	mem  []byte // memory of list
}

func newTimeBlock() *timeBlock {
	mem, err := hugemem.Alloc(4 * blockTimes)
	if err != nil {
		return &timeBlock{list: new([blockTimes]uint32)} // on the heap instead
	}
	b := &timeBlock{mem: mem, list: (*[blockTimes]uint32)(unsafe.Pointer(unsafe.SliceData(mem)))}
	runtime.SetFinalizer(b, func(b *timeBlock) { _ = hugemem.Free(b.mem) }) // an error could go nowhere
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
