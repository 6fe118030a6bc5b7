package report_test

// judgedDoc is a document of a finished run.
type judgedDoc struct {
	Kept  bool
	Of    int    // the position of a removed document's witness, or -1
	Group string // its batch or folder
	Rank  int64  // its place in the order of preference, the lowest first
}

// fateOf is what becomes of a document.
type fateOf struct {
	Kept     bool
	Survivor int    // the position of the document that replaces it in the output, or -1
	OfGroup  string // for a copy that is kept: the group of the component's survivor
	Count    int    // and the number of documents in the component
}

// survivors follows docs/design.md, "Survivors", over all documents in order. within asks for a survivor in each group.
func survivors(docs []judgedDoc, within bool) []fateOf {
	fates := make([]fateOf, len(docs))
	for i := range docs {
		first := firstOf(docs, i)
		if first < 0 {
			fates[i] = fateOf{Kept: docs[i].Kept, Survivor: -1}
			continue
		}
		all := func(j int) bool { return firstOf(docs, j) == first }
		own := func(j int) bool { return all(j) && (!within || docs[j].Group == docs[i].Group) }
		lead, survivor := preferred(docs, all), preferred(docs, own)
		fates[i] = fateOf{Kept: survivor == i, Survivor: survivor}
		if survivor == i && lead != i {
			fates[i].OfGroup, fates[i].Count = docs[lead].Group, sizeOf(docs, all)
		}
	}
	return fates
}

// firstOf returns the kept document that represents a component.
func firstOf(docs []judgedDoc, i int) int {
	if docs[i].Kept {
		return i
	}
	return docs[i].Of
}

func preferred(docs []judgedDoc, in func(int) bool) int {
	best := -1
	for i := range docs {
		if in(i) && (best < 0 || docs[i].Rank < docs[best].Rank) {
			best = i
		}
	}
	return best
}

func sizeOf(docs []judgedDoc, in func(int) bool) (n int) {
	for i := range docs {
		if in(i) {
			n++
		}
	}
	return n
}
