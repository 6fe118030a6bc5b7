package show

import (
	"cmp"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// The groups of a map of sources. ByIDs is by host for ids that are URLs, else by folder. Those
// after ByFolder need the inputs.
const (
	ByIDs    = ""
	ByHost   = "host"
	ByFolder = "folder"
	ByInput  = "input"
	ByField  = "field"
)

// Map counts removed documents by their group and that of their source. The JSON form is a contract.
type Map struct {
	By      string    `json:"by"`
	Rows    []string  `json:"rows"`    // groups with removed documents
	Columns []string  `json:"columns"` // groups of their sources
	Counts  [][]int64 `json:"counts"`  // of each row by columns

	rowOf, columnOf []int // by the number of a group; -1 for groups that lose, or give, nothing
}

const (
	maxGroups = 1<<16 - 3 // distinct groups; all later ones are one
	maxSide   = 12        // groups shown on a side
	noGroup   = 1<<16 - 1 // number of a source that is unknown

	others  = "all others"
	earlier = "an earlier run"
	nowhere = "(none)"
)

// groups numbers groups, and counts pairs of them.
type groups struct {
	by      string
	names   []string
	numbers map[string]uint16
	pairs   map[[2]uint16]int64
	sources map[uint64]uint16 // by the hash of an id: the group of a source, noGroup before it is met
}

func newGroups(by string) *groups {
	g := &groups{by: by, numbers: map[string]uint16{}, pairs: map[[2]uint16]int64{}}
	g.number(others)
	if g.fromInputs() {
		g.sources = map[uint64]uint16{}
	}
	return g
}

// fromInputs reports whether only the inputs show the group of a document.
func (g *groups) fromInputs() bool { return g.by == ByInput || g.by == ByField }

func (g *groups) number(name string) uint16 {
	name = cmp.Or(name, nowhere)
	n, known := g.numbers[name]
	if !known && len(g.names) < maxGroups {
		n, name = uint16(len(g.names)), strings.Clone(name) // else n is 0
		g.names, g.numbers[name] = append(g.names, name), n
	}
	return n
}

// ofID returns the group of a document by its id.
func (g *groups) ofID(id string) uint16 {
	if host := siteOf(id); g.by == ByHost || g.by == ByIDs && host != "" {
		return g.number(host)
	}
	if _, rest, is := strings.Cut(id, "://"); is {
		id = rest
	}
	return g.number(strings.TrimPrefix(path.Dir(id), "."))
}

// expect notes that a later look at the inputs must find the group of a source.
func (g *groups) expect(id string) {
	if len(g.sources) < maxRows {
		g.sources[xxh3.HashString(id)] = noGroup
	}
}

// meet notes the group of a document of the inputs. The first with an id counts.
func (g *groups) meet(id []byte, group uint16) {
	if known, is := g.sources[xxh3.Hash(id)]; is && known == noGroup {
		g.sources[xxh3.Hash(id)] = group
	}
}

// source returns the group of a source that was expected.
func (g *groups) source(id string) uint16 {
	n := g.sources[xxh3.HashString(id)] // 0 if there was no room
	if n == noGroup {
		return g.number(earlier)
	}
	return n
}

func (g *groups) count(from, of uint16) {
	pair := [2]uint16{from, of}
	if _, known := g.pairs[pair]; !known && len(g.pairs) > maxGroups {
		pair = [2]uint16{}
	}
	g.pairs[pair]++
}

// chart returns the map, or nil if there are not two groups.
func (g *groups) chart() *Map {
	if len(g.names) < 3 { // one of them for all others
		return nil
	}
	m := &Map{By: cmp.Or(g.by, "host or folder")}
	labels := g.names
	if g.by != ByHost && g.by != ByField {
		labels = rolled(g.names)
	}
	lost, given := map[string]int64{}, map[string]int64{}
	for pair, n := range g.pairs {
		lost[labels[pair[0]]] += n
		given[labels[pair[1]]] += n
	}
	m.Rows, m.rowOf = most(lost, labels)
	m.Columns, m.columnOf = most(given, labels)
	if len(m.Rows)*len(m.Columns) < 2 {
		return nil
	}
	for range m.Rows {
		m.Counts = append(m.Counts, make([]int64, len(m.Columns)))
	}
	for pair, n := range g.pairs {
		m.Counts[m.rowOf[pair[0]]][m.columnOf[pair[1]]] += n
	}
	return m
}

// Shade returns the shade of a field with that count, in percent.
func (m *Map) Shade(n int64) int {
	most := slices.Max(slices.Concat(m.Counts...))
	return int(8 + 92*math.Sqrt(float64(n)/float64(most)))
}

// most returns the groups with the highest counts by name, and where each label is among them.
func most(counts map[string]int64, labels []string) (shown []string, at []int) {
	shown = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	rest := len(shown) > maxSide || counts[others] > 0
	shown = slices.DeleteFunc(shown, func(name string) bool { return name == others })
	shown = shown[:min(len(shown), maxSide)]
	slices.Sort(shown)
	if rest {
		shown = append(shown, others)
	}
	index := map[string]int{}
	for i, name := range shown {
		index[name] = i
	}
	for _, label := range labels {
		i, is := index[label]
		if !is && counts[label] > 0 {
			i = len(shown) - 1
		} else if !is {
			i = -1
		}
		at = append(at, i)
	}
	return shown, at
}

// rolled returns the labels of folders: as many levels of each as maxSide folders allow.
func rolled(names []string) (labels []string) {
	for levels, last := 1, 0; levels < 32 && !slices.Equal(labels, names); levels++ {
		deeper, distinct := make([]string, len(names)), map[string]bool{}
		for i, name := range names {
			all := strings.SplitN(name, "/", levels+1)
			deeper[i] = strings.Join(all[:min(levels, len(all))], "/")
			distinct[deeper[i]] = true
		}
		if len(distinct) > maxSide && last > 3 { // else all would be in one or two folders
			break
		}
		labels, last = deeper, len(distinct)
	}
	return labels
}
