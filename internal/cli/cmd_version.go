package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/feature"
)

func newVersionCommand() *cobra.Command {
	return command("version", noArgs, func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "firstseen %s (%s, %s/%s)\nscheme %s; new indexes, unless made with --no-key, have siphash+highway and the number of their key for xxh3\n",
			versionString(), runtime.Version(), runtime.GOOS, runtime.GOARCH, feature.Scheme{}.Name())
		return err
	})
}

func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no more arguments, got %q", cmd.CommandPath(), args)}
	}
	return nil
}
