package report

import (
	"math"
	"time"

	"github.com/firstseen/firstseen/corpus"
)

// LastRank is the rank of a document that no preference names.
const LastRank = math.MaxInt64

// A Member is a document of a component.
type Member struct {
	Group string // batch or folder; "" if one of all survives
	Rank  int64  // the lowest is preferred, the earliest of equals
	Survivor
}

// Survivors chooses, after a run, the document of each component that stays in the output:
// docs/design.md, "Survivors". A component is a kept document and the copies removed for it.
//
// Components have numbers. Members are offered in the order of the run, then asked for in the same
// order. A group of a component takes about 250 bytes, and each document in one takes 4.
type Survivors struct {
	components map[uint32]*component
	index      map[named]int // of each group in its component
}

// named is a group of a component.
type named struct {
	component uint32
	group     string
}

type component struct {
	first   string // id of the first member
	groups  []group
	members []uint32 // index of each member's group
	lead    int      // group of the survivor of all
	asked   int      // number of members asked for
}

type group struct {
	best Member
	at   int // position of best in the component
}

// NewSurvivors returns Survivors without components.
func NewSurvivors() *Survivors {
	return &Survivors{components: map[uint32]*component{}, index: map[named]int{}}
}

// Offer adds the next member of a component.
func (p *Survivors) Offer(number uint32, m Member) {
	c := p.components[number]
	if c == nil {
		c = &component{first: m.ID}
		p.components[number] = c
	}
	at := len(c.members)
	i, known := p.index[named{number, m.Group}]
	if !known {
		i = len(c.groups)
		p.index[named{number, m.Group}] = i
		c.groups = append(c.groups, group{m, at})
	}
	c.members = append(c.members, uint32(i))
	if m.Rank < c.groups[i].best.Rank {
		c.groups[i] = group{m, at}
	}
	lead := &c.groups[c.lead]
	if g := &c.groups[i]; g.best.Rank < lead.best.Rank || g.best.Rank == lead.best.Rank && g.at < lead.at {
		c.lead = i
	}
}

// First returns the id of the first member of a component, or "" before it is offered.
func (p *Survivors) First(number uint32) string {
	if c := p.components[number]; c != nil {
		return c.first
	}
	return ""
}

// Ask reports whether a component's next member is kept, and its fate. Unoffered ones are kept.
func (p *Survivors) Ask(number uint32) (kept bool, fate Fate) {
	c := p.components[number]
	if c == nil || c.asked == len(c.members) {
		return true, Fate{}
	}
	at := c.asked
	c.asked++
	i := int(c.members[at])
	switch g := &c.groups[i]; {
	case g.at != at && g.at == 0:
		return false, Fate{}
	case g.at != at:
		return false, Fate{Instead: &g.best.Survivor}
	case i != c.lead:
		return true, Fate{OfBatch: c.groups[c.lead].best.Group, Copies: len(c.members)}
	}
	return true, Fate{}
}

// First returns the line of the first document of a component, if a later copy is preferred. The
// document was unique when it came.
func First(id, file string, at corpus.Place, made time.Time) Reported {
	line := Reported{ID: id, Verdict: "unique", Why: whyPreferred, Also: []AlsoDoc{}, Sample: []string{}, File: file, Line: at}
	if !made.IsZero() {
		line.Time = &made
	}
	return line
}

// Fate is the fate of a document that has copies.
type Fate struct {
	// Instead replaces a removed document in the output; nil if the first document does.
	Instead *Survivor `json:"instead,omitempty"`
	// OfBatch is the batch of the preferred copy, and Copies the number of all, if another stays.
	OfBatch string `json:"of_batch,omitempty"`
	Copies  int    `json:"count,omitempty"`
}

// Survivor names the document that stands in the output for others.
type Survivor struct {
	ID   string       `json:"id"`
	File string       `json:"file"`
	Line corpus.Place `json:"line"`
}
