package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/corpus/jsonl"
	"github.com/firstseen/firstseen/corpus/page"
	"github.com/firstseen/firstseen/corpus/warc"
	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/html"
	"github.com/firstseen/firstseen/internal/base/listen"
	"github.com/firstseen/firstseen/internal/cli/flags"
	"github.com/firstseen/firstseen/internal/engine/follow"
	"github.com/firstseen/firstseen/internal/engine/pipeline"
	"github.com/firstseen/firstseen/internal/engine/server"
)

type serving struct {
	indexFlags
	listen    []string
	lines     []string
	tokenFile string
	standbyOf string
	given     jsonl.Fields // by flags
	config    server.Config
	log       logFlags
}

// notServed maps the flags of dedup that a server lacks to the reasons.
var notServed = map[string]string{
	"same-id":     "a document sent again gets its first answer, so that clients can retry; for a new version, DELETE /v1/documents/ID and send it again",
	"against":     "it asks one index; firstseen dedup --against asks several, after the crawl",
	"verify":      "it does not keep texts to compare; firstseen dedup --verify reads the earlier files",
	"passages":    "passages are found in the earlier texts, which it does not keep; firstseen dedup --passages reads them",
	"filter-only": "each answer names an earlier document, and only the side table knows it",
}

func newServeCommand() *cobra.Command {
	var f serving
	cmd := command("serve", noArgs, func(cmd *cobra.Command, _ []string) error { return f.run(cmd) })
	fs := cmd.Flags()
	f.registerDeciding(fs)
	fs.StringArrayVar(&f.lines, "lines", nil, "answer lines of JSON at this `address`, unix:PATH: a line in, the line with its verdict out")
	flags.Size(fs, &f.config.MaxBody, "max-body", 1, 1<<30, "most bytes in a request, or in a line (default 16MiB)")
	f.config.MaxDocuments, f.config.Waiting = 1000, 32
	flags.Integer(fs, &f.config.MaxDocuments, "max-documents", 1, flags.Unbounded, "most documents in a request")
	flags.Integer(fs, &f.config.Waiting, "waiting", 1, 1<<20, "most requests in memory at a time; others get the answer 429")
	fs.StringVar(&f.standbyOf, "standby-of", "", "keep a copy of the index of the server at this `address`, and take its place after POST /v1/promote")
	f.log.register(fs, "log")
	cmd.AddCommand(newFollowCommand())
	return cmd
}

// registerDeciding registers the flags of HTTP, of the index and of the decisions.
func (f *serving) registerDeciding(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.listen, "listen", nil, "answer HTTP at this `address`: unix:PATH or HOST:PORT; may be given several times")
	fs.StringVar(&f.tokenFile, "token-file", "", "`file` with a token that HTTP clients send as Authorization: Bearer TOKEN; needed beyond this machine")
	fs.BoolVar(&f.config.NoPage, "no-page", false, "no page for browsers at /, and no texts in memory for it")
	fs.StringVar(&f.dir, "index", "", "`folder` of the index; a new one is made")
	f.registerNew(fs)
	f.limitFull(flags.Refine(fs, nil, "limit", strings.TrimPrefix(limitFull, ", ")))
	f.registerMethod(fs)
	flags.Share(fs, &f.rules.Threshold, "threshold", "share of its text that a document must have in common with an earlier one to be removed (default 0.65)")
	fs.StringVar(&f.given.Text, "text-field", "", "field with the text; dots lead into objects; title,abstract joins several (default \"text\")")
	fs.StringVar(&f.given.ID, "id-field", "", "field with the id (default \"id\")")
	flags.Jobs(fs, &f.config.Workers, "processors to use")
}

func (f *serving) checkAddresses() error {
	if f.dir == "" {
		return usageError{errors.New("serve: give the folder of the index: --index DIR")}
	}
	if f.standbyOf != "" && len(f.log.brokers) > 0 {
		return usageError{errors.New("--standby-of: a server with a log needs no standby, since its followers have all; leave out --log or --standby-of")}
	}
	for _, address := range f.lines {
		if !strings.HasPrefix(address, "unix:") {
			return usageError{fmt.Errorf("--lines %s: want unix:PATH, since lines have no place for a token", address)}
		}
	}
	for _, address := range slices.Concat(f.lines, f.listen) {
		if address == "unix:" || strings.HasPrefix(address, "unix:@") { // Linux makes a socket that has no mode
			return usageError{fmt.Errorf("%q: want unix:PATH, the path of a socket file, which no other user can open", address)}
		}
	}
	for _, address := range f.listen {
		if _, _, err := net.SplitHostPort(address); err != nil && !strings.HasPrefix(address, "unix:") {
			return usageError{fmt.Errorf("--listen %s: want HOST:PORT, as 127.0.0.1:8765, or unix:PATH", address)}
		}
		if f.tokenFile == "" && !listen.Private(address) {
			return usageError{fmt.Errorf("--listen %s is open to other machines: give --token-file, and let a proxy add TLS; or listen at 127.0.0.1", address)}
		}
	}
	return nil
}

func (f *serving) check() error {
	if err := f.asMade(); err != nil {
		return err
	}
	if err := f.checkIndex(); err != nil {
		return err
	}
	if f.filterOnly {
		return usageError{fmt.Errorf("index %s has no side table: serve names earlier documents, so give another --index", f.dir)}
	}
	f.config.Fields = jsonl.Fields{Text: cmp.Or(f.given.Text, "text"), ID: cmp.Or(f.given.ID, "id")}
	f.config.Page = page.TextOf(html.Main)
	f.config.Archive = warc.Format{Text: f.config.Page}
	_, err := jsonl.Format{Fields: f.config.Fields}.NewParser("")
	return err
}

// run serves, through a log if one is named.
func (f *serving) run(cmd *cobra.Command) (err error) {
	byLog := f.log.follows || f.log.topic != "" || len(f.log.brokers) > 0 || f.log.verdicts != "" || f.log.from != "" || f.log.change
	if byLog {
		err = f.checkLog(cmd)
	}
	if err == nil {
		err = f.checkAddresses()
	}
	if err != nil {
		return err
	}
	token, err := f.token()
	if err != nil {
		return err
	}
	var topic *follow.Topic
	if byLog {
		topic, err = f.dial(cmd.Context())
		switch {
		case err != nil && cmd.Context().Err() != nil: // it still waited
			return nil
		case err != nil:
			return err
		}
		defer topic.Close()
	}
	if f.standbyOf != "" {
		return f.standBy(cmd, token)
	}
	if err := f.openServed(cmd, index.Options{Serve: !byLog, Follow: byLog}); err != nil {
		return err
	}
	x := f.config.Index
	defer func() { err = errors.Join(err, x.Close()) }()
	if byLog {
		reach, cancel := context.WithTimeout(cmd.Context(), follow.Reaching)
		defer cancel()
		follower, err := follow.Open(reach, follow.Config{
			Index: x, Dir: f.dir, Log: topic, Fields: f.given, Change: f.log.change, Appends: !f.log.follows,
			Policy: f.config.Policy, Workers: f.config.Workers,
		})
		if err != nil {
			return f.log.unreached(reach, err)
		}
		f.config.Log, f.config.Workers = follower, 0
	}
	service, err := server.Open(f.config)
	if err != nil {
		return err
	}
	return f.answer(cmd.Context(), service, token, x.Announce)
}

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
	err = pipeline.CheckCompleted(x.Value)
	if errors.Is(err, pipeline.ErrUnfinished) {
		err = fmt.Errorf("index %s: a run on it was interrupted; run its command again to finish it, or give it up with firstseen index abandon %s", f.dir, f.dir)
	}
	if err != nil {
		return errors.Join(err, x.Close())
	}
	f.config.Index, f.config.Dir, f.config.Version = x, f.dir, versionString()
	f.config.Workers = checkJobs(f.config.Workers, cmd.ErrOrStderr())
	f.config.Policy = index.Policy{Rules: f.rules, Now: f.now, OnFull: f.onFull, Window: f.window}
	return nil
}

// answer answers at the addresses, until ctx ends or the service fails.
func (f *serving) answer(ctx context.Context, service listen.Service, token string, announce func(address string) error) error {
	sockets := listen.Sockets{
		Web: f.listen, Lines: f.lines, Token: token, Optional: f.log.follows, Announce: announce,
		Tell: func(kind string, at net.Addr) {
			line := slog.With("at", at.String())
			if kind == "HTTP" && at.Network() != "unix" && !f.config.NoPage {
				line = line.With("page", fmt.Sprintf("http://%s/", at))
			}
			line.Info("answering " + kind)
		},
	}
	err := sockets.Serve(ctx, service)
	if errors.Is(err, listen.ErrNone) {
		err = usageError{errors.New("serve: give an address: --listen unix:PATH, --listen HOST:PORT or --lines unix:PATH")}
	}
	if err == nil {
		slog.Info("stopped")
	}
	return err
}

// token returns the token, or "" if there is none.
func (f *serving) token() (string, error) {
	if f.tokenFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(f.tokenFile)
	token := strings.TrimSpace(string(b))
	if err == nil && len(token) < 16 {
		err = fmt.Errorf("--token-file %s: want a token of at least 16 characters, such as openssl rand -hex 32 prints", f.tokenFile)
	}
	return token, err
}
