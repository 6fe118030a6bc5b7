package corpus_test

import (
	"os"
	"testing"

	. "github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/corpustest"
)

// TestCutCompressedTars: of two compressed tar archives behind one another the second can be
// cut nowhere without an error.
func TestCutCompressedTars(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"a/a.jsonl": `{"text":"one"}`, "b/b.jsonl": `{"text":"two"}`})
	for _, ending := range []string{".tgz", ".tar.zst"} {
		var packed [2]string
		for i, folder := range []string{"a", "b"} {
			if err := corpustest.Pack(folder+ending, folder); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(folder + ending)
			if err != nil {
				t.Fatal(err)
			}
			packed[i] = string(data)
		}
		for n := range len(packed[1]) {
			write(t, map[string]string{"ab" + ending: packed[0] + packed[1][:len(packed[1])-n]})
			inputs, _, err := Expand([]string{"ab" + ending}, endings)
			if n == 0 && (err != nil || len(inputs) != 2) {
				t.Fatalf("%s: %d members, %v", ending, len(inputs), err)
			}
			if n > 0 && err == nil {
				t.Errorf("%s without its last %d bytes: %d members and no error", ending, n, len(inputs))
			}
		}
	}
}
