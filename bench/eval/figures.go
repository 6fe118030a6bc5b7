package eval

// Figures counts a rule's effects on a set: documents, unless stated otherwise.
type Figures struct {
	Corpus    string `json:"corpus"`
	Rule      string `json:"rule"`
	Documents int    `json:"documents"`
	Removed   int    `json:"removed"`
	False     int    `json:"false"`
	Grey      int    `json:"grey"`
	Long      int    `json:"long"`
	Frame     *int   `json:"frame,omitempty"` // nil if the IDs do not show it
	// Pairs: alike ones, those with both documents kept, and those whose later document was removed
	// with the other or its copy as witness.
	Alike int `json:"alike"`
	Left  int `json:"left"`
	Found int `json:"found"`
	// LeftOf holds, by label, the numbers of alike pairs that stay and of all.
	LeftOf map[string][2]int `json:"left_of,omitempty"`
	// Pairs labelled as unlike, and those removed with each other.
	Negatives        int `json:"negatives"`
	NegativesRemoved int `json:"negatives_removed"`
	Mosaics          int `json:"mosaics"`
	Related          int `json:"related"`
	// Means over all removals, 0 to 1.
	Jaccard     float64 `json:"jaccard"`
	Containment float64 `json:"containment"`
	LCS         float64 `json:"lcs"`
	// Bytes stored per kept document.
	Bytes float64 `json:"bytes"`
}
