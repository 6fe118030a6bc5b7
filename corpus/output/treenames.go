package output

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/firstseen/firstseen/corpus/input"
)

// maxPart is how long a part of a name may be on the usual file systems, in bytes.
const maxPart = 255

// CheckTreeNames refuses files of a tree, one for each input, that cannot be beside one
// another: two of one name and, which only members of archives have, names that are too
// long and those of a file and of a folder at once. The names are relative to dir.
func CheckTreeNames(dir string, names []string, inputs []input.Input) error {
	from := make(map[string]string, len(names))
	for i, name := range names {
		key := foldName(filepath.Clean(name))
		if other, twice := from[key]; twice {
			return fmt.Errorf("the inputs %s and %s would have the same output %s: read each in a run of its own, with the same --index", other, inputs[i].Name, filepath.Join(dir, name))
		}
		from[key] = inputs[i].Name
	}
	for i, whole := range names {
		if inputs[i].Member == nil {
			continue
		}
		whole = filepath.Clean(whole)
		for name := whole; name != "."; name = filepath.Dir(name) {
			if len(filepath.Base(name)) > maxPart {
				return fmt.Errorf("the input %s has a name that is too long for a file: write it with --out, or have firstseen report kept name it", inputs[i].Name)
			}
			if other, is := from[foldName(name)]; is && name != whole {
				return fmt.Errorf("the output of %s would be the folder in which that of %s is: write them with --out, or have firstseen report kept name them", other, inputs[i].Name)
			}
		}
	}
	return nil
}

// CheckTreeFolders refuses files of a tree that cannot be made below dir: a file stands in the place of
// a folder, or a folder in the place of a file.
func CheckTreeFolders(dir string, names []string) error {
	seen := map[string]bool{}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder, and the tree in %s would have a file of its name: choose another folder", path, dir)
		}
		for up := filepath.Dir(path); !seen[up]; up = filepath.Dir(up) {
			seen[up] = true
			if info, err := os.Stat(up); err == nil && !info.IsDir() {
				return fmt.Errorf("%s is a file, and the tree in %s would have a folder of its name: choose another folder", up, dir)
			}
		}
	}
	return nil
}

// foldName makes names equal that the usual file systems of the platform take for one.
func foldName(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(name)
	}
	return name
}
