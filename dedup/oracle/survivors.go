package oracle

// Judged is a document of a finished run, for rule 18.
type Judged struct {
	Kept  bool
	Of    int    // the position of the witness of a removed document, -1 if it has none
	Group string // its batch or folder
	Rank  int64  // its place in the order of preference, the least first
}

// Fate is what rule 18 makes of a document.
type Fate struct {
	Kept     bool
	Survivor int    // the position of the one that stands in the output for it; -1 if none does
	OfGroup  string // of a copy that is kept: the group of the survivor of all
	Count    int    // and how many documents the component has
}

// Survivors is rule 18 over all documents in order. within asks for a survivor of each group.
func Survivors(docs []Judged, within bool) []Fate {
	fates := make([]Fate, len(docs))
	for i := range docs {
		first := firstOf(docs, i)
		if first < 0 {
			fates[i] = Fate{Kept: docs[i].Kept, Survivor: -1}
			continue
		}
		all := func(j int) bool { return firstOf(docs, j) == first }
		own := func(j int) bool { return all(j) && (!within || docs[j].Group == docs[i].Group) }
		lead, survivor := preferred(docs, all), preferred(docs, own)
		fates[i] = Fate{Kept: survivor == i, Survivor: survivor}
		if survivor == i && lead != i {
			fates[i].OfGroup, fates[i].Count = docs[lead].Group, sizeOf(docs, all)
		}
	}
	return fates
}

// firstOf is the kept document that names a component.
func firstOf(docs []Judged, i int) int {
	if docs[i].Kept {
		return i
	}
	return docs[i].Of
}

func preferred(docs []Judged, in func(int) bool) int {
	best := -1
	for i := range docs {
		if in(i) && (best < 0 || docs[i].Rank < docs[best].Rank) {
			best = i
		}
	}
	return best
}

func sizeOf(docs []Judged, in func(int) bool) (n int) {
	for i := range docs {
		if in(i) {
			n++
		}
	}
	return n
}
