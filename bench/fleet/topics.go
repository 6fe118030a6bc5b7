package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/firstseen/firstseen/client"
	"github.com/firstseen/firstseen/internal/engine/follow"
)

// makeTopics creates the topics of a fleet.
func makeTopics(ctx context.Context, broker string) error {
	c, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		return err
	}
	defer c.Close()
	req := kmsg.NewPtrCreateTopicsRequest()
	for _, name := range []string{"documents", "verdicts"} {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, 1, 1
		for _, key := range []string{"retention.ms", "retention.bytes"} {
			config, unlimited := kmsg.NewCreateTopicsRequestTopicConfig(), "-1"
			config.Name, config.Value = key, &unlimited
			t.Configs = append(t.Configs, config)
		}
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fmt.Errorf("making topic %s: %w", t.Topic, err)
		}
	}
	return nil
}

// reached waits until all nodes have decided the whole log, and returns its end.
func reached(ctx context.Context, broker string, nodes []*node) (end int64, err error) {
	log, err := follow.Dial(ctx, []string{broker}, "documents", "")
	if err != nil {
		return 0, err
	}
	defer log.Close()
	if _, end, err = log.Bounds(ctx); err != nil {
		return 0, err
	}
	for _, n := range nodes {
		if err := n.reach(ctx, end-1); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// status asks a node. It returns 0 if the node does not answer.
func (n *node) status(path string) (code int, answer string) {
	web, err := client.New("unix:" + filepath.Join(n.dir, n.name+".http"))
	if err != nil {
		return 0, err.Error()
	}
	defer web.HTTP.CloseIdleConnections()
	r, err := web.HTTP.Get(web.URL + path)
	if err != nil {
		return 0, err.Error()
	}
	defer r.Body.Close()
	b, _ := io.ReadAll(r.Body)
	return r.StatusCode, fmt.Sprint(path, " ", r.StatusCode, " ", string(b))
}

// unready waits until a node without a broker is not ready, as it must be within 10 seconds.
func (n *node) unready(ctx context.Context) error {
	for begun := time.Now(); ; {
		if code, _ := n.status("/readyz"); code != http.StatusOK {
			return nil
		}
		if time.Since(begun) > 10*time.Second {
			return fmt.Errorf("%s is ready 10 seconds after its broker was killed", n.name)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// reach waits until a node has decided the record at offset. If started later, it must be ready.
func (n *node) reach(ctx context.Context, offset int64) error {
	last := ""
	status := func(path string) (code int) {
		code, last = n.status(path)
		return code
	}
	for begun := time.Now(); time.Since(begun) < 2*time.Minute; {
		switch status(fmt.Sprint("/v1/verdicts/", offset)) {
		case http.StatusOK:
			return nil
		case http.StatusNotFound: // decided by the process before
			if status("/readyz") == http.StatusOK {
				return nil
			}
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s has not decided offset %d, and answers %s\n%s", n.name, offset, last, n.stacks())
}

// checkVerdicts checks that each record but settings has one verdict, however often repeated.
func checkVerdicts(ctx context.Context, broker string, end int64, out io.Writer) error {
	log, err := follow.Dial(ctx, []string{broker}, "verdicts", "")
	if err != nil {
		return err
	}
	defer log.Close()
	_, all, err := log.Bounds(ctx)
	if err != nil {
		return err
	}
	log.From(0)
	verdicts := map[string]string{}
	for read := int64(0); read < all; {
		records, err := log.Next(ctx)
		if err != nil {
			return err
		}
		for _, r := range records {
			read++
			if before, ok := verdicts[string(r.Key)]; ok && before != string(r.Value) {
				return fmt.Errorf("offset %s has the verdicts %s and %s", r.Key, before, r.Value)
			}
			verdicts[string(r.Key)] = string(r.Value)
		}
	}
	without := 0
	for offset := range end {
		if verdicts[fmt.Sprint(offset)] == "" {
			without++
		}
	}
	fmt.Fprintf(out, "%d verdicts about %d of %d records, none of them different when repeated\n", all, len(verdicts), end)
	if without != int(end)-len(verdicts) || without > fronts+followers {
		return errors.New("some records have no verdict")
	}
	return nil
}
