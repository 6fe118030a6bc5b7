package hugemem

import "testing"

func TestAllocIsZeroedAndWritable(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 3 << 20} {
		b, err := Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != n {
			t.Fatalf("Alloc(%d) gave %d bytes", n, len(b))
		}
		for i := range b {
			if b[i] != 0 {
				t.Fatalf("Alloc(%d): byte %d is %d", n, i, b[i])
			}
			b[i] = 0xff
		}
		if err := Free(b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAllocRefusesNegative(t *testing.T) {
	if _, err := Alloc(-1); err == nil {
		t.Fatal("no error")
	}
}

// TestGatherKeepsContent checks that a sparse block is zeroed and writable, before Gather and after it.
func TestGatherKeepsContent(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 5<<20 + 1} {
		b, err := AllocSparse(n)
		if err != nil || len(b) != n {
			t.Fatalf("AllocSparse(%d) gave %d bytes, error %v", n, len(b), err)
		}
		for i := 0; i < n; i += 9999 {
			b[i] = byte(i) | 1
		}
		Gather(b)
		for i := range b {
			if want := byte(i) | 1; i%9999 == 0 && b[i] != want || i%9999 != 0 && b[i] != 0 {
				t.Fatalf("%d bytes: byte %d is %d", n, i, b[i])
			}
		}
		if err := Free(b); err != nil {
			t.Fatal(err)
		}
	}
}
