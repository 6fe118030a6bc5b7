package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/feature"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/engine/ask"
	"github.com/firstseen/firstseen/internal/engine/follow"
)

type logFlags struct {
	brokers         []string
	topic, verdicts string
	from            string // address of a server to copy a new index from
	change          bool
	follows         bool // only follow the log, append nothing
}

// register registers the flags. name is the flag of the topic.
func (l *logFlags) register(fs *pflag.FlagSet, name string) {
	l.registerTopic(fs, name)
	fs.StringVar(&l.verdicts, "verdicts", "", "`topic` for the verdicts, each under the offset of its record")
	fs.StringVar(&l.from, "from", "", "make a new index from that of the server at this HTTP `address`, which follows the log; a token is that of --token-file")
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
	f.registerDeciding(fs)
	return cmd
}

func (f *serving) checkLog(cmd *cobra.Command) error {
	switch {
	case len(f.log.brokers) == 0 || f.log.topic == "":
		return usageError{fmt.Errorf("%s: give the log with --brokers HOST:PORT and --%s TOPIC", shortPath(cmd), map[bool]string{true: "topic", false: "log"}[f.log.follows])}
	case f.onFull == index.OnFullStop:
		return usageError{errors.New("--limit full=stop: a follower that stops stays behind the others for good; give grow or warn")}
	case f.log.from != "":
		if _, err := client.New(f.log.from); err != nil {
			return usageError{fmt.Errorf("--from: %w", err)}
		}
	}
	return nil
}

// dial connects to the log when a broker answers. It fetches a new index for --from. Any other new
// index takes the log's method, unless flags choose another.
func (f *serving) dial(ctx context.Context) (*follow.Topic, error) {
	l, isNew := &f.log, f.log.from == "" && !index.Exists(f.dir)
	topic, settings, err := follow.Await(ctx, l.brokers, l.topic, l.verdicts, isNew, func(err error) {
		slog.Warn("waiting: "+noBroker, "brokers", strings.Join(l.brokers, ","), "error", err)
	})
	if err != nil {
		return nil, err
	}
	if topic.Unfit() != "" {
		slog.Warn(topic.Unfit())
	}
	if settings != nil {
		if made, known := feature.Named(settings.Scheme, nil); known {
			f.takeMade(made)
			f.unkeyed = f.unkeyed || settings.NoKey
		}
	}
	if err = f.fetch(ctx, topic); err != nil {
		topic.Close()
	}
	return topic, err
}

// fetch makes a new index from that of the other server.
func (f *serving) fetch(ctx context.Context, topic *follow.Topic) error {
	if f.log.from == "" || index.Exists(f.dir) {
		return nil
	}
	other, err := client.New(f.log.from)
	if err == nil {
		other.Token, err = f.token()
	}
	if err != nil {
		return err
	}
	slog.Info("fetching the index of another follower", "from", f.log.from, "to", f.dir)
	err = os.MkdirAll(filepath.Dir(filepath.Clean(f.dir)), 0o777)
	if err == nil {
		err = ask.Fetch(ctx, other, f.dir, func(dir string) error { return follow.CheckSnapshot(ctx, topic, dir) })
	}
	if err != nil {
		return fmt.Errorf("--from %s: %w", f.log.from, err)
	}
	return nil
}

const noBroker = "no broker answers; check --brokers and their advertised addresses"

// unreached adds a remedy to an error of connecting to the brokers.
func (l *logFlags) unreached(ctx context.Context, err error) error {
	if follow.Unreached(ctx, err) {
		return fmt.Errorf("%s, or start this again when they are up: %s (%w)", noBroker, strings.Join(l.brokers, ","), err)
	}
	return err
}
