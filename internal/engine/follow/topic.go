package follow

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/firstseen/firstseen/internal/engine/apply"
)

// Topic is a log in the Kafka protocol: a topic of one partition.
type Topic struct {
	client   *kgo.Client
	name, id string
	verdicts string // the topic of verdicts, "" for none
	broker   string // one of them, for commands
	limit    int    // bytes of a record
	unfit    string // see Unfit

	mu  sync.Mutex
	err error // of a verdict
}

// recordExtra bounds the bytes that a batch of one record adds to its value.
const recordExtra = 256

// Dial connects to the brokers, each HOST:PORT, and checks the topics. verdicts may be empty.
func Dial(ctx context.Context, brokers []string, topic, verdicts string) (_ *Topic, err error) {
	t := &Topic{name: topic, verdicts: verdicts, broker: brokers[0], limit: 1 << 20}
	t.client, err = kgo.NewClient(
		kgo.SeedBrokers(brokers...), kgo.ClientID("firstseen"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0),
		kgo.ProducerBatchMaxBytesFn(func(string) int32 { return int32(t.limit) }),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(), // otherwise the place would stay before the last one
	)
	if err != nil {
		return nil, err
	}
	if err = t.look(ctx); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close ends the connections.
func (t *Topic) Close() { t.client.Close() }

// Topic returns the name, and the uuid in hexadecimal digits.
func (t *Topic) Topic() (name, id string) { return t.name, t.id }

// look checks that the topics exist, and that the log is in order.
func (t *Topic) look(ctx context.Context) error {
	log, err := t.describe(ctx, t.name)
	if err == nil && t.verdicts != "" {
		_, err = t.describe(ctx, t.verdicts)
	}
	if err != nil {
		return err
	}
	if n := len(log.Partitions); n != 1 {
		return fmt.Errorf("topic %s has %d partitions, and records have an order only within one: make another topic with %s", t.name, n, t.create("NAME"))
	}
	t.id = hex.EncodeToString(log.TopicID[:])
	return t.configure(ctx)
}

func (t *Topic) describe(ctx context.Context, name string) (found kmsg.MetadataResponseTopic, err error) {
	req, asked := kmsg.NewPtrMetadataRequest(), kmsg.NewMetadataRequestTopic()
	asked.Topic = &name
	req.Topics = append(req.Topics, asked)
	resp, err := req.RequestWith(ctx, t.client)
	if err == nil && len(resp.Topics) != 1 {
		err = errors.New("the brokers returned nothing about it")
	}
	if err == nil {
		found = resp.Topics[0]
		err = kerr.ErrorForCode(found.ErrorCode)
	}
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		err = fmt.Errorf("it does not exist: create it with %s", t.create(name))
	}
	if err != nil {
		err = fmt.Errorf("topic %s: %w", name, err)
	}
	return found, err
}

// wanted are settings of a log whose records stay, in the time of one clock. Compaction is refused.
var wanted = map[string]string{"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime"}

// leastRecord is the least good limit of a record, in bytes. The default of Kafka is just above.
const leastRecord = 1 << 20

func (t *Topic) create(name string) string {
	return fmt.Sprintf("kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 1 --config retention.ms=-1 --config retention.bytes=-1 --config message.timestamp.type=LogAppendTime", t.broker, name)
}

func (t *Topic) alter(settings string) string {
	return fmt.Sprintf("kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %s --add-config %s", t.broker, t.name, settings)
}

// Unfit says which settings of the log should be others, and the command for that; "" for none.
func (t *Topic) Unfit() string { return t.unfit }

// configure reads the record limit, and refuses a topic that drops records. Settings that a broker
// does not return are assumed to be fine.
func (t *Topic) configure(ctx context.Context) error {
	req, asked := kmsg.NewPtrDescribeConfigsRequest(), kmsg.NewDescribeConfigsRequestResource()
	asked.ResourceType, asked.ResourceName = kmsg.ConfigResourceTypeTopic, t.name
	asked.ConfigNames = append(slices.Sorted(maps.Keys(wanted)), "max.message.bytes")
	req.Resources = append(req.Resources, asked)
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil || len(resp.Resources) != 1 {
		return err
	}
	var have, want []string
	for _, c := range resp.Resources[0].Configs {
		if c.Value == nil {
			continue
		}
		value := cmp.Or(wanted[c.Name], *c.Value)
		if c.Name == "max.message.bytes" {
			if n, err := strconv.Atoi(*c.Value); err == nil && n > 2*recordExtra {
				t.limit = min(n, 1<<30)
			}
			if t.limit < leastRecord {
				value = strconv.Itoa(leastRecord)
			}
		}
		if value != *c.Value {
			have, want = append(have, c.Name+"="+*c.Value), append(want, c.Name+"="+value)
		}
		if c.Name == "cleanup.policy" && strings.Contains(*c.Value, "compact") {
			return fmt.Errorf("topic %s is compacted, which drops records: %s", t.name, t.alter("cleanup.policy=delete,retention.ms=-1"))
		}
	}
	if len(want) > 0 {
		t.unfit = fmt.Sprintf("topic %s has %s: such a log may lose records, refuse long ones or follow many clocks; %s", t.name, strings.Join(have, ","), t.alter(strings.Join(want, ",")))
	}
	return nil
}

// Bounds returns the offset of the first record, and the offset after the last.
func (t *Topic) Bounds(ctx context.Context) (first, end int64, err error) {
	first, err = t.offset(ctx, -2)
	if err == nil {
		end, err = t.offset(ctx, -1)
	}
	return first, end, err
}

// offset returns the offset of the first record if which is -2, or of the end if it is -1.
func (t *Topic) offset(ctx context.Context, which int64) (int64, error) {
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Timestamp = which
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic, topic.Partitions = t.name, append(topic.Partitions, part)
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel, req.Topics = -1, 1, append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, t.client)
	if err == nil && (len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1) {
		err = errors.New("no answer")
	}
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		return 0, fmt.Errorf("asking for the offsets of topic %s: %w", t.name, err)
	}
	return resp.Topics[0].Partitions[0].Offset, nil
}

// Head waits for the first record.
func (t *Topic) Head(ctx context.Context) (Record, error) {
	t.From(0)
	defer t.client.RemoveConsumePartitions(map[string][]int32{t.name: {0}})
	records, err := t.Next(ctx)
	if err != nil {
		return Record{}, err
	}
	return records[0], nil
}

// From makes Next begin at an offset.
func (t *Topic) From(offset int64) {
	t.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{t.name: {0: kgo.NewOffset().At(offset)}})
}

var errRemoved = errors.New("the next record is no longer there: retention has removed it; start from a newer snapshot: give a new folder, and --from with the HTTP address of a follower that is further")

// recordOf returns a record as the client has it. The timestamp type 1 is LogAppendTime.
func recordOf(r *kgo.Record) Record {
	return Record{r.Offset, r.Timestamp, r.Key, r.Value, r.Attrs.IsControl(), r.Attrs.TimestampType() == 1}
}

// Next waits for records.
func (t *Topic) Next(ctx context.Context) (records []Record, err error) {
	for len(records) == 0 && err == nil {
		fetches := t.client.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) {
			records = append(records, recordOf(r))
		})
		err = fetches.Err()
	}
	if errors.Is(err, kerr.OffsetOutOfRange) {
		err = fmt.Errorf("%w (%w)", errRemoved, err)
	}
	return records, err
}

// maxUnsent bounds the bytes not yet acknowledged. A record counts until a broker answers, even if
// Append has given up.
const maxUnsent = 256 << 20

// Append appends records, and returns their offsets. If ctx ends before the brokers answer, the
// records may still be in the log.
func (t *Topic) Append(ctx context.Context, values [][]byte) ([]int64, error) {
	records := make([]*kgo.Record, len(values))
	for i, v := range values {
		if len(v) > t.limit-recordExtra {
			return nil, fmt.Errorf("document %d of the request has %d bytes, and a record at most %d: %w", i+1, len(v), t.limit-recordExtra, apply.ErrTooLong)
		}
		records[i] = &kgo.Record{Topic: t.name, Value: v}
	}
	if t.client.BufferedProduceBytes() > maxUnsent {
		return nil, apply.ErrLater
	}
	done := make(chan error, 1)
	go func() { done <- t.client.ProduceSync(ctx, records...).FirstErr() }()
	select {
	case err := <-done:
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", apply.ErrLater, err)
		}
	case <-ctx.Done():
		return nil, apply.ErrLater
	}
	offsets := make([]int64, len(values))
	for i, r := range records {
		offsets[i] = r.Offset
	}
	return offsets, nil
}

// maxBuffered bounds the unacknowledged verdicts.
const maxBuffered = 4096

// Publish sends a verdict, if there is a topic for verdicts. It waits if many are unacknowledged.
func (t *Topic) Publish(ctx context.Context, offset int64, verdict func() []byte) error {
	if t.verdicts == "" {
		return nil
	}
	if t.client.BufferedProduceRecords() >= maxBuffered {
		if err := t.Flush(ctx); err != nil {
			return err
		}
	}
	r := &kgo.Record{Topic: t.verdicts, Key: strconv.AppendInt(nil, offset, 10), Value: verdict()}
	t.client.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
		if err != nil {
			t.mu.Lock()
			t.err = errors.Join(t.err, fmt.Errorf("sending the verdict for offset %d: %w", offset, err))
			t.mu.Unlock()
		}
	})
	return nil
}

// Flush waits until all verdicts are safe.
func (t *Topic) Flush(ctx context.Context) error {
	if t.verdicts == "" {
		return nil
	}
	err := t.client.Flush(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(err, t.err)
}
