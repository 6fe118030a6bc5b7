package eval

// Agreement compares the documents that a rule takes for copies with the truth. Counts are of pairs
// of documents; each share is 0 to 1.
type Agreement struct {
	// Pairs rightly and wrongly taken for copies, and copies not found.
	Right  int64 `json:"right"`
	Wrong  int64 `json:"wrong"`
	Missed int64 `json:"missed"`

	Precision float64 `json:"precision"` // share of the pairs taken for copies that are; 1 for none
	Recall    float64 `json:"recall"`    // share of the copies found; 1 if there are none
	F1        float64 `json:"f1"`        // their harmonic mean
	// ARI is the adjusted Rand index of the two clusterings (Hubert and Arabie, "Comparing
	// partitions", 1985): 1 if they are the same, around 0 if they agree by chance.
	ARI float64 `json:"ari"`
}

// Agree compares a rule's outcome on the set with its labels. A rule joins each document with its
// witness. The true copies are those of a cluster or, if pairs are known, those joined by the
// pairs. Without clusters, a pair without a label is neither right nor wrong.
func (s *Set) Agree(o *Outcome) (a Agreement) {
	found := newClusters(len(s.Docs))
	for doc, witness := range o.Witness {
		found.join(doc, witness)
	}
	truth := s.truth()
	t := tableOf(found.all(), truth)
	a.Right = t.both
	a.Missed = t.inSecond - t.both
	if s.Cluster != nil {
		a.Wrong = t.inFirst - t.both
	} else {
		a.Wrong = s.unlikeJoined(found)
	}
	a.Precision, a.Recall = of(a.Right, a.Right+a.Wrong), of(a.Right, a.Right+a.Missed)
	if sum := a.Precision + a.Recall; sum > 0 {
		a.F1 = 2 * a.Precision * a.Recall / sum
	}
	a.ARI = t.adjustedRand()
	return a
}

// of returns a share, 1 if whole is 0.
func of(part, whole int64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// truth returns the cluster of each document.
func (s *Set) truth() []int {
	if s.Cluster != nil {
		return s.Cluster
	}
	c := newClusters(len(s.Docs))
	for i := range s.Pairs {
		if s.Pairs[i].Alike {
			c.join(s.Of(&s.Pairs[i]))
		}
	}
	return c.all()
}

// unlikeJoined counts the pairs labelled as unlike that a rule has joined.
func (s *Set) unlikeJoined(found clusters) (n int64) {
	for i := range s.Pairs {
		if p := &s.Pairs[i]; p.Unlike {
			a, b := s.Of(p)
			if found.of(a) == found.of(b) {
				n++
			}
		}
	}
	return n
}

// contingency counts pairs of n things by two clusterings.
type contingency struct{ all, inFirst, inSecond, both int64 }

// tableOf counts the pairs of things that are together in one of two clusterings, and in both.
func tableOf(first, second []int) (t contingency) {
	a, b, both := map[int]int64{}, map[int]int64{}, map[[2]int]int64{}
	for i := range first {
		a[first[i]]++
		b[second[i]]++
		both[[2]int{first[i], second[i]}]++
	}
	t.all = pairsOf(int64(len(first)))
	for _, n := range a {
		t.inFirst += pairsOf(n)
	}
	for _, n := range b {
		t.inSecond += pairsOf(n)
	}
	for _, n := range both {
		t.both += pairsOf(n)
	}
	return t
}

func pairsOf(n int64) int64 { return n * (n - 1) / 2 }

// adjustedRand returns (index − expected) / (largest − expected), or 1 if both separate or join
// all.
func (t *contingency) adjustedRand() float64 {
	if t.inFirst == t.both && t.inSecond == t.both {
		return 1
	}
	expected := float64(t.inFirst) * float64(t.inSecond) / float64(t.all)
	largest := (float64(t.inFirst) + float64(t.inSecond)) / 2
	return (float64(t.both) - expected) / (largest - expected)
}
