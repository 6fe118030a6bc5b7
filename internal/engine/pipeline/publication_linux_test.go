package pipeline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/output"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// publishEnv makes the test of a publication the run to watch.
const publishEnv = "PIPELINE_TEST_PUBLISH"

// TestPublication watches the system calls of whole runs. Their order alone decides the state after
// a power cut. Data is on disk before the table knows it. A file gets its name once disk and table
// have all of it. All names are on disk before the run is noted as over.
func TestPublication(t *testing.T) {
	for name, set := range map[string]func(r *told){
		"files": func(*told) {},
		"files, without a table": func(r *told) {
			r.alone = true
		},
		"a tree": func(r *told) {
			r.command.Out, r.command.Tree = "", treeBelow(r, "out", true)
		},
		"a tree, without a table": func(r *told) {
			r.alone, r.command.Out, r.command.Tree = true, "", treeBelow(r, "deep/out", false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTold(t)
			set(r)
			for i, name := range []string{"a.jsonl", "b.jsonl"} { // with much to keep
				var lines []byte
				for n := range 60 {
					lines = fmt.Appendf(lines, "{\"id\":\"%d\",\"text\":%q}\n", n, indextest.Sentences(50*i+n))
				}
				indextest.Must(t, os.WriteFile(r.path(name), append(lines, "no document\n"...), 0o666))
			}
			if os.Getenv(publishEnv) != "" {
				indextest.Must(t, r.run())
				return
			}
			p := &publication{t: t, r: r, written: map[string]int{}, synced: map[string]int{}, named: map[string]int{}}
			for _, call := range watched(t, "^"+t.Name()+"$") {
				p.see(call)
			}
			p.end()
		})
	}
}

func treeBelow(r *told, dir string, early bool) *output.TreePlan {
	return &output.TreePlan{Dir: r.path(dir), Early: early, Files: []output.TreeOutput{{Name: "e/a.jsonl"}, {Name: "b/c/d.jsonl"}}}
}

// call is a system call that succeeded. begun and ended are its lines in the trace.
type call struct {
	name         string
	path, to     string // below the folder of the test
	begun, ended int
}

var (
	callBegun   = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	callResumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	callFile    = regexp.MustCompile(`^\d+<(/[^>]*)>`)
	callNames   = regexp.MustCompile(`(?:\w+<([^>]*)>, )?"([^"]*)"`) // in a folder, or whole
)

// watched reruns a test of this program under strace. It returns the calls that write, sync and
// name files, in the order in which they ended.
func watched(t *testing.T, test string) (calls []call) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace")
	}
	log := filepath.Join(t.TempDir(), "strace")
	cmd := exec.Command(strace, "-f", "-y", "-s", "0", "-o", log,
		"-e", "trace=write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,openat",
		os.Args[0], "-test.run="+strings.ReplaceAll(test, "/", "$/^"))
	cmd.Env = append(os.Environ(), publishEnv+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	trace, readErr := os.ReadFile(log)
	if readErr != nil || strings.Contains(string(out), "ptrace") {
		t.Skipf("strace does not work here: %v, %s", readErr, out)
	}
	if err != nil {
		t.Fatalf("%v, %s", err, out)
	}
	waits := map[string]call{} // by thread
	text := map[string]string{}
	n := 0
	for line := range strings.Lines(string(trace)) {
		n++
		line = strings.TrimSpace(line)
		if m := callBegun.FindStringSubmatch(line); m != nil {
			waits[m[1]], text[m[1]] = call{name: m[2], begun: n}, m[3]
			if strings.HasSuffix(line, "<unfinished ...>") {
				text[m[1]] = strings.TrimSuffix(m[3], "<unfinished ...>")
				continue
			}
			calls = appendCall(calls, waits[m[1]], m[3], n)
		} else if m := callResumed.FindStringSubmatch(line); m != nil {
			calls = appendCall(calls, waits[m[1]], text[m[1]]+m[3], n)
		}
	}
	return calls
}

func appendCall(calls []call, c call, text string, n int) []call {
	at := strings.LastIndex(text, ") ")
	if at < 0 || strings.Contains(text[at:], "= -1") {
		return calls
	}
	var paths []string
	switch c.name {
	case "write", "pwrite64", "ftruncate", "fsync", "fdatasync":
		if m := callFile.FindStringSubmatch(text); m != nil {
			paths = append(paths, m[1])
		}
	default:
		if c.name == "openat" && !strings.Contains(text, "O_CREAT") {
			return calls
		}
		for _, m := range callNames.FindAllStringSubmatch(text[:at], 2) {
			if !filepath.IsAbs(m[2]) {
				m[2] = filepath.Join(m[1], m[2])
			}
			paths = append(paths, m[2])
		}
	}
	for i, path := range paths {
		_, name, below := strings.Cut(path+"/", "/001/") // the child's folder
		if !below {
			return calls
		}
		paths[i] = filepath.Clean(name)
	}
	if len(paths) == 0 {
		return calls
	}
	c.path, c.ended = paths[0], n
	c.to = paths[len(paths)-1]
	return append(calls, c)
}

// publication is the state that a power cut would leave of a run so far, by lines of the trace.
type publication struct {
	t       *testing.T
	r       *told
	written map[string]int // end of the last change of a file
	synced  map[string]int // start of the last sync of a file or folder
	named   map[string]int // end of the call that placed a file or folder
	noted   int            // writes of a tree's notes about its run
	commit  int            // start of the first write of the table's last commit on disk
	writing int            // the same, of the commit not yet on disk
	commits int            // of the table, each counted once per file not in its place
	over    int            // start of the write that makes the run over
}

func (p *publication) see(c call) {
	switch c.name {
	case "write", "pwrite64", "ftruncate":
		p.written[c.path] = c.ended
		if filepath.Base(c.path) == lockName {
			p.noted++
		}
		if c.path == tablePath && p.writing == 0 {
			p.writing = c.begun
		}
	case "fsync", "fdatasync":
		p.synced[c.path] = c.begun
		if c.path == tablePath && p.writing > 0 {
			p.commit, p.writing = p.writing, 0
			p.known()
		}
	case "mkdir", "mkdirat", "openat":
		p.named[c.path] = c.ended
	case "rename", "renameat", "renameat2":
		p.rename(c)
	}
}

// lockName is the file that locks a tree.
const lockName = "firstseen" + input.PartialSuffix

var (
	tablePath  = filepath.Join("index", index.TableFile)
	filterPath = filepath.Join("index", index.FilterFile)
	notePath   = filepath.Join("deep", "out", lockName)
)

func (p *publication) rename(c call) {
	if p.dirty(c.path) || p.synced[c.path] == 0 {
		p.t.Errorf("%s becomes %s, and is not on the disk", c.path, c.to)
	}
	if c.to == filterPath && p.r.alone {
		p.over = c.begun
	}
	if strings.HasPrefix(c.to, "index") {
		return
	}
	p.named[c.to] = c.ended
	tree := p.r.command.Tree
	switch {
	case !p.r.alone && p.commit < p.written[c.path]:
		p.t.Errorf("%s becomes %s, and the table does not know of all that is in it", c.path, c.to)
	case tree != nil && !tree.Early && strings.HasPrefix(c.path, "deep/out") && (p.noted < 2 || p.dirty(notePath)):
		p.t.Errorf("%s becomes %s, and the note of that is not on the disk", c.path, c.to)
	}
}

// known checks that all data that the table knows is on disk, and the names of its files.
func (p *publication) known() {
	for path, at := range p.named {
		if name, partial := strings.CutSuffix(path, input.PartialSuffix); partial && p.written[path] > 0 && p.named[name] == 0 {
			for ; path != "." && at > 0 && at < p.commit; path, at = filepath.Dir(path), p.named[filepath.Dir(path)] {
				if sync := p.synced[filepath.Dir(path)]; sync < at || sync > p.commit {
					p.t.Errorf("the table knows of %s, and the name %s is not on the disk", name, path)
				}
			}
		}
	}
	for path, at := range p.written {
		if strings.Contains(path, input.PartialSuffix) && filepath.Base(path) != lockName && at < p.commit {
			p.commits++
			if p.synced[path] < at || p.synced[path] > p.commit {
				p.t.Errorf("the table knows of all that is in %s, which is not on the disk", path)
			}
		}
	}
}

func (p *publication) dirty(path string) bool { return p.written[path] > p.synced[path] }

// end checks that all names are on disk once the run is over.
func (p *publication) end() {
	if !p.r.alone {
		p.over = p.commit
	}
	places := 0
	for path, at := range p.named {
		if strings.Contains(path, input.PartialSuffix) || strings.HasPrefix(path, "index") {
			continue
		}
		places++
		if sync := p.synced[filepath.Dir(path)]; sync < at || sync > p.over {
			p.t.Errorf("the run is over, and the name %s is not on the disk", path)
		}
	}
	if tree := p.r.command.Tree; tree != nil {
		for _, f := range tree.Files {
			dir, _ := filepath.Rel(p.r.dir, tree.Dir)
			if name := filepath.Join(dir, f.Name); p.named[name] == 0 {
				p.t.Errorf("%s was not seen to get its place", name)
			}
		}
	}
	if !p.r.alone && p.commits < 8 || p.over == 0 || places < 3 || p.written["report.jsonl.partial"] == 0 {
		p.t.Errorf("%d names, %d commits, the run is over at %d: too few to mean anything", places, p.commits, p.over)
	}
}
