package input

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxList is the size of the longest list of inputs, in bytes: a million names.
const maxList = 256 << 20

// ReadLists replaces an argument @FILE by the names in FILE, unless a file has the argument as its
// name. Names are lines or, if FILE has zero bytes, separated by these, as by find -print0. A name
// may be any argument but a list. Empty lines are skipped. No output may replace lists.
func ReadLists(args []string) (all []string, lists []Input, err error) {
	for _, arg := range args {
		name, isList := strings.CutPrefix(arg, "@")
		if _, err := os.Lstat(arg); !isList || err == nil {
			all = append(all, arg)
			continue
		}
		names, err := readList(name)
		if err != nil {
			return nil, nil, fmt.Errorf("list of inputs %s: %w", arg, err)
		}
		all, lists = append(all, names...), append(lists, Input{Path: name, Name: arg})
	}
	return all, lists, nil
}

func readList(name string) (names []string, err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s with an input on each line", name)
	case err != nil:
		return nil, err
	case info.Size() > maxList:
		return nil, fmt.Errorf("it has %d bytes, at most %d are read", info.Size(), maxList)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	end, list := '\x00', strings.TrimPrefix(string(text), "\ufeff")
	if !strings.ContainsRune(list, end) {
		end, list = '\n', strings.ReplaceAll(list+"\n", "\r\n", "\n")
	}
	names = strings.FieldsFunc(list, func(r rune) bool { return r == end })
	if len(names) == 0 {
		err = errors.New("it names no inputs")
	}
	return names, err
}

// fetched maps the schemes of addresses to commands that read them.
var fetched = map[string]string{
	"http": "curl -sSfL %s", "https": "curl -sSfL %s", "ftp": "curl -sSf %s", "s3": "aws s3 cp %s -", "gs": "gcloud storage cat %s",
}

// NoAddresses refuses an argument that names a web address and no local file.
func NoAddresses(args []string) error {
	for _, arg := range args {
		scheme, rest, found := strings.Cut(arg, "://")
		if !found || strings.ContainsAny(scheme, `/\`) {
			continue
		}
		if _, err := os.Lstat(arg); err == nil {
			continue
		}
		advice := "fetch it first, and give the file"
		if command, ok := fetched[strings.ToLower(scheme)]; ok {
			advice += fmt.Sprintf(", or, except Parquet and zip, read it from a pipe: "+command+" | firstseen ... -", arg)
		} else if parts := strings.SplitN(rest, "/", 4); scheme == "hf" && len(parts) > 2 && parts[0] == "datasets" {
			advice = fmt.Sprintf("fetch it with hf download %s/%s --repo-type dataset --local-dir DIR, and give DIR", parts[1], parts[2])
		}
		return fmt.Errorf("input %s is an address, and only files are read: %s", arg, advice)
	}
	return nil
}

// Twice returns the number of inputs that were given before, and the name of the first.
func Twice(inputs []Input) (n int, first string) {
	type place struct {
		path string
		at   int64 // of a member
	}
	met := map[place]bool{}
	for i := range inputs {
		in := &inputs[i]
		p := place{path: in.Path}
		if path, err := filepath.Abs(in.Path); err == nil {
			p.path = path
		}
		if in.Member != nil {
			p.at = in.Member.At()
		}
		if met[p] {
			n++
			first = cmp.Or(first, in.Name)
		}
		met[p] = true
	}
	return n, first
}

// SayOthers describes the skipped files of a directory by their most frequent endings.
func (p *Passed) SayOthers() string {
	all := 0
	for _, n := range p.Others {
		all += n
	}
	endings := byNumber(p.Others)
	var counts []string
	for _, ending := range endings[:min(len(endings), 5)] {
		counts = append(counts, fmt.Sprintf("%d %s", p.Others[ending], cmp.Or(ending, "without ending")))
	}
	if len(endings) > len(counts) {
		counts = append(counts, "and others")
	}
	files := "files"
	if all == 1 {
		files = "file"
	}
	return fmt.Sprintf("passed over %d %s in %s with names of other kinds (%s)", all, files, p.Path, strings.Join(counts, ", "))
}

// byNumber returns endings of files, the most frequent first.
func byNumber(others map[string]int) []string {
	return slices.SortedFunc(maps.Keys(others), func(a, b string) int {
		return cmp.Or(cmp.Compare(others[b], others[a]), cmp.Compare(a, b))
	})
}
