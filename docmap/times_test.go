package docmap

import "testing"

// TestTimesReadBack reads times back over many blocks. A copy must not see later ones.
func TestTimesReadBack(t *testing.T) {
	var list times
	for i := range 3*blockTimes + 5 {
		list.add(uint32(i * 7))
	}
	before := list
	list.add(1)
	if before.n != 3*blockTimes+5 || list.n != before.n+1 {
		t.Fatalf("%d and %d times", before.n, list.n)
	}
	for i := range before.n {
		if list.at(i) != uint32(i*7) || before.at(i) != uint32(i*7) {
			t.Fatalf("time %d is %d", i, list.at(i))
		}
	}
}
