package follow

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/firstseen/firstseen/index"
	"github.com/firstseen/firstseen/internal/base/journal"
	"github.com/firstseen/firstseen/internal/engine/apply"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

// cluster starts a broker in this process, with the topics log, verdicts and wide.
func cluster(t *testing.T) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "log", "verdicts"), kfake.SeedTopics(2, "wide"))
	indextest.Must(t, err)
	t.Cleanup(c.Close)
	return c
}

func dialed(t *testing.T, c *kfake.Cluster, verdicts string) *Topic {
	t.Helper()
	topic, err := Dial(t.Context(), c.ListenAddrs(), "log", verdicts)
	indextest.Must(t, err)
	t.Cleanup(topic.Close)
	return topic
}

// kill ends a follower without a checkpoint.
func kill(t *testing.T, f *Follower, x interface{ Close() error }) {
	t.Helper()
	f.loop.Fail(nil)
	f.loop.Close()
	f.reading.Wait()
	indextest.Must(t, x.Close())
}

// TestFollowersAgree kills followers again and again. They end with equal indexes, and the verdicts
// of a record have the same bytes.
func TestFollowersAgree(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	all := records(t, 80)
	producer := dialed(t, c, "")
	var dirs []string
	for n := range 3 {
		dirs = append(dirs, filepath.Join(t.TempDir(), fmt.Sprint("index", n)))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for at := 0; at < len(all); {
		more := min(1+rnd.IntN(20), len(all)-at)
		_, err := producer.Append(t.Context(), all[at:at+more])
		indextest.Must(t, err)
		at += more
		for _, dir := range dirs {
			f, x := followed(t, dir, dialed(t, c, "verdicts"), nil)
			reach(t, f, int64(max(0, at-1-rnd.IntN(more))))
			kill(t, f, x)
		}
	}
	for _, dir := range dirs {
		f, x := followed(t, dir, dialed(t, c, "verdicts"), nil)
		reach(t, f, int64(len(all)-1))
		end(t, f, x)
		if diff := cmp.Diff(dumped(t, dirs[0]), dumped(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
	checkVerdicts(t, c, all)
}

// verdicts returns the verdicts in a topic by the offset's digits, and checks that none contradicts another.
func verdicts(t *testing.T, c *kfake.Cluster, name string) map[string]string {
	t.Helper()
	topic, err := Dial(t.Context(), c.ListenAddrs(), name, "")
	indextest.Must(t, err)
	defer topic.Close()
	_, end, err := topic.Bounds(t.Context())
	indextest.Must(t, err)
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	indextest.Must(t, err)
	defer client.Close()
	verdicts := map[string]string{}
	for read := int64(0); read < end; {
		fetches := client.PollFetches(t.Context())
		indextest.Must(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			read++
			if before, ok := verdicts[string(r.Key)]; ok && before != string(r.Value) {
				t.Errorf("offset %s: %s and %s", r.Key, before, r.Value)
			}
			verdicts[string(r.Key)] = string(r.Value)
		})
	}
	return verdicts
}

// checkVerdicts checks that the verdicts in the topic are complete.
func checkVerdicts(t *testing.T, c *kfake.Cluster, all [][]byte) {
	t.Helper()
	verdicts, want := verdicts(t, c, "verdicts"), 0
	for i, v := range all {
		e, _, err := journal.CutEntry(v)
		verdict, ok := verdicts[fmt.Sprint(i)]
		switch {
		case err == nil && e.Kind == journal.Settings && !strings.Contains(string(e.Text), "body"):
			continue
		case !ok || !strings.HasPrefix(verdict, fmt.Sprintf(`{"offset":%d,`, i)):
			t.Errorf("offset %d: verdict %q", i, verdict)
		case err == nil && e.Kind == journal.Seen && !strings.Contains(verdict, `"id":"`+e.ID+`"`):
			t.Errorf("offset %d is %s: verdict %s", i, e.ID, verdict)
		}
		want++
	}
	if len(verdicts) != want {
		t.Errorf("verdicts about %d records, want %d", len(verdicts), want)
	}
}

// request sends a broker a request about the topics.
func request(t *testing.T, c *kfake.Cluster, req kmsg.Request) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	indextest.Must(t, err)
	defer client.Close()
	_, err = client.Request(t.Context(), req)
	indextest.Must(t, err)
}

// refusal opens a follower and returns the reason for the refusal.
func refusal(t *testing.T, c *kfake.Cluster, dir, topic string, change func(*Config)) string {
	t.Helper()
	log, err := Dial(t.Context(), c.ListenAddrs(), topic, "")
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	x := openIndex(t, dir, followOptions)
	defer x.Close()
	cfg := Config{Index: x, Dir: dir, Log: log}
	if change != nil {
		change(&cfg)
	}
	if _, err = Open(t.Context(), cfg); err == nil {
		return "nothing"
	}
	return err.Error()
}

// TestRefusals checks that a log that cannot be followed is refused with advice.
func TestRefusals(t *testing.T) {
	c := cluster(t)
	dir := filepath.Join(t.TempDir(), "index")
	expect := func(what, got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q does not say %q", what, got, want)
		}
	}
	expect("no topic", refusal(t, c, dir, "none", nil), "create it with kafka-topics.sh --bootstrap-server "+c.ListenAddrs()[0]+" --create --topic none --partitions 1 ")
	expect("two partitions", refusal(t, c, dir, "wide", nil), "has 2 partitions, and records have an order only within one: make another topic with kafka-topics.sh")

	producer := dialed(t, c, "")
	_, err := producer.Append(t.Context(), [][]byte{entry(0, "")})
	indextest.Must(t, err)
	expect("no settings", refusal(t, c, dir, "log", nil), "its first record does not hold settings")

	c = cluster(t)
	producer = dialed(t, c, "")
	_, err = producer.Append(t.Context(), records(t, 50))
	indextest.Must(t, err)
	expect("other rules", refusal(t, c, dir, "log", func(c *Config) { c.Policy.Rules.Threshold = 0.5 }), "add --new-settings")
	expect("other fields", refusal(t, c, dir, "log", func(c *Config) { c.Fields.Text = "body"; c.Change = true }), "scheme, fields, seed and key cannot change")

	f, x := followed(t, dir, dialed(t, c, ""), nil)
	reach(t, f, 40)
	indextest.Must(t, f.Close())
	indextest.Must(t, x.Close())
	other := cluster(t)
	expect("another topic", refusal(t, other, dir, "log", nil), "give that topic, or a new index")
	_, err = producer.Append(t.Context(), [][]byte{entry(60, ""), entry(61, "")})
	indextest.Must(t, err)
	_, end, err := producer.Bounds(t.Context())
	indextest.Must(t, err)
	request(t, c, deleteBefore(end-1))
	expect("records removed", refusal(t, c, dir, "log", nil), "retention has removed it; start from a newer snapshot")
	expect("a new index", refusal(t, c, dir+"2", "log", nil), "a new index needs --from")

	configure(t, c, "cleanup.policy=compact")
	expect("compacted", refusal(t, c, dir, "log", nil), "is compacted, which drops records: kafka-configs.sh --bootstrap-server "+c.ListenAddrs()[0]+" --alter --entity-type topics --entity-name log --add-config cleanup.policy=delete,")
}

// configure gives the topic log these settings, NAME=VALUE, and no others.
func configure(t *testing.T, c *kfake.Cluster, settings ...string) {
	t.Helper()
	all, resource := kmsg.NewPtrAlterConfigsRequest(), kmsg.NewAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, "log"
	for _, s := range settings {
		one := kmsg.NewAlterConfigsRequestResourceConfig()
		name, value, _ := strings.Cut(s, "=")
		one.Name, one.Value = name, &value
		resource.Configs = append(resource.Configs, one)
	}
	all.Resources = append(all.Resources, resource)
	request(t, c, all)
}

// TestTopicSettings checks that the settings of a topic are read at the start, and that the command
// for those that should be others mends them.
func TestTopicSettings(t *testing.T) {
	c := cluster(t)
	good := []string{"cleanup.policy=delete", "retention.ms=-1", "retention.bytes=-1", "message.timestamp.type=LogAppendTime", "max.message.bytes=1048576"}
	configure(t, c, good...)
	if got := dialed(t, c, "").Unfit(); got != "" {
		t.Errorf("a good topic: %s", got)
	}
	for i, other := range []string{"", "retention.ms=604800000", "retention.bytes=1000000", "message.timestamp.type=CreateTime", "max.message.bytes=1048575"} {
		if other == "" {
			continue
		}
		settings := slices.Clone(good)
		settings[i] = other
		configure(t, c, settings...)
		want := fmt.Sprintf("topic log has %s: ", other)
		mend := "; kafka-configs.sh --bootstrap-server " + c.ListenAddrs()[0] + " --alter --entity-type topics --entity-name log --add-config " + good[i]
		if got := dialed(t, c, "").Unfit(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, mend) {
			t.Errorf("%s: %q", other, got)
		}
	}
}

func deleteBefore(offset int64) kmsg.Request {
	req, topic, part := kmsg.NewPtrDeleteRecordsRequest(), kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	part.Offset = offset
	topic.Topic, topic.Partitions = "log", append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	return req
}

// TestRemovedUnderway checks that removing records before a follower has read them ends it.
func TestRemovedUnderway(t *testing.T) {
	c := cluster(t)
	topic := dialed(t, c, "")
	_, err := topic.Append(t.Context(), records(t, 50))
	indextest.Must(t, err)
	_, err = topic.Head(t.Context()) // a client that has not found the partition yet would begin at 30
	indextest.Must(t, err)
	request(t, c, deleteBefore(30))
	topic.From(10)
	got, err := topic.Next(t.Context())
	if !errors.Is(err, kerr.OffsetOutOfRange) || !errors.Is(err, errRemoved) {
		first, end, _ := topic.Bounds(t.Context())
		t.Errorf("error %v, %d records of %d to %d", err, len(got), first, end)
	}
}

// TestLaterVersion checks that a record of a later version ends a follower, and that a record too
// long for the topic is not appended.
func TestLaterVersion(t *testing.T) {
	c := cluster(t)
	log := dialed(t, c, "")
	f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, func(c *Config) { c.Appends = true })
	later := journal.Entry{Kind: 9, Text: []byte("of another kind")}
	broken := append([]byte("\n"), make([]byte, 40)...) // no entry, so a bad record
	_, err := log.Append(t.Context(), [][]byte{broken, later.Append(nil)})
	indextest.Must(t, err)
	<-f.Failed()
	if err := f.Close(); !errors.Is(err, journal.ErrVersion) || !strings.Contains(err.Error(), "offset 2") {
		t.Errorf("error %v", err)
	}
	indextest.Must(t, x.Close())
	_, err = log.Append(t.Context(), [][]byte{make([]byte, 2<<20)})
	if !errors.Is(err, apply.ErrTooLong) {
		t.Errorf("a long document: error %v", err)
	}
}

// TestSeed checks that only copies of an index follow a log that continues this index.
func TestSeed(t *testing.T) {
	c := cluster(t)
	one := filepath.Join(t.TempDir(), "one")
	x := openIndex(t, one, index.Options{})
	for i := range 20 {
		_, err := x.See(fmt.Sprint("old", i), []byte(text(i)))
		indextest.Must(t, err)
	}
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, x.Close())
	other := indextest.Copy(t, one)

	f, x := followed(t, one, dialed(t, c, ""), func(c *Config) { c.Appends = true })
	s := &apply.Step{Entry: journal.Entry{Kind: journal.Seen, ID: "new", Text: []byte(text(1))}}
	if err := f.Append([]*apply.Step{s}, true); err != nil || !strings.Contains(string(s.Answer), `"of":"old1"`) {
		t.Errorf("answer %s, error %v", s.Answer, err)
	}
	end(t, f, x)
	f, x = followed(t, other, dialed(t, c, ""), nil)
	reach(t, f, 1)
	end(t, f, x)
	if diff := cmp.Diff(dumped(t, one), dumped(t, other)); diff != "" {
		t.Error(diff)
	}
	got := refusal(t, c, filepath.Join(t.TempDir(), "new"), "log", nil)
	if !strings.Contains(got, "give a copy of that index") {
		t.Errorf("a new index: %s", got)
	}

	c = cluster(t)
	f, x = followed(t, filepath.Join(t.TempDir(), "first"), dialed(t, c, ""), nil)
	reach(t, f, 0)
	end(t, f, x)
	third := filepath.Join(t.TempDir(), "third")
	x = openIndex(t, third, index.Options{})
	_, err := x.See("a", []byte(text(1)))
	indextest.Must(t, err)
	indextest.Must(t, x.Finish(nil))
	indextest.Must(t, x.Close())
	if got := refusal(t, c, third, "log", nil); !strings.Contains(got, "give a new index") {
		t.Errorf("an index with documents: %s", got)
	}
}

// TestUnsent checks that documents sent again and again without a broker do not pile up.
func TestUnsent(t *testing.T) {
	c := cluster(t)
	log := dialed(t, c, "")
	_, err := log.Append(t.Context(), [][]byte{settings(t, nil)})
	indextest.Must(t, err)
	c.Close()
	const together = 100
	values, long := make([][]byte, together), make([]byte, 1<<20-recordExtra)
	for i := range values {
		values[i] = long
	}
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := log.Append(ctx, values); !errors.Is(err, apply.ErrLater) {
			t.Errorf("error %v", err)
		}
		cancel()
	}
	if n := log.client.BufferedProduceBytes(); n > maxUnsent+together<<20 {
		t.Errorf("%d MiB wait", n>>20)
	}
}

// TestTransactions checks that a follower skips the marks of transactions and catches up.
func TestTransactions(t *testing.T) {
	for commit, records := range map[kgo.TransactionEndTry]string{kgo.TryCommit: "committed", kgo.TryAbort: "aborted"} {
		c := cluster(t)
		log := dialed(t, c, "")
		_, err := log.Append(t.Context(), [][]byte{settings(t, nil)})
		indextest.Must(t, err)
		client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.TransactionalID("crawler"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		indextest.Must(t, err)
		indextest.Must(t, client.BeginTransaction())
		indextest.Must(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: "log", Value: entry(1, "")}).FirstErr())
		indextest.Must(t, client.EndTransaction(t.Context(), commit))
		client.Close()

		f, x := followed(t, filepath.Join(t.TempDir(), "index"), log, func(c *Config) { c.Appends = true })
		reach(t, f, f.target-1)
		step := &apply.Step{Entry: journal.Entry{Kind: journal.Seen, ID: "x", Text: []byte(text(2))}}
		if err := f.Append([]*apply.Step{step}, true); err != nil {
			t.Errorf("%s: %v; next %d of %d", records, err, f.Next(), f.target)
		}
		end(t, f, x)
	}
}

// TestStamped checks that a record says whether its time is the broker's, by batches as a broker
// sends them.
func TestStamped(t *testing.T) {
	for attributes, want := range map[int16]bool{0: false, 8: true} {
		record := kmsg.Record{Value: []byte("one")}
		record.Length = int32(len(record.AppendTo(nil)) - 1)
		batch := kmsg.RecordBatch{Magic: 2, Attributes: attributes, NumRecords: 1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, Records: record.AppendTo(nil)}
		batch.Length = int32(len(batch.AppendTo(nil)) - 12)
		batch.CRC = int32(crc32.Checksum(batch.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
		fetched := kmsg.FetchResponseTopicPartition{RecordBatches: batch.AppendTo(nil), HighWatermark: 1, LastStableOffset: 1}
		got, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Topic: "t"}, &fetched, kgo.DefaultDecompressor(), nil)
		indextest.Must(t, got.Err)
		if len(got.Records) != 1 || recordOf(got.Records[0]).Stamped != want {
			t.Errorf("attributes %d: %+v", attributes, got.Records)
		}
	}
}
