package index

import (
	"errors"

	"github.com/firstseen/firstseen/feature"
)

// Made holds the properties that an index got when it was made.
type Made struct {
	Scheme     feature.Scheme // without its key
	FilterOnly bool
	Window     uint32 // seconds, 0 for an index without a window
}

// Exists reports whether dir holds an index, sound or not.
func Exists(dir string) bool {
	p, err := look(dir)
	return err == nil && !p.none()
}

// ReadMade returns the properties of the index in dir, nil if there is no index yet or if another
// version of the rules made it. Open refuses the latter and says why.
func ReadMade(dir string) (_ *Made, err error) {
	if !Exists(dir) {
		return nil, nil
	}
	files, err := OpenFiles(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	m := &Made{FilterOnly: files.Table == nil}
	if files.Table != nil {
		m.Window, _, _ = files.Table.Window()
	}
	key, err := ReadKey(dir)
	if err != nil {
		return nil, err
	}
	if m.Scheme, err = schemeIn(dir, files.Scheme(), key); err != nil || feature.MethodOf(files.Scheme()) == feature.Former {
		return nil, nil // opening it says why
	}
	m.Scheme.Key = nil
	return m, nil
}
