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
