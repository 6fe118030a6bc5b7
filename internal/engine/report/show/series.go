package show

import (
	"math"
	"time"

	"github.com/firstseen/firstseen/internal/engine/report/lines"
)

// maxBars is the most bars of a series.
const maxBars = 100

// series counts along an axis of whole numbers, in bars of equal width. The width doubles whenever
// a number is too far away, so memory is fixed.
type series struct {
	first, last  int64 // the least number met, and the greatest
	start, width int64
	bars         [][2]int64 // two counts; nil before the first number
}

// add adds to the counts of a number.
func (s *series) add(at, a, b int64) {
	if s.bars == nil {
		s.first, s.last, s.start, s.width, s.bars = at, at, at, 1, make([][2]int64, maxBars)
	}
	s.fit(at)
	bar := &s.bars[(at-s.start)/s.width]
	bar[0], bar[1] = bar[0]+a, bar[1]+b
}

// fit widens the bars until they include a number.
func (s *series) fit(at int64) {
	low, high, width := min(s.first, at), max(s.last, at), s.width
	start := below(low, width)
	for high-start >= width*maxBars {
		width *= 2
		start = below(low, width)
	}
	s.first, s.last = low, high
	if start == s.start && width == s.width {
		return
	}
	old := s.bars
	s.bars = make([][2]int64, maxBars)
	for i, counts := range old {
		if counts != [2]int64{} {
			bar := &s.bars[(s.start+int64(i)*s.width-start)/width]
			bar[0], bar[1] = bar[0]+counts[0], bar[1]+counts[1]
		}
	}
	s.start, s.width = start, width
}

// below returns the greatest multiple of width that is not above a number.
func below(at, width int64) int64 { return at - (at%width+width)%width }

// met returns the bars up to the last number.
func (s *series) met() [][2]int64 {
	return s.bars[:min(len(s.bars), int((s.last-s.start)/max(s.width, 1)+1))]
}

// course follows the stream: what is removed of it, and when removed documents were made.
type course struct {
	times, stream series
	read          bool // the stream has every document

	file         string
	before, last int64 // documents before the file, and records of it so far
	lines        int64
	unplaced     bool
}

// line adds a line of the report. Without the inputs, records stand for documents.
func (c *course) line(l *lines.Line) {
	c.lines++
	if !l.Kept && l.Time != nil {
		c.times.add(l.Time.Unix(), 1, 0)
	}
	if l.File != c.file {
		c.file, c.before, c.last = l.File, c.before+c.last, 0
	}
	c.last = l.Line.Record
	if l.Line.Part != 0 || c.last < 1 || c.before+c.last > math.MaxInt32<<16 {
		c.unplaced, c.last = true, 0
		return
	}
	if !l.Kept {
		c.stream.add(c.before+c.last-1, 0, 1)
	}
}

// document adds the next document of the inputs.
func (c *course) document(removed bool) {
	if !c.read {
		c.stream, c.read, c.last = series{}, true, 0
	}
	c.stream.add(c.last, 1, 0)
	if removed {
		c.stream.add(c.last, 0, 1)
	}
	c.last++
}

// shares returns the kept share of each bar of the stream; nil if it is unknown.
func (c *course) shares() (kept []float64) {
	all := int64(0)
	bars := c.stream.met()
	for i, bar := range bars {
		if !c.read { // every record is a document
			bar[0] = min(c.stream.width, c.stream.last+1-c.stream.start-int64(i)*c.stream.width)
		}
		all += bar[0]
		kept = append(kept, 1-float64(bar[1])/float64(max(bar[0], bar[1], 1)))
	}
	if len(bars) < 3 || !c.read && (c.unplaced || all <= c.lines) {
		return nil
	}
	return kept
}

// day formats a time of the times for an axis whose bars have that width.
func day(seconds, width int64) string {
	layout := "2006-01-02"
	if width < 12*3600 {
		layout = "2006-01-02 15:04"
	}
	return time.Unix(seconds, 0).UTC().Format(layout)
}
