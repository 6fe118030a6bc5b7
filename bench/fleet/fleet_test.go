package fleet

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/firstseen/firstseen/internal/cli"
	"github.com/firstseen/firstseen/internal/testing/indextest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"firstseen": cli.Main})
}

// fake is a broker in this process.
type fake struct {
	dir     string
	port    int
	cluster *kfake.Cluster
}

func (f *fake) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port)) }

func (f *fake) Start(context.Context) (err error) {
	f.cluster, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(f.port), kfake.DataDir(f.dir), kfake.SyncWrites())
	if err == nil && f.port == 0 {
		_, port, _ := strings.Cut(f.cluster.ListenAddrs()[0], ":")
		f.port, err = strconv.Atoi(port)
	}
	return err
}

func (f *fake) Kill() error {
	f.cluster.Close()
	return nil
}

// trial returns a trial of this program on a broker in this process.
func trial(t *testing.T) *Trial {
	t.Helper()
	if testing.Short() {
		t.Skip("some seconds")
	}
	program, err := os.Executable()
	indextest.Must(t, err)
	b := &fake{dir: t.TempDir()}
	indextest.Must(t, b.Start(t.Context()))
	indextest.Must(t, b.Kill())
	dir, err := os.MkdirTemp("", "fleet") // socket paths must be short
	indextest.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	indextest.Must(t, os.Symlink(program, filepath.Join(dir, "firstseen"))) // under this name the test binary is the program
	return &Trial{Program: filepath.Join(dir, "firstseen"), Dir: dir, Broker: b, Groups: 40, Clients: 6, Kills: 8, Out: t.Output()}
}

// TestFleet kills front ends and followers on one log, and the broker, under load.
func TestFleet(t *testing.T) { indextest.Must(t, trial(t).Run(t.Context())) }

// before builds the program of the commit before.
func before(t *testing.T) string {
	t.Helper()
	if out, err := exec.Command("git", "rev-parse", "--verify", "--quiet", "HEAD~1").CombinedOutput(); err != nil {
		t.Skipf("no git, or no commit before: %v %s", err, out)
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "source"), filepath.Join(dir, "firstseen")
	for _, args := range [][]string{
		{"git", "clone", "--quiet", "--shared", "--no-checkout", "../..", source},
		{"git", "-C", source, "checkout", "--quiet", "--detach", "HEAD~1"},
		{"go", "build", "-C", source, "-trimpath", "-o", program, "."},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	return program
}

// TestRollingUpgrade restarts the followers and then the front ends of the commit before as this
// program, under load. Until the last restart both versions work beside each other on the log.
func TestRollingUpgrade(t *testing.T) {
	all := trial(t)
	all.Before = before(t)
	indextest.Must(t, all.Run(t.Context()))
}
