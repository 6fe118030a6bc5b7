package textdiff

// Part is a stretch of a text with one relation to the other text.
type Part struct {
	Text  string
	Only  bool // the other text lacks it
	Moved bool // the other text has it elsewhere
}

// Parts cuts two texts into stretches: shared, shared but elsewhere, and in one text only. The parts
// of a text make up all of it.
func Parts(left, right string) (a, b []Part) {
	x, y := newSide(left), newSide(right)
	x.mark(y)
	return x.parts(), y.parts()
}

// parts joins neighbouring units of one state. Text between two units of one state has that state;
// other text between units counts as shared.
func (s *side) parts() (all []Part) {
	add := func(from, to int, at state) {
		if from == to {
			return
		}
		p := Part{Text: s.text[from:to], Only: at == onlyHere, Moved: at == elsewhere}
		if n := len(all); n > 0 && all[n-1].Only == p.Only && all[n-1].Moved == p.Moved {
			all[n-1].Text += p.Text
			return
		}
		all = append(all, p)
	}
	from, at := 0, aligned
	for i, span := range s.spans {
		between := aligned
		if s.states[i] == at {
			between = at
		}
		at = s.states[i]
		add(from, span[0], between)
		add(span[0], span[1], at)
		from = span[1]
	}
	add(from, len(s.text), aligned)
	return all
}
