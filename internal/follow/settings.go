package follow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/journal"
)

// Settings are the rules of a log. The JSON form is a contract; docs/format.md, "A log".
type Settings struct {
	Scheme    string      `json:"scheme"` // without a secret
	Threshold float64     `json:"threshold"`
	Score     dedup.Score `json:"score"`
	Mosaics   bool        `json:"mosaics"` // they are removed
	Window    uint32      `json:"window"`  // seconds, 0 for ever
	Text      string      `json:"text"`
	ID        string      `json:"id"`
	Seed      string      `json:"seed,omitempty"`   // of the index at the beginning, "" for an empty one
	NoKey     bool        `json:"no_key,omitempty"` // fingerprints have no secret: features are decided too
}

// settingsOf returns the settings that a configuration asks for. What it leaves out is as in base, or the
// default if that is zero.
func settingsOf(c *Config, base Settings) (Settings, error) {
	scheme := c.Index.Scheme()
	scheme.Key = nil
	rules := c.Policy.Rules
	rules.Threshold, rules.Score = cmp.Or(rules.Threshold, base.Threshold), cmp.Or(rules.Score, base.Score)
	rules, err := rules.WithDefaults(scheme, false)
	return Settings{
		Scheme: scheme.Name(), Threshold: rules.Threshold, Score: rules.Score, Mosaics: rules.RemoveMosaics || base.Mosaics,
		Window: cmp.Or(c.Policy.Window, base.Window, c.Index.Window()),
		Text:   cmp.Or(c.Fields.Text, base.Text, "text"), ID: cmp.Or(c.Fields.ID, base.ID, "id"), Seed: base.Seed, NoKey: base.NoKey,
	}, err
}

// seedOf returns the seed of a log that goes on from an index.
func seedOf(x *index.Index) string {
	if x.Table().Documents() == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", x.Table().Generation().Content)
}

func (s *Settings) rules() dedup.Rules {
	return dedup.Rules{Threshold: s.Threshold, Score: s.Score, RemoveMosaics: s.Mosaics}
}

func (s *Settings) fields() jsonl.Fields { return jsonl.Fields{Text: s.Text, ID: s.ID} }

func (s *Settings) String() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a threshold is a number
	}
	return string(b)
}

// entry is the record that sets them.
func (s *Settings) entry() []byte {
	e := journal.Entry{Kind: journal.Settings, Text: []byte(s.String())}
	return e.Append(nil)
}

var errSettings = errors.New("settings that this log cannot have")

// parseSettings reads the settings of an entry.
func parseSettings(text []byte) (s Settings, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err = dec.Decode(&s)
	if err != nil || !(s.Threshold > 0 && s.Threshold <= 1) || s.Score > dedup.ScoreSegments || s.Text == "" || s.ID == "" {
		return s, errSettings
	}
	return s, nil
}

// checkChange reports whether the log may go on under other settings.
func (s *Settings) checkChange(to *Settings) error {
	if s.Scheme != to.Scheme || s.Text != to.Text || s.ID != to.ID || s.Seed != to.Seed || s.NoKey != to.NoKey || (s.Window == 0) != (to.Window == 0) {
		return fmt.Errorf("%w: scheme, fields, seed and key stay, and a window neither begins nor ends", errSettings)
	}
	return nil
}
