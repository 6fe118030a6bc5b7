package cli

import (
	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/corpus"
)

// toRead is what the arguments and the flags of reading name, to be read.
type toRead struct {
	formats formats
	inputs  []corpus.Input
	cfg     corpus.SourceConfig
}

// toRead finds the inputs, and says what of them is passed over.
func (f *settings) toRead(cmd *cobra.Command, args []string) (g toRead, err error) {
	if g.cfg, err = f.limits.config(); err == nil {
		g.formats, err = f.reading.formats(g.cfg)
	}
	if err != nil {
		return g, usageError{err}
	}
	g.cfg.Stdin = cmd.InOrStdin()
	var passed []corpus.Passed
	if g.inputs, passed, err = g.formats.expand(args, g.cfg); err == nil {
		tellPassed(passed, cmd.ErrOrStderr())
	}
	return g, err
}

// source reads all of it.
func (g *toRead) source() *corpus.Source { return g.formats.source(g.inputs, g.cfg) }
