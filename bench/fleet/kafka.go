package fleet

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

//go:embed pom.xml
var pom []byte

// Jars downloads the jars of Kafka into a folder, with Maven.
func Jars(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	file := filepath.Join(dir, "pom.xml")
	if err := os.WriteFile(file, pom, 0o666); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", file, "dependency:copy-dependencies", "-DoutputDirectory="+dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("resolving Kafka with Maven: %w\n%s", err, out)
	}
	return nil
}

// Kafka is a Kafka broker on this machine, controller and broker in one.
type Kafka struct {
	jars, dir string
	ports     [2]int
	cmd       *exec.Cmd
	said      *bytes.Buffer
}

// NewKafka returns a broker that uses the jars in a folder, and keeps its records in dir.
func NewKafka(ctx context.Context, jars, dir string) (*Kafka, error) {
	k := &Kafka{jars: jars, dir: dir}
	for i := range k.ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		k.ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	properties := fmt.Sprintf(`process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%[2]d
listeners=PLAINTEXT://127.0.0.1:%[1]d,CONTROLLER://127.0.0.1:%[2]d
advertised.listeners=PLAINTEXT://127.0.0.1:%[1]d
controller.listener.names=CONTROLLER
log.dirs=%[3]s
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=false
`, k.ports[0], k.ports[1], filepath.Join(dir, "records"))
	if err := os.WriteFile(k.config(), []byte(properties), 0o666); err != nil {
		return nil, err
	}
	if out, err := k.java(ctx, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", k.config()).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("formatting the folder of Kafka: %w\n%s", err, out)
	}
	return k, nil
}

func (k *Kafka) config() string { return filepath.Join(k.dir, "kafka.properties") }

func (k *Kafka) java(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{"-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", filepath.Join(k.jars, "*")}, args...)
	return exec.CommandContext(ctx, "java", all...)
}

// Address returns the address of the broker.
func (k *Kafka) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(k.ports[0])) }

// Start starts the broker, and waits until it answers.
func (k *Kafka) Start(ctx context.Context) error {
	k.said = &bytes.Buffer{}
	k.cmd = k.java(context.WithoutCancel(ctx), "kafka.Kafka", k.config()) // until Kill
	k.cmd.Stdout, k.cmd.Stderr = k.said, k.said
	if err := k.cmd.Start(); err != nil {
		return err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Address()))
	if err != nil {
		return err
	}
	defer client.Close()
	for begun := time.Now(); ; {
		asked, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := client.Ping(asked)
		cancel()
		switch {
		case err == nil:
			return nil
		case time.Since(begun) > 2*time.Minute || ctx.Err() != nil:
			return fmt.Errorf("kafka does not answer: %w\n%s", err, k.said)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// Kill kills the broker.
func (k *Kafka) Kill() error {
	if err := k.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = k.cmd.Wait() // it was killed
	return nil
}
