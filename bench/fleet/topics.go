package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
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

// removeBefore removes the records of the log before an offset, as retention does.
func removeBefore(ctx context.Context, broker string, offset int64) error {
	c, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		return err
	}
	defer c.Close()
	req, topic, part := kmsg.NewPtrDeleteRecordsRequest(), kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	part.Offset = offset
	topic.Topic, topic.Partitions = "documents", append(topic.Partitions, part)
	req.TimeoutMillis, req.Topics = 60_000, append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, c)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

// reached waits until all nodes have decided the whole log and say so, and returns its end.
func (t *Trial) reached(ctx context.Context, nodes []*node) (end int64, err error) {
	log, err := follow.Dial(ctx, []string{t.Broker.Address()}, "documents", "")
	if err != nil {
		return 0, err
	}
	defer log.Close()
	if _, end, err = log.Bounds(ctx); err != nil {
		return 0, err
	}
	return end, each(nodes, func(n *node) error {
		return n.until(ctx, 2*time.Minute, "has not decided the whole log", func() bool {
			next, _ := n.metric("firstseen_log_next_offset")
			lag, ok := n.metric("firstseen_log_lag_records")
			return ok && next == end && lag == 0 && n.ready()
		})
	})
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

// ready reports whether the node is ready.
func (n *node) ready() bool {
	code, _ := n.status("/readyz")
	return code == http.StatusOK
}

// metric returns a metric that has no labels.
func (n *node) metric(name string) (value int64, ok bool) {
	_, page := n.status("/metrics")
	_, rest, ok := strings.Cut(page, "\n"+name+" ")
	_, err := fmt.Sscan(rest, &value)
	return value, ok && err == nil
}

// until waits until a condition holds, for so long at most.
func (n *node) until(ctx context.Context, limit time.Duration, not string, holds func() bool) error {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := wait(within, 50*time.Millisecond, holds); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	_, ready := n.status("/readyz")
	_, metrics := n.status("/metrics")
	return fmt.Errorf("%s %s after %v: %s\n%s\n%s", n.name, not, limit, ready, metrics, n.stacks())
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
