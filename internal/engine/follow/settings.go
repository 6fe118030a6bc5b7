package follow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/dedup"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/base/owners"
)

// Settings are the rules of a log. The JSON form is a contract; see docs/format.md, "A log".
type Settings struct {
	Version   int         `json:"version"` // dedup.RulesVersion
	Scheme    string      `json:"scheme"`  // without a secret
	Threshold float64     `json:"threshold"`
	Score     dedup.Score `json:"score"`
	Mosaics   bool        `json:"mosaics"` // are removed
	Window    uint32      `json:"window"`  // seconds, 0 for ever
	Text      string      `json:"text"`
	ID        string      `json:"id"`
	Seed      string      `json:"seed,omitempty"`   // of the initial index, "" for an empty one
	NoKey     bool        `json:"no_key,omitempty"` // fingerprints have no secret: it takes features too
}

// settingsOf returns the settings of a configuration. Gaps are filled from base, or by default.
func settingsOf(c *Config, base Settings) (Settings, error) {
	scheme := c.Index.Scheme()
	scheme.Key = nil
	rules := c.Policy.Rules
	rules.Threshold, rules.Score = cmp.Or(rules.Threshold, base.Threshold), cmp.Or(rules.Score, base.Score)
	rules, err := rules.WithDefaults(scheme, false)
	return Settings{
		Version: dedup.RulesVersion, Scheme: scheme.Name(), Threshold: rules.Threshold, Score: rules.Score, Mosaics: rules.RemoveMosaics || base.Mosaics,
		Window: cmp.Or(c.Policy.Window, base.Window, c.Index.Window()),
		Text:   cmp.Or(c.Fields.Text, base.Text, "text"), ID: cmp.Or(c.Fields.ID, base.ID, "id"), Seed: base.Seed, NoKey: base.NoKey,
	}, err
}

func (s *Settings) String() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a threshold is a number
	}
	return string(b)
}

func (s *Settings) entry() []byte {
	e := journal.Entry{Kind: journal.Settings, Text: []byte(s.String())}
	return e.Append(nil)
}

var errSettings = errors.New("these settings do not fit the log")

func parseSettings(text []byte) (s Settings, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err = dec.Decode(&s)
	if err != nil || !(s.Threshold > 0 && s.Threshold <= 1) || s.Score > dedup.ScoreSegments || s.Text == "" || s.ID == "" {
		return s, errSettings
	}
	return s, nil
}

// checkChange returns an error unless the log may continue with other settings.
func (s *Settings) checkChange(to *Settings) error {
	if s.Scheme != to.Scheme || s.Text != to.Text || s.ID != to.ID || s.Seed != to.Seed || s.NoKey != to.NoKey || (s.Window == 0) != (to.Window == 0) {
		return fmt.Errorf("%w: scheme, fields, seed and key cannot change, and a window can be neither added nor removed", errSettings)
	}
	return nil
}

// find sets the place in the log after the last record in the index.
func (f *Follower) find(ctx context.Context) error {
	first, end, err := f.cfg.Log.Bounds(ctx)
	f.target = end
	var value []byte
	if err == nil {
		value, err = f.cfg.Index.Value(owners.Followed)
	}
	switch {
	case err != nil:
	case value != nil:
		err = f.place.read(value, "index "+f.cfg.Dir, f.cfg.Log, first, end)
	default:
		err = f.settle(ctx, end)
	}
	if err != nil {
		return err
	}
	_, now, _ := f.cfg.Index.Table().Window()
	f.place.Time = max(f.place.Time, int64(now))
	return f.agree(ctx)
}

// agree compares this follower's settings with those of the log.
func (f *Follower) agree(ctx context.Context) error {
	own, err := settingsOf(&f.cfg, f.place.Settings)
	if err != nil || own == f.place.Settings {
		return err
	}
	name, _ := f.cfg.Log.Topic()
	err = f.place.Settings.checkChange(&own)
	switch {
	case err != nil:
		return fmt.Errorf("topic %s has the settings %s, and this follower is given %s: %w; give a new index and the same settings", name, &f.place.Settings, &own, err)
	case own.Version != f.place.Settings.Version && !f.cfg.Change:
		return fmt.Errorf("topic %s is decided by version %d of the rules, and this firstseen has version %d: use the other firstseen; or let all followers decide all records, stop them, and start this one with --new-settings", name, f.place.Settings.Version, own.Version)
	case !f.cfg.Change:
		return fmt.Errorf("topic %s has the settings %s, and this follower is given %s: leave those flags out, or add --new-settings to change them for all followers", name, &f.place.Settings, &own)
	}
	_, err = f.cfg.Log.Append(ctx, [][]byte{own.entry()})
	return err
}

// read reads the place of an index, and checks that the log from first to end continues there.
func (p *place) read(value []byte, from string, log Log, first, end int64) error {
	if err := json.Unmarshal(value, p); err != nil {
		return fmt.Errorf("%s: reading its place in the log: %w", from, err)
	}
	name, id := log.Topic()
	switch {
	case p.Topic != name || p.ID != id:
		return fmt.Errorf("%s follows topic %s (id %s), and this is %s (id %s): give that topic, or a new index", from, p.Topic, p.ID, name, id)
	case p.Next < first:
		return fmt.Errorf("topic %s begins at offset %d, and %s ends before %d: %w", name, first, from, p.Next, errRemoved)
	case p.Next > end:
		return fmt.Errorf("topic %s ends at offset %d, and %s has records up to %d: the cluster has lost them; put the topic back, or begin a new topic with new indexes", name, end, from, p.Next)
	}
	return nil
}

// CheckSnapshot returns an error unless a follower of the log can start with the index in dir, a
// copy of another follower's.
func CheckSnapshot(ctx context.Context, log Log, dir string) (err error) {
	files, err := index.OpenFiles(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	value, err := files.Table.State(owners.Followed)
	if err == nil && value == nil {
		err = errors.New("the snapshot is of an index that follows no log: give the address of a follower")
	}
	if err != nil {
		return err
	}
	first, end, err := log.Bounds(ctx)
	if err != nil {
		return err
	}
	return new(place).read(value, "the snapshot", log, first, end)
}

// First returns the initial settings of a log, or nil if it is empty.
func First(ctx context.Context, log Log) (*Settings, error) {
	first, end, err := log.Bounds(ctx)
	if err != nil || end == 0 {
		return nil, err
	}
	name, _ := log.Topic()
	if first > 0 {
		return nil, fmt.Errorf("topic %s begins at offset %d: retention has removed its first record, which has the settings; a new index needs --from with the HTTP address of another follower, or a new topic", name, first)
	}
	head, err := log.Head(ctx)
	if err != nil {
		return nil, err
	}
	s, err := parse(&head, jsonl.Fields{})
	if err == nil && (s.Kind != journal.Settings) {
		err = errors.New("its first record does not hold settings; begin with an empty topic and firstseen serve follow or serve --log, before others append")
	}
	settings := new(Settings)
	if err == nil {
		*settings, err = parseSettings(s.Text)
	}
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", name, err)
	}
	return settings, nil
}

// settle begins a log, or the index of a log that has begun.
func (f *Follower) settle(ctx context.Context, end int64) error {
	name, id := f.cfg.Log.Topic()
	seed, keyed := "", f.cfg.Index.Scheme().Key != nil
	if table := f.cfg.Index.Table(); table.Documents() > 0 { // the log continues from them
		seed = fmt.Sprintf("%016x", table.Generation().Content)
	}
	if end == 0 {
		own, err := settingsOf(&f.cfg, Settings{Seed: seed, NoKey: !keyed})
		if err == nil {
			err = f.cfg.Index.CheckWindow(own.Window)
		}
		if err == nil {
			_, err = f.cfg.Log.Append(ctx, [][]byte{own.entry()})
		}
		if err != nil {
			return fmt.Errorf("beginning topic %s: %w", name, err)
		}
	}
	settings, err := First(ctx, f.cfg.Log) // another follower may have been the first
	switch {
	case err != nil:
		return err
	case settings == nil:
		return fmt.Errorf("topic %s: its first record has not arrived yet: start again", name)
	case settings.Seed == "" && seed != "":
		return fmt.Errorf("index %s has documents that are not from topic %s: give a new index", f.cfg.Dir, name)
	case settings.Seed != seed:
		return fmt.Errorf("topic %s continues an index with documents (seed %s), and index %s is another: give a copy of that index as it was at the start, or of another follower's", name, settings.Seed, f.cfg.Dir)
	case settings.NoKey && keyed:
		return fmt.Errorf("topic %s takes features, which have no secret, and index %s has a key: give a new index, made with --no-key", name, f.cfg.Dir)
	}
	head, err := f.cfg.Log.Head(ctx)
	f.place = place{Topic: name, ID: id, Settings: *settings, clock: clock{Time: max(head.Time.Unix(), 0)}}
	return err
}
