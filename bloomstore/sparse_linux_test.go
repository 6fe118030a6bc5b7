package bloomstore

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident returns the number of pages of the filter that the system has allocated.
func resident(t *testing.T, f *Filter) (n int) {
	t.Helper()
	pages := make([]byte, len(f.mem)/pageSize)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&f.mem[0])), uintptr(len(f.mem)), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, p := range pages {
		n += int(p & 1)
	}
	return n
}

// collapses reports whether the kernel, from Linux 6.1 on, can gather small pages.
func collapses(t *testing.T) bool {
	var u unix.Utsname
	var major, minor int
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	return major > 6 || major == 6 && minor >= 1
}

// TestFewKeysTouchFewPages checks that a few keys, added or read from a file, commit a page a bit, and
// that more of them do not.
func TestFewKeysTouchFewPages(t *testing.T) {
	f := mustNew(t, ForMemory(64<<20), "scheme-1")
	few := randomKeys(1, 100)
	f.AddShared(few[:50])
	f.Add(few[50:])
	check := func(how string, f *Filter) {
		if n := resident(t, f); n > int(f.Ones()) && collapses(t) || f.gathered.Load() {
			t.Errorf("%s: %d pages hold %d bits", how, n, f.Ones())
		}
	}
	check("added", f)
	data := saved(t, f, nil)
	again, _, err := decode(bytes.NewReader(data), uint64(len(data)), "scheme-1")
	if err != nil {
		t.Fatal(err)
	}
	check("read", again)
	equal(t, again, f)
	for name, add := range map[string]func(f *Filter, keys []uint64){
		"Add": (*Filter).Add, "AddShared": (*Filter).AddShared, "AddParallel": (*Filter).AddParallel,
		"Expect": func(f *Filter, keys []uint64) { f.Expect(len(keys)) },
	} {
		f := mustNew(t, ForMemory(64<<20), "s")
		add(f, randomKeys(2, int(f.shape.sparseOnes())/4))
		if !f.gathered.Load() {
			t.Errorf("%s: %d bits are in small pages", name, f.Ones())
		}
	}
}
