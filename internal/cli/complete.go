package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/corpus/compress"
)

// completions has the shell complete the words of flags that take one of a few, folders, fields of
// the inputs, and the folder of an index as argument.
func completions(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*value); ok && v.words != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp)) // fails for unknown names only
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

// completeFields gives the fields of the first line of the files already on the command line, if
// these are lines of JSON.
func completeFields(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := map[string]bool{}
	for _, path := range args {
		var first map[string]any
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue // a pipe would lose what is read
		}
		if err := json.Unmarshal(firstLine(path), &first); err == nil {
			addFields(names, "", first)
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

// firstLine returns the first line of a file, compressed or not, of at most 1 MiB.
func firstLine(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	decoders := compress.Decoders{MaxWindow: compress.DefaultMaxWindow, MaxRatio: -1}
	defer decoders.Close()
	r, err := decoders.Decode(path, compress.Counter{R: f, N: new(int64)})
	if err != nil {
		return nil
	}
	line, _ := bufio.NewReader(io.LimitReader(r, 1<<20)).ReadBytes('\n')
	return line
}
