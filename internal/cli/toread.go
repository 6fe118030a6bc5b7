package cli

import (
	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
	"github.com/firstseen/firstseen/corpus/input"
)

// toRead holds the inputs named by the arguments and the flags of reading.
type toRead struct {
	formats formats
	inputs  []input.Input
	cfg     corpus.SourceConfig
}

// toRead finds the inputs and reports the files passed over.
func (f *options) toRead(cmd *cobra.Command, args []string) (g toRead, err error) {
	if g.cfg, err = f.limits.config(); err == nil {
		g.formats, err = f.reading.formats(g.cfg)
	}
	if err != nil {
		return g, usageError{err}
	}
	g.cfg.Stdin = cmd.InOrStdin()
	var passed []input.Passed
	if g.inputs, passed, err = g.formats.expand(args, g.cfg); err == nil {
		tellPassed(passed, cmd.ErrOrStderr())
	}
	return g, err
}

// source reads all inputs.
func (g *toRead) source() *corpus.Source { return g.formats.source(g.inputs, g.cfg) }
