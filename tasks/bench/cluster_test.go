//go:build linux

package bench

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"desktop-agent/tasks"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// soakEnv asks for the long form of the cluster test.
const soakEnv = "BENCH_SOAK"

// A node is a NATS server that runs as a process of its own, so that it can be
// killed as a crash would.
type node struct {
	Name          string
	Port, Cluster int
	Routes        []int
	Store         string

	cmd *exec.Cmd
	in  io.Closer
}

// serveNode is the main function of such a process.
func serveNode() error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var n node
	if err := json.Unmarshal(line, &n); err != nil {
		return err
	}
	conf := &server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Port, StoreDir: n.Store,
		Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: n.Cluster},
	}
	for _, port := range n.Routes {
		conf.Routes = append(conf.Routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	s, err := startServer(conf, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, in)
	s.stop()
	return nil
}

// remoteWorker is the main function of a worker on another machine.
func remoteWorker() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := &script{counts: os.Getenv(countsEnv), pause: 10 * time.Millisecond}
	w := &Worker{Do: s.do, Name: os.Args[2], Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	return w.Work(ctx, os.Args[1])
}

func (n *node) start(t *testing.T) {
	t.Helper()
	n.cmd = exec.Command(os.Args[0])
	n.cmd.Env = append(os.Environ(), roleEnv+"=server")
	n.cmd.Stderr = testWriter(t)
	in, err := n.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := n.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, n.cmd.Start())
	n.in = in
	require.NoError(t, json.NewEncoder(in).Encode(n))
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
}

func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// startCluster starts three servers and returns them with the URL of all.
func startCluster(t *testing.T) (nodes []*node, all string) {
	t.Helper()
	ports := freePorts(t, "127.0.0.1", 6)
	var urls []string
	for i := range 3 {
		n := &node{Name: fmt.Sprintf("node-%d", i+1), Port: ports[i], Cluster: ports[3+i], Routes: ports[3:], Store: t.TempDir()}
		nodes = append(nodes, n)
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", n.Port))
	}
	for _, n := range nodes {
		n.start(t)
		t.Cleanup(n.kill)
	}
	return nodes, strings.Join(urls, ",")
}

func freePorts(t *testing.T, host string, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		require.NoError(t, err)
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// In a cluster of three servers, the leader of the queue is killed in mid-run and
// comes back later, and a worker is killed in mid-trial. Every trial has exactly
// one result, and its files.
func TestCluster(t *testing.T) {
	count, rounds := 40, 1
	if os.Getenv(soakEnv) != "" {
		count, rounds = 200, 3
	}
	nodes, all := startCluster(t)
	list := slices.Concat(many("pass", count/4), many("kill", 1), many("pass", count-1)[count/4:])
	dir, counts := t.TempDir(), t.TempDir()

	tmp, workers := t.TempDir(), make([]*exec.Cmd, 4)
	for i := range workers {
		cmd := exec.Command(os.Args[0], all, fmt.Sprintf("remote-%d", i+1))
		cmd.Env = append(os.Environ(), roleEnv+"=remote", countsEnv+"="+counts, "TMPDIR="+tmp)
		cmd.Stdout, cmd.Stderr = testWriter(t), testWriter(t)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		workers[i] = cmd
	}

	done := make(chan int, 1000)
	c := &Coordinator{
		Dir: dir, Trials: list, Replicas: 3, Lease: 10 * time.Second, Log: testLog(t),
		Progress: func(p Progress) {
			select {
			case done <- p.Done:
			default:
			}
		},
	}
	chaos := make(chan int)
	go func() {
		defer close(chaos) // also if it fails
		chaos <- mayhem(t, nodes, all, done, count, rounds)
	}()
	require.NoError(t, c.Run(t.Context(), all))
	close(done)
	require.Equal(t, rounds, <-chaos, "servers killed")

	for _, r := range finished(t, dir, list) {
		require.True(t, r.Passed(), "%s: %s", r.Task, r.Why)
		require.Equal(t, map[string]string{"steps.txt": trialOf(&r).Key() + "\n"}, files(t, filepath.Join(dir, r.Run)))
	}
	require.GreaterOrEqual(t, executions(t, counts, tasks.Trial{Task: "kill-000", Config: "plan=on", Repeat: 1}), 2)
	died := 0
	for _, cmd := range workers {
		if err := cmd.Wait(); err != nil {
			require.ErrorContains(t, err, "killed")
			died++
		}
	}
	require.Equal(t, 1, died, "the other workers end with the run")
}

// mayhem kills the leader of the queue in each round, and starts it again later.
// It returns how many it killed.
func mayhem(t *testing.T, nodes []*node, all string, done <-chan int, count, rounds int) (killed int) {
	q := raw(t, all)
	var dead *node
	for n := range done {
		stage := n * (2*rounds + 1) / count // kill at odd stages, start at even ones
		switch {
		case dead == nil && killed < rounds && stage >= 2*killed+1:
			name := leader(t, q)
			i := slices.IndexFunc(nodes, func(n *node) bool { return n.Name == name })
			if i < 0 {
				continue // none at the moment
			}
			dead = nodes[i]
			t.Logf("after %d results, %s is killed", n, name)
			dead.kill()
			killed++
		case dead != nil && stage >= 2*killed:
			t.Logf("after %d results, %s is started again", n, dead.Name)
			dead.start(t)
			dead = nil
		}
	}
	if dead != nil {
		dead.start(t) // for the clean-up of the run
	}
	return killed
}

func leader(t *testing.T, q *queue) string {
	ctx, cancel := context.WithTimeout(t.Context(), tryTime)
	defer cancel()
	s, err := q.js.Stream(ctx, q.trials())
	if err != nil || s.CachedInfo().Cluster == nil {
		return ""
	}
	return s.CachedInfo().Cluster.Leader
}

// A cluster that other machines reach has TLS and a credential on its routes. It
// serves a run, and a server that knows the password, but has no certificate that
// the others know, does not join.
func TestClusterDoors(t *testing.T) {
	here := outside(t)
	pair := certificateFiles(t, here)
	ports := freePorts(t, here, 6)
	conf := func(name string, port, cluster int, pair keyPair) *server.Options {
		tls := fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q }", pair.cert, pair.key, pair.cert)
		var routes []string
		for _, port := range ports[3:] {
			routes = append(routes, fmt.Sprintf("\"nats://route:secret@%s:%d\"", here, port))
		}
		return configured(t, fmt.Sprintf(`
			server_name: %s, listen: "%s:%d", %s
			authorization { user: bench, password: secret }
			cluster { name: c, listen: "%s:%d", authorization { user: route, password: secret }, %s, routes: [%s] }`,
			name, here, port, tls, here, cluster, tls, strings.Join(routes, ",")))
	}
	nodes := []*embedded{startTest(t, conf("two", ports[1], ports[4], pair)), startTest(t, conf("three", ports[2], ports[5], pair))}
	list := many("pass", 6)
	dir, ended, ready := t.TempDir(), make(chan error, 1), make(chan struct{})
	go func() {
		c := &Coordinator{Dir: dir, Trials: list, Replicas: 3, Log: testLog(t)}
		ended <- Serve(t.Context(), c, &ServeOptions{
			Server: conf("one", ports[0], ports[3], pair), Ready: func(string, string) { close(ready) },
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		require.NoError(t, err)
	}
	for _, n := range nodes {
		require.Eventually(t, func() bool { return n.NumRemotes() == 2 }, time.Minute, 10*time.Millisecond)
	}

	route := net.JoinHostPort(here, fmt.Sprint(ports[4]))
	conn, err := net.DialTimeout("tcp", route, time.Minute)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = fmt.Fprint(conn, "CONNECT {\"user\":\"route\",\"pass\":\"secret\",\"name\":\"stranger\"}\r\nPING\r\n")
	require.NoError(t, err)
	answer, _ := io.ReadAll(conn)
	require.NotContains(t, string(answer), "INFO", "nothing is said without TLS")
	bare, err := tls.Dial("tcp", route, &tls.Config{InsecureSkipVerify: true})
	require.NoError(t, err)
	defer bare.Close()
	require.NoError(t, bare.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.ReadAll(bare)
	require.ErrorContains(t, err, "certificate required")
	rogue := startTest(t, conf("rogue", server.RANDOM_PORT, server.RANDOM_PORT, certificateFiles(t, here)))
	require.Never(t, func() bool { return rogue.NumRemotes() > 0 || nodes[0].NumRemotes() != 2 }, 3*time.Second, 50*time.Millisecond)

	all := fmt.Sprintf("tls://%s:%d,tls://%s:%d", here, ports[1], here, ports[2]) // another one than the run's own
	w := &Worker{Do: (&script{counts: t.TempDir()}).do, Dir: t.TempDir(), Log: testLog(t)}
	require.NoError(t, w.Work(t.Context(), all, nats.UserInfo("bench", "secret"), nats.RootCAs(pair.cert)))
	require.NoError(t, <-ended)
	finished(t, dir, list)
}
