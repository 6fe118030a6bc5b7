package lexical

import (
	"encoding/json"
	"fmt"
)

// Columns added to annotated rows, in formats with columns.
const (
	VerdictColumn = "firstseen_verdict"
	OfColumn      = "firstseen_of"
	ScoreColumn   = "firstseen_score"
)

// Verdict is an annotation for columns.
type Verdict struct {
	Verdict string   `json:"verdict"`
	Of      *string  `json:"of"`    // nil if no earlier document is named
	Score   *float64 `json:"score"` // likewise
}

// ReadVerdict reads the value of an annotation.
func ReadVerdict(value []byte) (v Verdict, err error) {
	if err := json.Unmarshal(value, &v); err != nil {
		return v, fmt.Errorf("reading a verdict: %w", err)
	}
	return v, nil
}
