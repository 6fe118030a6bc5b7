package input

import (
	"os"

	"github.com/firstseen/firstseen/corpus/compress"
)

// A Finder finds inputs by their names. It is for one goroutine.
type Finder struct {
	known map[string]Input // members of archives
	list  list
}

// NewFinder returns a Finder of the inputs, whose archives need not be listed again, and of
// all that there is beside them.
func NewFinder(inputs []Input, bounds compress.Bounds) *Finder {
	f := &Finder{known: map[string]Input{}, list: list{limits: bounds.Decoders()}}
	for _, in := range inputs {
		if _, twice := f.known[in.Name]; in.Member != nil && !twice {
			f.known[in.Name] = in
		}
	}
	return f
}

// Find returns the input of a name: a file, or a member of an archive. Anything else has the size -1.
func (f *Finder) Find(name string) (Input, error) {
	if in, ok := f.known[name]; ok {
		return in, nil
	}
	in := Input{Path: name, Name: name, Size: -1}
	info, err := os.Stat(name)
	if err != nil && name != Stdin {
		found, memberErr := f.list.addMember(name)
		switch {
		case !found:
			return in, err
		case memberErr != nil:
			return in, memberErr
		}
		in, f.list.inputs = f.list.inputs[0], nil
		return in, nil
	}
	if err == nil && info.Mode().IsRegular() {
		in.Size = info.Size()
	}
	return in, nil
}
