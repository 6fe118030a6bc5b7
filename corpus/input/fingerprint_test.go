package input

import "testing"

// TestFingerprintOfUnreadable checks that a failed reading gives no sum. A folder can be opened, not read.
func TestFingerprintOfUnreadable(t *testing.T) {
	if sum, err := Fingerprint(Input{Path: t.TempDir()}); sum != 0 || err == nil {
		t.Errorf("%x, %v", sum, err)
	}
}
