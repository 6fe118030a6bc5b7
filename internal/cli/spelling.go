package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// goneIn is the version that drops earlier spellings.
const goneIn = "0.3"

// removed maps each flag of earlier versions to its replacement.
var removed = map[string]string{
	"by":      "to count by a field, use DuckDB on the lines of --annotate --out FILE, as docs/howto.md shows (Count by a field)",
	"copy-to": "rsync -a --files-from=LIST . DIR copies the files that firstseen report kept lists, and --out-dir DIR writes members of archives too",
	"records": "to read documents inside of larger values, use jq -c '.data.cards[].mblog' FILE | firstseen ... -",
}

// A setting refines a word of a flag, such as distance in --method simhash:distance=3. It is
// stored by a hidden flag, its spelling in earlier versions.
type setting struct {
	flag  string // flag that takes the word
	words string // words with the setting; "" if the flag takes settings alone
	name  string
	old   string // the hidden flag
}

// settings lists all settings, in the order of the help.
var settings = []setting{
	{"method", "segments", "count", "segments"},
	{"method", "segments", "width", "min-width"},
	{"method", "segments", "score", "score"},
	{"method", "segments", "mosaics", "mosaics"},
	{"method", "segments", "consumed", "consumed"},
	{"method", "shingles", "size", "shingle"},
	{"method", "simhash", "distance", "distance"},
	{"method", "simhash imatch", "terms", "terms"},
	{"method", "imatch", "rarity", "rarity"},
	{"format", "warc arc auto", "status", "status"},
	{"format", "warc arc auto", "mime", "mime"},
	{"format", "html warc arc auto", "html", "html"},
	{"format", "warc auto", "revisit", "revisit"},
	{"format", "warc auto", "near", "near"},
	{"format", "jsonl array csv auto", "time", "time-field"},
	{"limit", "", "record", "max-record"},
	{"limit", "", "window", "max-window"},
	{"limit", "", "ratio", "max-ratio"},
	{"limit", "", "bad", "max-bad"},
	{"limit", "", "unreadable", "max-unreadable"},
	{"limit", "", "checkpoint", "checkpoint-every"},
	{"limit", "", "full", "on-full"},
	{"same-id", "keep replace", "again", "again"},
}

// applies reports whether a word of the flag has the setting.
func (s setting) applies(word string) bool {
	return s.words == "" || slices.Contains(strings.Fields(s.words), word)
}

func (s setting) String() string {
	word, _, _ := strings.Cut(s.words, " ")
	if word == "" {
		return fmt.Sprintf("--%s %s", s.flag, s.name)
	}
	return fmt.Sprintf("--%s %s:%s", s.flag, word, s.name)
}

// spelled returns a flag as users write it: a setting belongs to a word of another flag.
func spelled(flag string) string {
	for _, s := range settings {
		if s.old == flag {
			return s.String()
		}
	}
	return "--" + flag
}

// givenAs returns a flag with its value as users write them.
func givenAs(flag, value string) string {
	if name := spelled(flag); name != "--"+flag {
		return name + "=" + value
	}
	return "--" + flag + " " + value
}

// A refined flag takes a word and settings of that word: WORD:NAME=VALUE,NAME=VALUE.
type refined struct {
	word *string // nil if the flag takes settings alone
	name string
	fs   *pflag.FlagSet
}

// refine registers a flag with settings. The flags that store the settings are in the same set.
func refine(fs *pflag.FlagSet, word *string, name, usage string, words ...string) {
	r := &refined{word: word, name: name, fs: fs}
	v := &value{kind: "setting", words: words, read: func(text string) (string, error) { return text, r.set(text) }}
	if word != nil {
		v.kind, v.text = "word", *word
	}
	fs.Var(v, name, usage)
}

// set splits a value such as warc:status=2xx,mime=text/html,text/plain. A part without a name
// continues the value before it.
func (r *refined) set(text string) error {
	word, rest, hasSettings := strings.Cut(text, ":")
	if r.word == nil {
		word, rest, hasSettings = "", text, true
	} else {
		*r.word = word
	}
	if !hasSettings {
		return nil
	}
	var order []setting
	values := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, named := strings.Cut(part, "=")
		own := r.of(word)
		i := slices.IndexFunc(own, func(s setting) bool { return s.name == name })
		known := i >= 0
		switch {
		case known && !named:
			value = "true"
		case !known && !named && len(order) > 0:
			last := order[len(order)-1]
			values[last.old] += "," + part
			continue
		case !known && !named && word == "html": // --format html:visible
			i, value = 0, part // html has one setting
		case !known:
			return mistake(fmt.Sprintf("%q is not a setting of %s; %s", name, strings.TrimSpace("--"+r.name+" "+word), r.choices(word)))
		}
		s := own[i]
		if _, twice := values[s.old]; twice {
			return mistake(s.name + " is given twice")
		}
		order = append(order, s)
		values[s.old] = value
	}
	for _, s := range order {
		if err := r.fs.Set(s.old, values[s.old]); err != nil {
			return err
		}
		r.fs.Lookup(s.old).Annotations = map[string][]string{newSpelling: {}}
	}
	return nil
}

// newSpelling marks a hidden flag that was set by the flag with the setting.
const newSpelling = "set as a setting"

// of returns the settings of a word.
func (r *refined) of(word string) (own []setting) {
	for _, s := range settings {
		if s.flag == r.name && s.applies(word) && r.fs.Lookup(s.old) != nil {
			own = append(own, s)
		}
	}
	return own
}

func (r *refined) choices(word string) string {
	var names []string
	for _, s := range r.of(word) {
		names = append(names, s.name)
	}
	if names == nil {
		return "it has none"
	}
	return "it has " + strings.Join(names, ", ")
}

// oldFlags maps other flags of earlier versions to their new spelling. "%s" stands for the value.
var oldFlags = map[string]string{
	"confirm":    "--verify='%s'",
	"shard-size": "--split %s",
	"skip-empty": "--split nonempty",
	"window":     "firstseen index create DIR --window %s, given once",
	"key":        "firstseen index create DIR --key, given once",
	"no-key":     "firstseen index create DIR --no-key, given once",
	"abandon":    "firstseen index abandon DIR",
	"clusters":   "firstseen report clusters --out %s REPORT",
	"links":      "firstseen report clusters --links %s REPORT",
	"pairs":      "firstseen report pairs --out %s REPORT",
	"attributes": "firstseen report attributes --out %s REPORT INPUT..., of a report with --spans",
	"keep":       "firstseen report apply --keep %s --out FILE REPORT INPUT...",
	"kept-files": "firstseen report kept --out %s REPORT INPUT...",
}

// tellOld reports earlier spellings on a command line.
func tellOld(cmd *cobra.Command, stderr io.Writer) {
	if now := cmd.Annotations["now"]; now != "" {
		fmt.Fprintf(stderr, "firstseen: %s is now %s; version %s removes the old name\n", cmd.CommandPath(), now, goneIn)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, asSetting := f.Annotations[newSpelling]; asSetting || !f.Hidden {
			return
		}
		now := ""
		if text, old := oldFlags[f.Name]; old {
			now = strings.ReplaceAll(text, "%s", f.Value.String())
		} else if spelled(f.Name) != "--"+f.Name {
			now = spelled(f.Name) + "=" + f.Value.String()
			if _, name, found := strings.Cut(now, ":"); found && strings.HasPrefix(now, "--format ") {
				now = "--format auto:" + name // whatever the inputs are
			}
		}
		if now != "" {
			fmt.Fprintf(stderr, "firstseen: --%s is now %s; version %s removes the old spelling\n", f.Name, now, goneIn)
		}
	})
}

// earlier returns a command under its earlier name.
func earlier(name string, cmd *cobra.Command, now string) *cobra.Command {
	_, rest, _ := strings.Cut(cmd.Use, " ")
	cmd.Use, cmd.Hidden = strings.TrimSpace(name+" "+rest), true
	cmd.Annotations = map[string]string{"now": "firstseen " + now}
	return cmd
}

// gone returns a command of earlier versions that names its replacement.
func gone(name, instead string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{fmt.Errorf("%s is gone: %s", cmd.CommandPath(), instead)}
		},
	}
}

// earlierCommands returns commands under their earlier names.
func earlierCommands() []*cobra.Command {
	filter := group("index-export",
		earlier("export", newExportCommand(), "index export DIR FILE"),
		gone("import", "use firstseen dedup --against DIR, which asks other indexes and names their documents"))
	filter.Use, filter.Hidden = "filter", true
	return []*cobra.Command{
		filter,
		earlier("stats", newStatsCommand(), "index stats DIR"),
		earlier("dump", newDumpCommand(), "index dump DIR"),
		earlier("check", newCheckCommand(), "index check DIR"),
		earlier("batches", newBatchesCommand(), "index batches DIR"),
		earlier("forget", newForgetCommand(), "index forget DIR"),
		earlier("cancel", newCancelCommand(), "index forget DIR --batch NAME"),
		earlier("compact", newCompactCommand(), "index compact DIR"),
		earlier("texts", newReadCommand(), "read"),
		earlier("show", newShowCommand(), "report show"),
		earlier("clusters", newClustersCommand(), "report clusters"),
		earlier("explain", newCompareCommand(), "compare"),
		gone("eval", "in a checkout, go run ./bench eval measures methods on documents whose copies are known"),
	}
}
