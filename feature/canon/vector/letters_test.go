package vector

import "testing"

// FuzzLetters compares the vector loop with a plain one.
func FuzzLetters(f *testing.F) {
	f.Add([]byte("two words, 3.14 and <tags> in the first 32 bytes, then 茶 after them and more and more"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dst := make([]byte, len(text)+8)
		read, written := Letters(dst, text)
		var want []byte
		for i, b := range text {
			if b >= 0x80 {
				if CanCopy && read != i/32*32 {
					t.Fatalf("%q: %d bytes read, want %d", text, read, i/32*32)
				}
				break
			}
			if i < read && ('a' <= b && b <= 'z' || '0' <= b && b <= '9') {
				want = append(want, b)
			}
		}
		if got := string(dst[:written]); got != string(want) {
			t.Errorf("%q, %d bytes read: got %q, want %q", text, read, got, want)
		}
	})
}
