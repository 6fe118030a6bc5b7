package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// maxList is the longest list of inputs, in bytes: a million names.
const maxList = 256 << 20

// readLists replaces an argument @FILE by the names in FILE, unless the argument itself is the name
// of a file. The names are the lines of FILE or, if it has zero bytes, the parts between these, as
// find -print0 writes them. A name may be any argument except a list. Empty lines are passed over.
func readLists(args []string) (all []string, err error) {
	for _, arg := range args {
		name, isList := strings.CutPrefix(arg, "@")
		if _, err := os.Lstat(arg); !isList || err == nil {
			all = append(all, arg)
			continue
		}
		names, err := readList(name)
		if err != nil {
			return nil, fmt.Errorf("list of inputs %s: %w", arg, err)
		}
		all = append(all, names...)
	}
	return all, nil
}

func readList(name string) (names []string, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s, of which each line would be an input", name)
	case err != nil:
		return nil, err
	case info.Size() > maxList:
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", info.Size(), maxList)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	end := "\n"
	if bytes.IndexByte(text, 0) >= 0 {
		end = "\x00"
	}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(text), "\ufeff"), end) {
		if end == "\n" {
			line = strings.TrimSuffix(line, "\r")
		}
		if line != "" {
			names = append(names, line)
		}
	}
	if len(names) == 0 {
		return nil, errors.New("it names nothing")
	}
	return names, nil
}
