package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A section of the help is flags that belong together, under a title.
type section struct {
	title string
	flags string // their names, in order
}

// dedupSections are all flags of dedup.
var dedupSections = []section{
	{"What a copy is", "method threshold score mosaics confirm verify segments min-width shingle distance terms rarity same-id again"},
	{"What is remembered", "index docs memory filter-only on-full window time-field against batch key no-key abandon"},
	{"What is read", "format text-field id-field encoding html status mime max-bad max-record max-window max-ratio"},
	{"What is written", "out out-dir skip-empty shard-size annotate keep revisit near report spans rejects summary"},
	{"What is made of the report", "clusters links pairs attributes kept-files"},
	{"How", "jobs checkpoint-every quiet help"},
}

// inSections makes the help of a command show its flags in sections. A flag in no section is not
// shown: TestSections checks that each is in one.
func inSections(cmd *cobra.Command, sections []section) {
	usage := cmd.UsageTemplate()
	flags := "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	cobra.AddTemplateFunc("sections", func() string { return flagSections(cmd.LocalFlags(), sections) })
	cmd.SetUsageTemplate(strings.Replace(usage, flags, "{{sections}}", 1))
}

func flagSections(all *pflag.FlagSet, sections []section) string {
	var b strings.Builder
	for _, s := range sections {
		fs := pflag.NewFlagSet(s.title, pflag.ContinueOnError)
		fs.SortFlags = false
		for name := range strings.FieldsSeq(s.flags) {
			fs.AddFlag(all.Lookup(name))
		}
		b.WriteString(s.title + ":\n" + fs.FlagUsages() + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// commandGroups groups the commands by purpose, in the order of the help.
func commandGroups(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"find", "Finding copies:", []*cobra.Command{newDedupCommand(), newPlanCommand(), newTextsCommand(), newTermsCommand()}},
		{"ask", "Asking an index, and changing it:", []*cobra.Command{
			newQueryCommand(), newStatsCommand(), newDumpCommand(), newCheckCommand(), newBatchesCommand(),
			newForgetCommand(), newCancelCommand(), newCompactCommand(), newFilterCommand(),
		}},
		{"why", "Looking at what was found:", []*cobra.Command{newShowCommand(), newClustersCommand(), newExplainCommand(), newEvalCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newVersionCommand())
}
