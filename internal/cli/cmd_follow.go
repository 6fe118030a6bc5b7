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

	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/follow"
)

type logFlags struct {
	brokers         []string
	topic, verdicts string
	change          bool
	follows         bool // only follow the log, append nothing
}

// register registers the flags. name is the flag of the topic.
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
	cmd := command("serve-follow", noArgs, func(cmd *cobra.Command, _ []string) error { return f.run(cmd) })
	fs := cmd.Flags()
	f.log.register(fs, "topic")
	fs.StringArrayVar(&f.listen, "listen", nil, "answer questions by HTTP at this `address`: unix:PATH or HOST:PORT; may be given several times")
	fs.StringVar(&f.tokenFile, "token-file", "", "`file` with a token that HTTP clients send as Authorization: Bearer TOKEN; needed beyond this machine")
	f.registerDeciding(fs)
	return cmd
}

// reaching is the time in which brokers must answer at the start.
const reaching = 30 * time.Second

func (f *serving) checkLog(cmd *cobra.Command) error {
	switch {
	case len(f.log.brokers) == 0 || f.log.topic == "":
		return usageError{fmt.Errorf("%s: give the log with --brokers HOST:PORT and --%s TOPIC", shortPath(cmd), map[bool]string{true: "topic", false: "log"}[f.log.follows])}
	case f.onFull == index.OnFullStop:
		return usageError{errors.New("--limit full=stop: a follower that stops stays behind the others for good; give grow or warn")}
	}
	return nil
}

// dial connects to the log. A new index takes the log's method, unless flags choose another.
func (f *serving) dial(ctx context.Context) (*follow.Topic, error) {
	topic, err := follow.Dial(ctx, f.log.brokers, f.log.topic, f.log.verdicts)
	if err != nil || f.dir == "" || index.Exists(f.dir) {
		return topic, err
	}
	settings, err := follow.First(ctx, topic)
	if err != nil {
		topic.Close()
		return nil, err
	}
	if settings != nil {
		if made, known := feature.Named(settings.Scheme, nil); known {
			f.takeMade(made)
			f.unkeyed = f.unkeyed || settings.NoKey
		}
	}
	return topic, nil
}

// unreached adds a remedy to an error of connecting to the brokers.
func (l *logFlags) unreached(ctx context.Context, err error) error {
	var dial *net.OpError
	if errors.As(err, &dial) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer from the brokers %s: check --brokers and their advertised addresses, or start this again when they are up (%w)", strings.Join(l.brokers, ","), err)
	}
	return err
}

// givenFields returns the fields named by flags. The log has the others.
func (f *serving) givenFields(cmd *cobra.Command) jsonl.Fields {
	fields := f.config.Fields
	if !cmd.Flags().Changed("text-field") {
		fields.Text = ""
	}
	if !cmd.Flags().Changed("id-field") {
		fields.ID = ""
	}
	return fields
}
