package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/server"
)

// standBy serves as the standby of another server, whose token is the same.
func (f *serving) standBy(cmd *cobra.Command, token string) error {
	primary, err := client.New(f.standbyOf)
	if err != nil {
		return usageError{fmt.Errorf("--standby-of: %w", err)}
	}
	primary.Token = token
	b, err := server.NewStandby(server.StandbyConfig{Primary: primary, Dir: f.dir, Open: func() (server.Config, error) {
		err := f.openServed(cmd, index.Options{Serve: true})
		return f.config, err
	}})
	if err != nil {
		return err
	}
	return f.answer(cmd.Context(), b, token, b.Announce)
}

// openServed opens the index, and configures a server of it.
func (f *serving) openServed(cmd *cobra.Command, o index.Options) error {
	if err := f.check(); err != nil {
		return err
	}
	x, _, err := f.openIndex(cmd.Context(), o)
	if err != nil {
		return err
	}
	if err := f.checkFinished(x); err != nil {
		return errors.Join(err, x.Close())
	}
	f.config.Index, f.config.Dir, f.config.Version = x, f.dir, versionString()
	f.config.Workers = checkJobs(f.jobs, cmd.ErrOrStderr())
	f.config.Policy = index.Policy{Rules: f.rules, Now: f.now, OnFull: f.onFull, Window: f.window}
	return nil
}
