package show

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// Map counts removed documents by their group and by that of the earlier document. A group is the
// site of an id that is a URL. Of one that is a path, it is two folders below those that all share.
type Map struct {
	Folder  string    `json:"folder"`  // the folders that all paths share, with a slash at the end, or ""
	Rows    []string  `json:"rows"`    // groups of removed documents, the most frequent first
	Columns []string  `json:"columns"` // groups of earlier documents, likewise
	Cells   [][]int64 `json:"cells"`   // by row and column
	Others  int64     `json:"others"`  // documents of pairs without a cell
}

// maxGroups is the most rows and columns of a map.
const maxGroups = 12

// placeOf returns the site of an id, or its folders with a slash at the end, or "".
func placeOf(id string) string {
	if site := siteOf(id); site != "" {
		return site
	}
	return id[:strings.LastIndexByte(id, '/')+1]
}

// groupOf returns the group of a place.
func (m *Map) groupOf(place string) string {
	below, isPath := strings.CutPrefix(place, m.Folder)
	if !isPath || !strings.HasSuffix(place, "/") {
		return place
	}
	parts := strings.SplitN(below, "/", 3)
	return strings.TrimSuffix(strings.Join(parts[:min(len(parts), 2)], "/"), "/")
}

// mapOf arranges pairs of places, each joined by a line feed.
func mapOf(pairs []Count) (m Map) {
	first := true
	for _, p := range pairs {
		for place := range strings.SplitSeq(p.Value, "\n") {
			if first {
				m.Folder, first = place[:strings.LastIndexByte(place, '/')+1], false
			}
			for !strings.HasPrefix(place, m.Folder) {
				m.Folder = m.Folder[:strings.LastIndexByte(m.Folder[:len(m.Folder)-1], '/')+1]
			}
		}
	}
	rows, columns := map[string]int64{}, map[string]int64{}
	for _, p := range pairs {
		row, column, _ := strings.Cut(p.Value, "\n")
		rows[m.groupOf(row)] += p.Count
		columns[m.groupOf(column)] += p.Count
	}
	m.Rows, m.Columns = largest(rows), largest(columns)
	for range m.Rows {
		m.Cells = append(m.Cells, make([]int64, len(m.Columns)))
	}
	for _, p := range pairs {
		if row, column := m.at(p.Value); row >= 0 && column >= 0 {
			m.Cells[row][column] += p.Count
		} else {
			m.Others += p.Count
		}
	}
	return m
}

// at returns the row and the column of a pair, or -1.
func (m *Map) at(pair string) (row, column int) {
	r, c, _ := strings.Cut(pair, "\n")
	return slices.Index(m.Rows, m.groupOf(r)), slices.Index(m.Columns, m.groupOf(c))
}

// Most returns the largest cell.
func (m *Map) Most() (most int64) {
	for _, row := range m.Cells {
		most = max(most, slices.Max(row))
	}
	return most
}

func largest(counts map[string]int64) (names []string) {
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	return names[:min(len(names), maxGroups)]
}

// pairOf returns the places of a document and of the earlier one.
func pairOf(l *lines.Line) string {
	return placeOf(l.ID) + "\n" + placeOf(*l.Of)
}

// Step counts removed documents in a part of the stream, or of time.
type Step struct {
	From    string  `json:"from"` // number of the first document, or a date
	Removed int64   `json:"removed"`
	Share   float64 `json:"share,omitempty"` // of the part's documents, 0 to 1
}

const maxSteps = 64

// stream counts removed documents along the inputs, in steps whose width doubles as the inputs grow.
type stream struct {
	width   int64 // documents; 0 at the beginning
	removed [maxSteps]int64
	before  int64 // documents of earlier files, at least
	last    int64 // the greatest number in this file
	file    string
	unknown bool // the numbers of documents are unknown: they are parts of records
}

func (s *stream) add(l *lines.Line) {
	if l.File != s.file {
		s.file, s.before, s.last = l.File, s.before+s.last, 0
	}
	s.width = max(s.width, 1)
	s.unknown = s.unknown || l.Line.Part != 0
	s.last = max(s.last, l.Line.Record)
	at := max(s.before+l.Line.Record-1, 0)
	for ; at >= maxSteps*s.width; s.width *= 2 {
		for i := range maxSteps / 2 {
			s.removed[i] = s.removed[2*i] + s.removed[2*i+1]
		}
		clear(s.removed[maxSteps/2:])
	}
	if !l.Kept {
		s.removed[at/s.width]++
	}
}

// steps returns the parts, or none if they say nothing.
func (s *stream) steps() (all []Step) {
	total := s.before + s.last
	if s.unknown || total < 8 {
		return nil
	}
	for at := int64(0); at < total; at += s.width {
		n := s.removed[at/s.width]
		all = append(all, Step{strconv.FormatInt(at+1, 10), n, float64(n) / float64(min(s.width, total-at))})
	}
	return all
}

// maxDays bounds the days that are counted: later ones are left out.
const maxDays = 1 << 15

// days counts removed documents by the day of their time.
type days map[string]int64

func (d days) add(l *lines.Line) {
	if l.Time == nil || l.Kept {
		return
	}
	day := l.Time.UTC().Format(time.DateOnly)
	if _, known := d[day]; known || len(d) < maxDays {
		d[day]++
	}
}

// steps returns days, months or years, whichever is the first of at most maxSteps.
func (d days) steps() (all []Step) {
	for _, length := range []int{len("2006-01-02"), len("2006-01"), len("2006")} {
		counts := map[string]int64{}
		for day, n := range d {
			counts[day[:length]] += n
		}
		if all = nil; len(counts) > maxSteps && length > len("2006") {
			continue
		}
		for from, n := range counts {
			all = append(all, Step{From: from, Removed: n})
		}
		break
	}
	slices.SortFunc(all, func(a, b Step) int { return strings.Compare(a.From, b.From) })
	return all[:min(len(all), maxSteps)]
}

// Threshold counts the documents that a threshold would remove, of those that are removed, and shows
// the weakest.
type Threshold struct {
	At      float64   `json:"at"`
	Removed int64     `json:"removed"` // near copies with this score or more
	Weakest []Example `json:"weakest"` // up to three, by score
}

const (
	firstThreshold = 5 // tenths
	perThreshold   = 3
)

// thresholds counts near copies by their score, in tenths from firstThreshold on.
type thresholds [10 - firstThreshold]struct {
	n       int64
	weakest []ranked
}

// scoreOf returns the score, or the share that the filter has seen if it alone decided.
func scoreOf(l *lines.Line) float64 {
	if l.Of == nil {
		return float64(l.Seen)
	}
	return float64(l.Score)
}

func (all *thresholds) add(l *lines.Line) {
	score := scoreOf(l)
	at := min(int(score*10+1e-9), 9) - firstThreshold
	if at < 0 {
		return
	}
	t := &all[at]
	t.n++
	t.weakest = insert(t.weakest, perThreshold, "", l, score)
}

func (all *thresholds) list() []Threshold {
	list := make([]Threshold, len(all))
	sum := int64(0)
	for i := len(all) - 1; i >= 0; i-- {
		sum += all[i].n
		list[i] = Threshold{At: float64(i+firstThreshold) / 10, Removed: sum, Weakest: []Example{}}
		for _, r := range all[i].weakest {
			list[i].Weakest = append(list[i].Weakest, r.Example)
		}
	}
	return list
}
