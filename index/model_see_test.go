package index

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/internal/base/fields"
)

// The model draws documents and compares their verdicts with the rules, one by one or together.

func (m *model) see() {
	m.begin()
	docs := 1 + m.r.IntN(16)
	m.crashingIn(func() {
		for range docs {
			if m.one(m.arrives(m.now.clock)); !m.policy.replace && m.chance(3) {
				m.together()
			}
		}
	})
}

// arrives draws the next document at a given clock, and the time that it declares.
func (m *model) arrives(clock int64) (a arrival, added []byte) {
	a = m.policy
	a.id, a.set = fmt.Sprint("page-", m.r.IntN(20)), new(feature.Set)
	m.extractor.Extract(a.set, []byte(m.text()))
	if a.window == 0 {
		return a, nil
	}
	m.at += m.r.Int64N(a.window/10 + 2)
	switch a.time = m.at; {
	case !m.tells:
	case m.chance(8):
		a.time = clock // it declares none
	default:
		if m.chance(3) {
			a.time -= m.r.Int64N(2*a.window + 1)
		}
		added = fields.AppendTime(nil, a.time)
	}
	return a, added
}

// one lets both judge a document.
func (m *model) one(a arrival, added []byte) {
	if a.window > 0 && !m.tells {
		a.time = max(m.at, m.now.clock)
	}
	m.advance(&a) // precedes a checkpoint that may be due
	got, err := m.x.Decide(dedup.Document{ID: a.id, Sketch: a.set, Added: added})
	m.must(err)
	if late := m.now.late(&a); late != m.x.Late() {
		m.rt.Fatalf("document of time %d: late %v, want %v", a.time, !late, late)
	}
	m.compareVerdict(&a, got)
	m.must(m.x.Ack(100))
}

// together judges as many documents in one batch as the budget allows.
func (m *model) together() {
	left := m.x.Budget()
	var b dedup.Group
	var docs []arrival
	clock := m.now.clock
	for range 1 + m.r.IntN(20) {
		a, added := m.arrives(clock)
		left.Take(len(a.set.Features)+1, 10, 0)
		if min(left.Keys, left.Documents, left.IDs, int(left.Bytes)-2000) < 0 || !m.x.NoCheckpointDue(added) {
			break
		}
		if a.window > 0 && !m.tells {
			a.time = max(m.instant, clock)
		}
		clock = max(clock, a.time)
		docs = append(docs, a)
		b.Add(dedup.Document{ID: a.id, Sketch: a.set, Added: added})
	}
	b.Link()
	results := make([]dedup.Result, len(docs))
	crew := dedup.Pool{Size: 2, Run: func(tasks int, f func(worker, task int)) {
		for task := range tasks {
			f(task%2, task)
		}
	}}
	m.must(m.x.DecideAll(&b, crew, func(_, i int, r *dedup.Result, _ []int) {
		results[i] = r.Clone()
	}))
	for i := range docs {
		m.advance(&docs[i])
		m.compareVerdict(&docs[i], results[i])
	}
	m.count["together"] += len(docs)
	m.must(m.x.Ack(100))
}

func (m *model) advance(a *arrival) {
	before := m.live()
	m.now.advance(a)
	m.count["expired"] += before - m.live()
}

// compareVerdict compares a verdict with that of the rules.
func (m *model) compareVerdict(a *arrival, got dedup.Result) {
	slices := m.now.begun
	want, replaced := m.now.judge(a)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		m.rt.Fatalf("document %s of time %d, kept before %d (-want +got):\n%s", a.id, a.time, len(m.now.docs), diff)
	}
	m.x.NoteDependent(a.id, &got)
	m.now.note(a, &want)
	m.count[want.Verdict.String()]++
	for what, is := range map[string]bool{"exact": want.Exact, "counted": want.Counted, "replaced": replaced, "late": m.now.late(a), "slices": m.now.begun != slices} {
		if is {
			m.count[what]++
		}
	}
}

// text draws a text that is new or made of earlier ones, some with a menu.
func (m *model) text() string {
	var parts []string
	if n := len(m.texts); n > 0 && !m.chance(3) {
		parts = strings.Split(m.texts[m.r.IntN(n)], "\n")
		switch m.r.IntN(4) {
		case 0: // unchanged
		case 1:
			parts = parts[:1+m.r.IntN(len(parts))]
		case 2:
			parts = append(parts, strings.Split(m.texts[m.r.IntN(n)], "\n")...)
		case 3:
			parts[m.r.IntN(len(parts))] = m.sentence()
		}
	} else {
		for range 1 + m.r.IntN(14) {
			parts = append(parts, m.sentence())
		}
	}
	if m.chance(2) {
		parts = append(parts, "The menu of this site has several entries, which are everywhere the same.", "All rights are reserved by those who wrote the pages that you are reading.")
	}
	text := strings.Join(parts, "\n")
	m.texts = append(m.texts, text)
	return text
}

func (m *model) sentence() string {
	words := make([]string, 6+m.r.IntN(8))
	for i := range words {
		words[i] = fmt.Sprintf("word%c%c", 'a'+m.r.IntN(26), 'a'+m.r.IntN(26))
	}
	return strings.Join(words, " ") + "."
}
