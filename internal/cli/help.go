package cli

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/internal/base/terminal"
	"github.com/firstseen/firstseen/internal/cli/flags"
)

//go:embed help
var helpFiles embed.FS

// command returns a command with the texts of its file in help. These are a line of usage, a line
// of summary, the description, and the examples after a line "Examples:".
func command(name string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	use, rest, _ := strings.Cut(helpText(name), "\n")
	short, rest, _ := strings.Cut(rest, "\n")
	long, examples, _ := strings.Cut(rest, "\nExamples:\n")
	return &cobra.Command{Use: use, Short: short, Long: strings.TrimSpace(long), Example: examples, Args: args, RunE: run}
}

// helpText returns a file of help, with the parts that files share or the code generates.
func helpText(name string) string {
	text, err := helpFiles.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // it is embedded
	}
	whole := string(text)
	for part, of := range map[string]func() string{"{{methods}}": methodsHelp, "{{exits}}": func() string { return helpText("exits") }} {
		if strings.Contains(whole, part) {
			whole = strings.ReplaceAll(whole, part, of())
		}
	}
	return strings.TrimRight(whole, "\n")
}

// group returns a command with subcommands.
func group(name string, commands ...*cobra.Command) *cobra.Command {
	cmd := command(name, knownCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.AddCommand(commands...)
	return cmd
}

// sectionOf is the annotation of a flag that names its section of the help.
const sectionOf = "section"

// section ends a section of the help, which has all flags registered since the last one.
func section(fs *pflag.FlagSet, title string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[sectionOf] == nil {
			_ = fs.SetAnnotation(f.Name, sectionOf, []string{title}) // fails for unknown names only
		}
	})
}

// showFlags makes all help show flags in sections, wrapped to the terminal.
func showFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("flags", func(title string, flags *pflag.FlagSet) string {
		columns, _ := terminal.Style(root.OutOrStdout())
		return flagSections(title, flags, columns)
	})
	usage := strings.ReplaceAll(root.UsageTemplate(), `(or .IsAvailableCommand (eq .Name "help"))`, ".IsAvailableCommand")
	for title, flags := range map[string]string{"Flags": "LocalFlags", "Global Flags": "InheritedFlags"} {
		usage = strings.Replace(usage, "\n"+title+":\n{{."+flags+".FlagUsages", "\n{{flags \""+title+"\" ."+flags, 1)
	}
	root.SetUsageTemplate(usage)
	shortHelp(root)
}

// flagSections returns the help of flags, wrapped to columns unless 0. A flag without a section,
// such as --help, follows the flag before it or, if there is none, the title.
func flagSections(title string, all *pflag.FlagSet, columns int) string {
	var titles []string
	sections := map[string]*pflag.FlagSet{}
	all.VisitAll(func(f *pflag.Flag) {
		if own := f.Annotations[sectionOf]; own != nil {
			title = own[0]
		}
		if sections[title] == nil {
			titles = append(titles, title)
			sections[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			sections[title].SortFlags = false
		}
		sections[title].AddFlag(f)
	})
	var b strings.Builder
	for _, title := range titles {
		b.WriteString(title + ":\n" + sections[title].FlagUsagesWrapped(columns) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// usual lists the flags of short help, for commands with more. They are those that people use.
var usual = strings.Fields("out report index threshold format text-field id-field annotate jobs method marks shard remove listen lines token-file brokers log topic docs memory passages json quiet items keep width line")

// shortHelp makes -h one screen: the usage, three examples and ten flags. --help shows everything.
func shortHelp(root *cobra.Command) {
	whole := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if !slices.Contains(args, "-h") || slices.Contains(args, "--help") {
			whole(cmd, args)
			return
		}
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "%s\n\n  %s\n", cmd.Short, cmd.UseLine())
		if cmd.HasAvailableSubCommands() {
			fmt.Fprintln(out, "\nCommands:")
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(out, "  %-13s %s\n", sub.Name(), sub.Short)
			}
		}
		if blocks := strings.Split(cmd.Example, "\n\n"); cmd.HasExample() {
			fmt.Fprintf(out, "\nExamples:\n%s\n", strings.Join(blocks[:min(3, len(blocks))], "\n\n"))
		}
		columns, _ := terminal.Style(out)
		if few := fewFlags(cmd.LocalFlags(), 10); few.HasFlags() {
			fmt.Fprintf(out, "\nFlags:\n%s", few.FlagUsagesWrapped(columns))
		}
		fmt.Fprintf(out, "\n%s --help says more.\n", cmd.CommandPath())
	})
}

// fewFlags returns the visible flags, or the first of usual if there are more than most. Their help
// is one line each.
func fewFlags(all *pflag.FlagSet, most int) *pflag.FlagSet {
	var names []string
	all.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	if len(names) > most {
		lacks := func(name string) bool { return !slices.Contains(names, name) }
		names = slices.DeleteFunc(slices.Clone(usual), lacks)
	}
	few := pflag.NewFlagSet("", pflag.ContinueOnError)
	few.SortFlags = false
	for _, name := range names[:min(most, len(names))] {
		short := *all.Lookup(name)
		for _, end := range []string{"; ", " (", ", ", ": "} {
			short.Usage, _, _ = strings.Cut(short.Usage, end)
		}
		few.AddFlag(&short)
	}
	return few
}

// commandGroups groups the commands by purpose, in the order of the help.
func commandGroups(root *cobra.Command) {
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"find", "Finding copies:", []*cobra.Command{newDedupCommand(), newServeCommand(), newBulkCommand(), newContaminationCommand()}},
		{"index", "Asking an index, and changing it:", []*cobra.Command{newQueryCommand(), newIndexCommand()}},
		{"why", "Looking at inputs, runs and copies:", []*cobra.Command{newReadCommand(), newPlanCommand(), newReportCommand(), newCompareCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newGenerateCommand())
	root.SetHelpCommandGroupID("why")
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args, help.Hidden = knownTopic, true
	}
}

// knownTopic refuses help about an unknown command.
func knownTopic(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err != nil || !cmd.HasSubCommands() {
		return err
	}
	return knownCommand(cmd, rest)
}

// completions lets the shell complete words, folders, fields and indexes on the command line.
func completions(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if words := flags.Words(f); words != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails for unknown names only
		}
		switch f.Name {
		case "index", "against", "out-dir":
			_ = cmd.MarkFlagDirname(f.Name)
		case "text-field", "id-field", "time-field":
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completeFields)
		}
	})
	if strings.Contains(cmd.Use+" ", " DIR ") {
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
}

// completeFields returns the fields in the first JSON line of each file on the command line.
func completeFields(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := map[string]bool{}
	for _, path := range args {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // a pipe would lose the bytes read
		}
		var first map[string]any
		in := []input.Input{{Path: path, Name: path}}
		for r, err := range corpus.Records(context.Background(), corpus.NewSource(in, jsonl.Format{}, corpus.SourceConfig{})) {
			if err == nil && json.Unmarshal(r.Raw, &first) == nil {
				addFields(names, "", first)
			}
			break
		}
	}
	return slices.Sorted(maps.Keys(names)), cobra.ShellCompDirectiveNoFileComp
}

func addFields(names map[string]bool, prefix string, object map[string]any) {
	for name, value := range object {
		if inner, ok := value.(map[string]any); ok {
			addFields(names, prefix+name+".", inner)
		} else {
			names[prefix+name] = true
		}
	}
}
