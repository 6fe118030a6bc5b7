package flags

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// A setting refines a word of a flag, such as distance in --method simhash:distance=3.
type setting struct {
	words string // words of the flag with the setting; "" if the flag takes settings alone
	name  string
	set   func(text string) error
}

// A Refined flag takes a word and settings of that word: WORD:NAME=VALUE,NAME=VALUE.
type Refined struct {
	name string
	word *string // nil if the flag takes settings alone
	all  []setting
}

// Refine registers a flag with settings, which Add gives it.
func Refine(fs *pflag.FlagSet, word *string, name, usage string, words ...string) *Refined {
	r := &Refined{word: word, name: name}
	v := &value{kind: "setting", words: words, read: r.set}
	if word != nil {
		v.kind, v.text = "word", *word
	}
	fs.Var(v, name, usage)
	return r
}

// Add gives words of the flag a setting. set parses its value and stores it.
func (r *Refined) Add(words, name string, set func(text string) error) {
	r.all = append(r.all, setting{words, name, set})
}

// spelled returns a setting as users write it, after the first of its words.
func (r *Refined) spelled(s setting) string {
	if word, _, _ := strings.Cut(s.words, " "); word != "" {
		return fmt.Sprintf("--%s %s:%s", r.name, word, s.name)
	}
	return fmt.Sprintf("--%s %s", r.name, s.name)
}

// wrongSetting is the error of a setting. given has its name and value as users write them.
type wrongSetting struct {
	given string
	error
}

func (w wrongSetting) Unwrap() error { return w.error }

// set splits a value such as warc:status=2xx,mime=text/html,text/plain. A part without a name
// continues the value before it.
func (r *Refined) set(text string) error {
	word, rest, hasSettings := strings.Cut(text, ":")
	if r.word == nil {
		word, rest, hasSettings = "", text, true
	} else {
		*r.word = word
	}
	if !hasSettings {
		return nil
	}
	own := r.of(word)
	var order []setting
	values := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, named := strings.Cut(part, "=")
		i := slices.IndexFunc(own, func(s setting) bool { return s.name == name })
		known := i >= 0
		switch {
		case known && !named:
			value = "true"
		case !known && !named && len(order) > 0:
			values[order[len(order)-1].name] += "," + part
			continue
		case !known && !named && word == "html": // --format html:visible
			i, value = 0, part // html has one setting
		case !known:
			return mistake(fmt.Sprintf("%q is not a setting of %s; %s", name, strings.TrimSpace("--"+r.name+" "+word), choices(own)))
		}
		s := own[i]
		if _, twice := values[s.name]; twice {
			return mistake(s.name + " is given twice")
		}
		order = append(order, s)
		values[s.name] = value
	}
	for _, s := range order {
		text := values[s.name]
		err := s.set(text)
		if text == "" { // most likely of an unset variable
			err = Outside{"want a value"}
		}
		if err != nil {
			return wrongSetting{r.spelled(s) + "=" + text, err}
		}
	}
	return nil
}

// of returns the settings of a word.
func (r *Refined) of(word string) (own []setting) {
	for _, s := range r.all {
		if s.words == "" || slices.Contains(strings.Fields(s.words), word) {
			own = append(own, s)
		}
	}
	return own
}

func choices(own []setting) string {
	var names []string
	for _, s := range own {
		names = append(names, s.name)
	}
	if names == nil {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}
