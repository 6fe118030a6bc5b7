package method

// A Reason is a step of a judgement in words, for a person.
type Reason struct {
	// Rule is the deciding rule of docs/design.md, "The decision", such as "13"; "" if the method
	// has its own.
	Rule string `json:"rule"`
	Says string `json:"says"`
}

// A Reasoner is a [Judge] that can explain Compare's finding. Decisions do not use it; it is for
// a person's questions about one pair.
type Reasoner interface {
	// Reasons explains the comparison of the document under judgement with a candidate,
	// after Select was asked.
	Reasons(c *Candidate, record []byte) ([]Reason, error)
}
