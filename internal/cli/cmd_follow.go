package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/follow"
	"github.com/firstseen/firstseen/server"
)

// logFlags name a log.
type logFlags struct {
	brokers         []string
	topic, verdicts string
	change          bool
	follows         bool // nothing is appended
}

// register registers the flags; name is the one of the topic.
func (l *logFlags) register(fs *pflag.FlagSet, name string) {
	l.registerTopic(fs, name)
	fs.StringVar(&l.verdicts, "verdicts", "", "`topic` for the verdicts, each under the offset of its record")
	fs.BoolVar(&l.change, "new-settings", false, "change threshold and window of the log to those given here, for all its followers")
}

func (l *logFlags) registerTopic(fs *pflag.FlagSet, name string) {
	fs.StringVar(&l.topic, name, "", "`topic` of the log, with one partition: its followers decide all documents in its order")
	fs.StringSliceVar(&l.brokers, "brokers", nil, "`addresses` of the log's brokers, HOST:PORT, separated by commas")
}

func newFollowCommand() *cobra.Command {
	f := serving{log: logFlags{follows: true}}
	cmd := command("follow", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return f.run(cmd) })
	fs := cmd.Flags()
	f.log.register(fs, "topic")
	fs.StringArrayVar(&f.listen, "listen", nil, "answer questions by HTTP at this `address`: unix:PATH or HOST:PORT; may be given several times")
	fs.StringVar(&f.tokenFile, "token-file", "", "`file` with a token that HTTP clients send as Authorization: Bearer TOKEN; needed beyond this machine")
	f.registerDeciding(fs)
	return cmd
}

// reaching is how long brokers may take to answer at the start.
const reaching = 30 * time.Second

// runLog decides by a log.
func (f *serving) runLog(cmd *cobra.Command) (err error) {
	if len(f.log.brokers) == 0 || f.log.topic == "" {
		return usageError{fmt.Errorf("%s: give the log: --brokers HOST:PORT and its topic", cmd.Name())}
	}
	if f.OnFull == index.OnFullStop {
		return usageError{errors.New("--limit full=stop: a follower that stops is behind the others for good; give grow or warn")}
	}
	if err := f.checkAddresses(); err != nil {
		return err
	}
	token, err := f.token()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), reaching)
	defer cancel()
	topic, err := follow.Dial(ctx, f.log.brokers, f.log.topic, f.log.verdicts)
	if err != nil {
		return f.log.unreached(ctx, err)
	}
	defer topic.Close()
	if err := f.asLogged(ctx, topic); err != nil {
		return f.log.unreached(ctx, err)
	}
	if err := f.check(); err != nil {
		return err
	}
	f.serve, f.follow = false, true
	x, _, err := f.openIndex()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if err := f.checkFinished(x); err != nil {
		return err
	}
	follower, err := follow.Open(ctx, f.following(cmd, x, topic))
	if err != nil {
		return f.log.unreached(ctx, err)
	}
	f.config.Index, f.config.Dir, f.config.Log = x, f.index, follower
	s, err := server.Open(f.config)
	if err != nil {
		return err
	}
	return f.answer(cmd.Context(), cmd.ErrOrStderr(), s, token)
}

// unreached adds a remedy to an error of the way to the brokers.
func (l *logFlags) unreached(ctx context.Context, err error) error {
	var dial *net.OpError
	if errors.As(err, &dial) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer from the brokers %s: check --brokers and their advertised addresses, or start this again when they are up (%w)", strings.Join(l.brokers, ","), err)
	}
	return err
}

// asLogged takes the method of a new index from the log, unless flags choose another.
func (f *serving) asLogged(ctx context.Context, topic *follow.Topic) error {
	if f.index == "" || index.Exists(f.index) {
		return nil
	}
	settings, err := follow.First(ctx, topic)
	if err != nil || settings == nil {
		return err
	}
	if made, known := feature.Named(settings.Scheme, nil); known {
		f.method.asMade(&f.Scheme, made)
		f.unkeyed = f.unkeyed || settings.NoKey
	}
	return nil
}

// following configures the follower. Fields that no flag names are those of the log.
func (f *serving) following(cmd *cobra.Command, x *index.Index, topic *follow.Topic) follow.Config {
	fields := f.config.Fields
	if !cmd.Flags().Changed("text-field") {
		fields.Text = ""
	}
	if !cmd.Flags().Changed("id-field") {
		fields.ID = ""
	}
	return follow.Config{
		Index: x, Dir: f.index, Log: topic, Fields: fields, Change: f.log.change, Appends: !f.log.follows,
		Policy:  index.Policy{Rules: f.Rules, Now: f.Now, OnFull: f.OnFull, Window: f.Window.Seconds},
		Workers: checkJobs(f.Workers, cmd.ErrOrStderr()),
	}
}
