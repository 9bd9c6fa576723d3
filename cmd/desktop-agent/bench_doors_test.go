//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/run"
	"desktop-agent/tasks/bench"
)

// ownKey is a key that workers of these tests have in their environment.
const ownKey = "sk-key-of-the-worker"

// A keyEndpoint writes down the keys that it is sent, and answers nothing.
type keyEndpoint struct {
	*httptest.Server
	mu   sync.Mutex
	keys []string
}

func newKeyEndpoint(t *testing.T) *keyEndpoint {
	e := &keyEndpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.keys = append(e.keys, r.Header.Get("Authorization"))
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusUnauthorized)
	}))
	t.Cleanup(e.Close)
	return e
}

// sent are the keys of all requests so far.
func (e *keyEndpoint) sent() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.keys...)
}

// outside returns an address of this machine at which others reach it.
func outside(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address but the loopback")
	return ""
}

// served starts "bench serve" for one task, with the results in a folder, and
// returns what it tells workers to run.
func served(t *testing.T, results string, args ...string) (serve *process, line string) {
	t.Helper()
	serve = start(t, append([]string{"bench", "serve", ownSuite(t), "--only", "rename-folder", "--results", results}, args...)...)
	told := regexp.MustCompile(`(?m)^workers: (.*)$`)
	require.Eventually(t, func() bool {
		return told.MatchString(serve.stderr.String()) || serve.ended()
	}, time.Minute, 20*time.Millisecond)
	found := told.FindStringSubmatch(serve.stderr.String())
	require.NotEmpty(t, found, serve.stderr)
	return serve, found[1]
}

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// shell has a shell run a line, with the worker's key and more in its environment.
func shell(t *testing.T, line, stdin string, env ...string) (code int, errs string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "TMPDIR=" + os.Getenv("TMPDIR"), "DESKTOP_AGENT_API_KEY=" + ownKey}, env...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(t, ctx.Err(), "%s", out)
	require.NotContains(t, string(out), ownKey)
	if err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError))
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// The line that bench serve prints is all that a worker needs, on an address that
// other machines reach. A worker sends its key to an endpoint only if its own
// settings name it, whatever the benchmark names.
func TestWorkerLine(t *testing.T) {
	t.Parallel()
	endpoint, other := newKeyEndpoint(t), newKeyEndpoint(t)
	results := filepath.Join(t.TempDir(), "the results")
	serve, line := served(t, results, "--listen", outside(t)+":0", "--model", "m", "--base-url", endpoint.URL+"/v1")
	file := filepath.Join(results, ".worker.creds")
	require.Equal(t, "desktop-agent bench worker --nats-creds '"+file+"' --base-url "+endpoint.URL+"/v1", line)
	secret, err := os.ReadFile(file)
	require.NoError(t, err)
	seed := regexp.MustCompile(`SU[A-Z2-7]{50,}`).FindString(string(secret))
	require.NotEmpty(t, seed)
	require.NotContains(t, serve.stderr.String(), seed)

	bare, _, _ := strings.Cut(line, " --base-url")
	config := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, "base-url = %q\n", other.URL+"/v1"), 0o600))
	for name, tt := range map[string]struct {
		line string
		env  []string
		mine string
	}{
		"none":           {bare, nil, "which no setting of this worker names"},
		"by OpenAI's":    {bare, []string{"DESKTOP_AGENT_API_KEY=", "OPENAI_API_KEY=" + ownKey}, "which no setting of this worker names"},
		"another":        {bare + " --base-url " + other.URL + "/v1", nil, "and this worker's settings name " + other.URL},
		"another path":   {bare + " --base-url " + endpoint.URL + "/v2", nil, "and this worker's settings name " + endpoint.URL + "/v2"},
		"in environment": {bare, []string{"DESKTOP_AGENT_BASE_URL=" + other.URL + "/v1"}, "and this worker's settings name " + other.URL},
		"in a file":      {bare + " --config " + config, nil, "and this worker's settings name " + other.URL},
	} {
		code, errs := shell(t, tt.line, "", tt.env...)
		assert.Equal(t, exitUsage, code, "%s: %s", name, errs)
		assert.Contains(t, errs, "asks its models at "+endpoint.URL+"/v1, "+tt.mine, name)
		assert.Contains(t, errs, "pass --base-url "+endpoint.URL+"/v1\n", name)
	}
	require.Empty(t, endpoint.sent())
	require.Empty(t, other.sent())

	code, errs := shell(t, line, "")
	require.Zero(t, code, errs)
	require.Zero(t, serve.code(), serve.stderr)
	sent := endpoint.sent()
	require.NotEmpty(t, sent, "here it was asked")
	for _, key := range sent {
		require.Equal(t, "Bearer "+ownKey, key)
	}
	require.Empty(t, other.sent())
	list, err := bench.ReadResults(results)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoFileExists(t, file)
}

// The line of the credentials can be pasted, the server be named otherwise than in
// it, and the endpoint in the environment. By default the server is on the loopback.
func TestWorkerPasted(t *testing.T) {
	t.Parallel()
	endpoint := newKeyEndpoint(t)
	results := t.TempDir()
	serve, line := served(t, results, "--listen", "127.0.0.1:0", "--model", "m", "--base-url", endpoint.URL+"/v1", "--run-name", "mine")
	require.Contains(t, line, " --run-name mine ")
	secret, err := os.ReadFile(filepath.Join(results, ".worker.creds"))
	require.NoError(t, err)
	require.Regexp(t, `^tls://\w+@127\.0\.0\.1:\d+\?certificate=[0-9a-f]{64}\n$`, string(secret))
	port := regexp.MustCompile(`:(\d+)\?`).FindStringSubmatch(string(secret))[1]
	code, errs := shell(t, "desktop-agent bench worker --nats tls://localhost:"+port+" --nats-creds - --run-name mine", string(secret), "DESKTOP_AGENT_BASE_URL="+endpoint.URL+"/v1/")
	require.Zero(t, code, errs)
	require.Zero(t, serve.code(), serve.stderr)
	require.Contains(t, endpoint.sent(), "Bearer "+ownKey)

	_, help, _ := benched(t, "bench", "serve", "--help")
	require.Contains(t, help, `--listen="127.0.0.1:4222"`)
}

// Whoever may do anything on a server can neither publish the terms of a run
// again with another endpoint, nor have a worker's key by putting another run in
// its place.
func TestTermsRepublished(t *testing.T) {
	t.Parallel()
	ours, rogue := newKeyEndpoint(t), newKeyEndpoint(t)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(time.Minute))
	nc, err := nats.Connect(s.ClientURL(), nats.Timeout(time.Minute))
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	const stream, subject = "bench-bench-results", "bench.bench.terms"

	results := t.TempDir()
	serve := start(t, "bench", "serve", ownSuite(t), "--only", "rename-folder", "--results", results, "--nats", s.ClientURL(),
		"--model", "m", "--base-url", ours.URL+"/v1")
	var terms *jetstream.RawStreamMsg
	require.Eventually(t, func() bool {
		if known, err := js.Stream(t.Context(), stream); err == nil {
			terms, _ = known.GetLastMsgForSubject(t.Context(), subject)
		}
		return terms != nil
	}, time.Minute, 20*time.Millisecond, "%s", serve.stderr)
	require.Contains(t, string(terms.Data), ours.URL)
	changed := bytes.ReplaceAll(terms.Data, []byte(ours.URL), []byte(rogue.URL))
	_, err = js.Publish(t.Context(), subject, changed)
	require.ErrorContains(t, err, "maximum messages per subject")

	known, err := js.Stream(t.Context(), stream)
	require.NoError(t, err)
	conf := known.CachedInfo().Config
	// The run repairs what it misses. Where it is faster, its own terms stand again, and are
	// no easier to replace than before; but who has this much power can go on until they do not.
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		if err := js.DeleteStream(t.Context(), stream); !assert.NoError(c, err) {
			return
		}
		if _, err := js.CreateStream(t.Context(), conf); !assert.NoError(c, err) {
			return
		}
		_, err := js.Publish(t.Context(), subject, changed)
		if err != nil {
			assert.ErrorContains(t, err, "maximum messages per subject")
		}
		assert.NoError(c, err)
	}, time.Minute, time.Millisecond)
	for _, more := range []string{"", " --base-url " + ours.URL + "/v1"} {
		code, errs := shell(t, "desktop-agent bench worker --nats "+s.ClientURL()+more, "")
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, "asks its models at "+rogue.URL)
	}
	require.Empty(t, rogue.sent())
	require.Empty(t, ours.sent())
	require.Eventually(t, serve.ended, 2*time.Minute, 100*time.Millisecond, "the run has lost its terms")
	require.Contains(t, serve.stderr.String(), bench.ErrOtherSpec.Error())
}

// A worker process of this machine is told the endpoint of the one that started
// it, and sends the key there.
func TestBenchAsksOwnEndpoint(t *testing.T) {
	t.Parallel()
	endpoint := newKeyEndpoint(t)
	results := t.TempDir()
	code, errs := shell(t, fmt.Sprintf("desktop-agent bench %s --only rename-folder --results %s --model m --base-url %s", ownSuite(t), results,
		strings.Replace(endpoint.URL, "://", "://user:secret-in-url@", 1)+"/v1"), "")
	require.Zero(t, code, errs)
	require.Contains(t, endpoint.sent(), "Bearer "+ownKey)
	list, err := bench.ReadResults(results)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// Doors that are not safe are refused as a mistake in what was written.
func TestBenchUnsafe(t *testing.T) {
	here, dir := outside(t), t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	serve := []string{"bench", "serve", ownSuite(t), "--model", scripted, "--only", "rename-folder", "--results", filepath.Join(dir, "results")}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{append(serve, "--server-config", file("open.conf", "host: "+here+"\nport: -1\nauthorization { token: secret-token }\n")), "without TLS"},
		{append(serve, "--server-config", file("cluster.conf", "port: -1\nauthorization { token: secret-token }\ncluster { name: c, listen: \""+here+":-1\" }\n")), "without a credential"},
		{append(serve, "--nats", "nats://"+here+":4222"), "no credential for it is given"},
		{[]string{"bench", "worker", "--nats", "nats://" + here + ":4222"}, "no credential for it is given"},
		{[]string{"bench", "worker", "--nats-creds", file("junk", "secret-token\n")}, "these are no credentials of a benchmark"},
		{[]string{"bench", "worker", "--nats-creds", file("seed", "tls://secret-token@127.0.0.1:4222?certificate=00\n")}, "these are no credentials of a benchmark"},
		{[]string{"bench", "worker", "--nats-creds", filepath.Join(dir, "missing")}, "no such file"},
		{[]string{"bench", "worker"}, "name the server with --nats"},
	} {
		code, _, errs := command(t, tt.args...)
		assert.Equal(t, exitUsage, code, "%v: %s", tt.args, errs)
		assert.Contains(t, errs, tt.want, "%v", tt.args)
		assert.Contains(t, errs, "hint: ", "%v", tt.args)
		assert.NotContains(t, errs, "secret-token", "%v", tt.args)
	}
}

// TestAskAt: the endpoint is the worker's own in every case.
func TestAskAt(t *testing.T) {
	for _, tt := range []struct {
		own, theirs, model string
		same               bool
	}{
		{"https://a/v1", "https://a/v1", "m", true},
		{"https://a/v1/", "https://a/v1", "m", true},
		{"https://user:secret@a/v1?key=x", "https://a/v1", "m", true},
		{"https://a/v1", "https://user:secret@a/v1", "m", true},
		{"https://a/v1", "http://a/v1", "m", false},
		{"https://a/v1", "https://a@b/v1", "m", false},
		{"https://a/v1", "https://a.b/v1", "m", false},
		{"https://a/v1", "https://a:444/v1", "m", false},
		{"https://a/v1", "https://a/v1/../x", "m", false},
		{"https://a/v1", "", "m", false},
		{"", "https://a/v1", "m", false},
		{"", "https://api.openai.com/v1", "m", false},
		{"", "", "m", false},
		{"", "https://a/v1", scripted, true},
	} {
		s := benchSpec{Flags: benchFlags{modelFlags: modelFlags{Model: tt.model, BaseURL: tt.theirs, APIKey: "theirs"}}}
		err := s.askAt(tt.own, "mine")
		assert.Equal(t, tt.same, err == nil, "%+v: %v", tt, err)
		assert.Equal(t, tt.own, s.Flags.BaseURL)
		assert.Equal(t, "mine", s.Flags.APIKey)
		if err != nil {
			assert.NotContains(t, err.Error()+hintOf(err), "secret")
		}
	}
}

// TestAskAtNobodyElse: whatever the terms of a benchmark say of where its models and those
// that take over from them are, each is asked where the worker's own settings say.
func TestAskAtNobodyElse(t *testing.T) {
	role := `{"Fallback":["other"],"BaseURL":"https://rogue/v1","APIKey":"theirs","Others":[{"API":"openai","BaseURL":"https://rogue/v1"}]}`
	spec := `{"flags":{"Model":"m","BaseURL":"https://a/v1","Fallback":["other"],"Planner":` + role + `,"Actor":` + role +
		`,"WorldModel":` + role + `,"Monitor":` + role + `,"Grounder":` + role + `,"Judge":` + role + `}}`
	var s benchSpec
	require.NoError(t, json.Unmarshal([]byte(spec), &s))
	require.Equal(t, []string{"other"}, s.Flags.Actor.Fallback, "the terms are read at all")
	s.Flags.Actor.Others = []run.Way{{API: "openai", BaseURL: "https://rogue/v1"}}
	require.NoError(t, s.askAt("https://a/v1", "mine"))

	none := func(string) string { return "of the environment" }
	asked := 0
	for _, own := range []roleFlags{{}, s.Flags.Planner, s.Flags.Actor, s.Flags.WorldModel, s.Flags.Monitor, s.Flags.Grounder.roleFlags, s.Flags.Judge} {
		for _, one := range append([]roleFlags{own}, s.Flags.others(own)...) {
			w := s.Flags.way(one, none)
			assert.Equal(t, "https://a/v1", w.BaseURL, "%+v", one)
			assert.Equal(t, "mine", w.key, "%+v", one)
			asked++
		}
	}
	assert.Equal(t, 14, asked, "each role and its fallback")
}

func TestInvitation(t *testing.T) {
	b := &benchServeCmd{}
	b.Name, b.Model = "bench", scripted
	assert.Equal(t, "desktop-agent bench worker --nats-creds '/a b/it'\\''s'", b.invitation("tls://x", "/a b/it's"))
	b.Name, b.Model, b.BaseURL = "mine", "m", "https://user:secret@example.org/v1?key=secret"
	assert.Equal(t, "desktop-agent bench worker --nats tls://x:4222 --run-name mine --base-url https://example.org/v1", b.invitation("tls://x:4222", ""))
}
