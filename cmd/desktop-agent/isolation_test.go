//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/sandbox"
	"desktop-agent/tasks"
	"desktop-agent/tasks/bench"
)

const secretKey = "sk-key-that-nobody-reads"

// without returns a PATH on which some programs are missing.
func without(t *testing.T, missing ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/games"} {
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range list {
			_ = os.Symlink(filepath.Join(dir, entry.Name()), filepath.Join(folder, entry.Name())) // of two the first
		}
	}
	for _, name := range missing {
		require.NoError(t, os.RemoveAll(filepath.Join(folder, name)))
	}
	return folder
}

// hostileSuite writes a suite whose only task runs a script when it is set up, which
// leaves what it printed in the file that is returned. Any user may write there.
func hostileSuite(t *testing.T, script string) (suite, said string) {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "hostile-") // which is not rewritten to a folder of the task
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, 0o777))
	said = filepath.Join(folder, "said")
	suite = t.TempDir()
	command, err := json.Marshal([]string{"/bin/bash", "-c", "out=" + said + `; [ -d "${out%/*}" ] || out=/dev/null; { ` + script + `; } >"$out" 2>&1; exit 0`})
	require.NoError(t, err)
	for name, text := range map[string]string{
		"examples/os/hostile.json": `{"id": "hostile", "instruction": "Do it.", "config": [{"type": "execute", "parameters": {"command": ` + string(command) + `}}], "evaluator": {"func": "infeasible"}}`,
		"solutions/hostile.json":   `{"solution": [], "answer": "infeasible"}`,
	} {
		file := filepath.Join(suite, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	return suite, said
}

// Where bubblewrap is missing there is no trial: the error says what to install, and
// so do the check of the suite and the doctor.
func TestBenchRefuses(t *testing.T) {
	suite, said := hostileSuite(t, "id")
	results := filepath.Join(t.TempDir(), "results")
	path := []string{"PATH=" + without(t, "bwrap")}
	p := startWith(t, path, "bench", suite, "--model", scripted, "--results", results)
	require.Equal(t, exitError, p.code())
	errs := p.stderr.String()
	assert.Contains(t, errs, "tasks cannot be kept apart from this machine: bubblewrap is not installed\n")
	assert.Contains(t, errs, "hint: apt-get install bubblewrap; or pass --unisolated")
	list, err := bench.ReadResults(results)
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.NoFileExists(t, said, "no command ran")

	p = startWith(t, path, "suite", "check", suite)
	require.Equal(t, exitDone, p.code(), "%s", p.stderr)
	assert.Contains(t, p.stderr.String(), "isolation: NONE, so that bench refuses: tasks cannot be kept apart from this machine: bubblewrap is not installed: apt-get install bubblewrap")
	p = startWith(t, path, "doctor", "--display", ":77777")
	require.Equal(t, exitError, p.code())
	assert.Regexp(t, `skip  isolation +.*bubblewrap is not installed, so that bench refuses: apt-get install bubblewrap`, p.stdout.String())

	assert.Regexp(t, `skip  desktop apart +programs of --virtual have the devices and the shared memory of the machine \(bubblewrap is not installed`, p.stdout.String())

	// Nor do workers run on this machine what a benchmark elsewhere wants run so.
	spec, err := json.Marshal(benchSpec{Flags: benchFlags{Suite: suite, modelFlags: modelFlags{Model: scripted}, suiteFlags: suiteFlags{Unisolated: true}}})
	require.NoError(t, err)
	_, err = do(t.Context(), spec, &benchWorkerCmd{}, nil, nil)
	require.ErrorContains(t, err, "not isolated")
	require.Contains(t, hintOf(err), "pass --unisolated to this worker too")
}

// A trial that is not isolated, which takes the flag, never runs as root and sees no
// key, and everything that tells of it says so.
func TestBenchUnisolated(t *testing.T) {
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "loopback-of-the-machine") }))
	defer local.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("text-of-a-secret"), 0o600))
	suite, said := hostileSuite(t, "id; cat "+secret+"; env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; tr '\\0' ' ' </proc/1/cmdline; "+
		"exec 3<>/dev/tcp/"+strings.Replace(strings.TrimPrefix(local.URL, "http://"), ":", "/", 1)+" && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3")
	results := filepath.Join(t.TempDir(), "results")
	p := startWith(t, []string{"PATH=" + without(t, "bwrap"), "DESKTOP_AGENT_API_KEY=" + secretKey, "OPENAI_API_KEY=" + secretKey},
		"bench", suite, "--model", scripted, "--results", results, "--unisolated")
	require.Contains(t, []int{exitDone, exitNotDone}, p.code(), "%s", p.stderr)
	list, err := bench.ReadResults(results)
	require.NoError(t, err)
	require.Len(t, list, 3)
	for _, r := range list {
		require.NotEqual(t, tasks.Errored, r.Status, "%s: %s", r.Config, r.Why)
		assert.True(t, r.Unisolated)
	}
	seen, err := os.ReadFile(said)
	require.NoError(t, err, "%s", p.stderr)
	assert.Contains(t, string(seen), "uid=")
	assert.NotRegexp(t, `\buid=0\b`, string(seen))
	assert.NotContains(t, string(seen), secretKey)
	if os.Getuid() == 0 {
		assert.NotContains(t, string(seen), "text-of-a-secret")
	}
	assert.Contains(t, string(seen), "loopback-of-the-machine", "that is what the flag is for, and what is said")

	for line := range strings.Lines(p.stderr.String()) {
		if strings.Contains(line, " done: ") {
			assert.Contains(t, line, "; NOT ISOLATED")
		}
	}
	assert.Contains(t, p.stderr.String(), "; NOT ISOLATED")
	text := strings.Join(strings.Fields(p.stdout.String()), " ")
	assert.Contains(t, text, "3 trials of 3 not isolated")
	for _, name := range []string{"report.html", "results.json", "junit.xml"} {
		page, err := os.ReadFile(filepath.Join(results, name))
		require.NoError(t, err)
		assert.Contains(t, string(page), "not isolated: commands of the tasks saw", name)
	}
	p = start(t, "suite", "check", suite, "--unisolated", "--json")
	require.Equal(t, exitDone, p.code(), "%s", p.stderr)
	assert.Contains(t, p.stderr.String(), "isolation: NOT ISOLATED, as was asked for")
	assert.Contains(t, p.stdout.String(), `"unisolated":true`)
}

// The key is in no environment that a program on a private desktop could read, also
// where it is root, and in none that it inherits.
func TestKeyIsHidden(t *testing.T) {
	actor := typing()
	first, sent := actor[0], make(chan string, 1)
	actor[0] = func(w http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Authorization")
		first(w, r)
	}
	e := newEndpoint(t, actor...)
	said := filepath.Join(t.TempDir(), "said")
	probe := filepath.Join(t.TempDir(), "probe")
	require.NoError(t, os.WriteFile(probe, []byte("#!/bin/sh\nfor p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ 2>/dev/null; done >"+said+"\nexec mousepad\n"), 0o755))
	args := e.task("--plan=off")
	for i, arg := range args {
		if arg == "mousepad" {
			args[i] = probe
		}
	}
	require.Contains(t, args, probe)
	p := startWith(t, []string{"DESKTOP_AGENT_API_KEY=" + secretKey, "OPENAI_API_KEY=" + secretKey, "LEFT_IN_PLACE=yes"}, args...)
	require.Equal(t, exitDone, p.code(), "%s", p.stderr)
	seen, err := os.ReadFile(said)
	require.NoError(t, err)
	if os.Getuid() == 0 {
		assert.Contains(t, string(seen), "LEFT_IN_PLACE=yes", "the probe sees this program's environment")
	}
	assert.NotContains(t, string(seen), secretKey)
	assert.Equal(t, "Bearer "+secretKey, <-sent, "and it is used")
}

// Programs of a private desktop see devices of their own. Where that cannot be, the start
// says so, and goes on; and who asks for the machine's has them, without a word.
func TestVirtualDevices(t *testing.T) {
	t.Parallel()
	private := sandbox.Probe(t.Context()) == nil
	for name, tt := range map[string]struct {
		env, flags []string
		own, note  bool
	}{
		"own":       {own: private, note: !private},
		"no bwrap":  {env: []string{"PATH=" + without(t, "bwrap")}, note: true},
		"asked for": {flags: []string{"--machine-devices"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, typing()...)
			said := filepath.Join(t.TempDir(), "said")
			probe := filepath.Join(t.TempDir(), "probe")
			require.NoError(t, os.WriteFile(probe, []byte("#!/bin/sh\nstat -c %d /dev >"+said+"\nexec mousepad\n"), 0o755))
			args := e.task(append(tt.flags, "--plan=off")...)
			for i, arg := range args {
				if arg == "mousepad" {
					args[i] = probe
				}
			}
			p := startWith(t, tt.env, args...)
			require.Equal(t, exitDone, p.code(), "%s", p.stderr)
			seen, err := os.ReadFile(said)
			require.NoError(t, err)
			var machine syscall.Stat_t
			require.NoError(t, syscall.Stat("/dev", &machine))
			assert.Equal(t, tt.own, strings.TrimSpace(string(seen)) != strconv.FormatUint(machine.Dev, 10), "devices %s", seen)
			const note = "note: programs of the private desktop have the devices and the shared memory of this machine: "
			assert.Equal(t, tt.note, strings.Contains(p.stderr.String(), note), "%s", p.stderr)
		})
	}
}

// When a benchmark is killed, nothing of it is left a second later: no worker, no
// program of a trial, no folder, be it of a desktop or of what trials share, no control group.
func TestBenchKilled(t *testing.T) {
	folder, err := os.MkdirTemp("/tmp", "killed-") // short enough for sockets
	require.NoError(t, err)
	defer os.RemoveAll(folder)
	suite, _ := hostileSuite(t, sleeper()+" & wait")
	results := filepath.Join(t.TempDir(), "results")
	p := startWith(t, []string{"TMPDIR=" + folder}, "bench", suite, "--model", scripted, "--results", results)
	require.Eventually(t, func() bool { return len(sleeping(t)) > 0 || p.ended() }, time.Minute, 20*time.Millisecond, "%s", p.stderr)
	if p.ended() && strings.Contains(p.stderr.String(), "cannot be kept apart") {
		t.Skip("not held here: ", p.stderr)
	}
	desktops, err := filepath.Glob(folder + "/desktop-agent-*/groups")
	require.NoError(t, err)
	require.Len(t, desktops, 1, "%s", p.stderr)
	copies, err := filepath.Glob(folder + "/desktop-agent-*/etc/passwd") // of the worker
	require.NoError(t, err)
	require.Len(t, copies, 1, "%s", p.stderr)
	groups, err := os.ReadFile(desktops[0])
	require.NoError(t, err)
	remains := func() (list []string) {
		list, _ = filepath.Glob(folder + "/desktop-agent-*")
		for group := range strings.FieldsSeq(string(groups)) {
			if _, err := os.Stat(group); err == nil {
				list = append(list, group)
			}
		}
		for _, pid := range slices.Concat(sleeping(t), naming(t, folder), naming(t, results)) {
			command, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			list = append(list, pid+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
		return list
	}
	require.NotEmpty(t, naming(t, folder))
	require.NoError(t, p.Process.Kill())
	killed := time.Now()
	// What cleans up starts some forty programs, most one after the other: how long one takes
	// meanwhile says how slow the machine is just then.
	took, look := time.Duration(0), time.Duration(0)
	var left []string
	for took < time.Minute {
		looked := time.Now()
		took = looked.Sub(killed) // what this look finds gone was gone when it began, or goes meanwhile
		if left = remains(); len(left) == 0 {
			break
		}
		looked = time.Now()
		_ = naming(t, folder)
		look = max(look, time.Since(looked))
		time.Sleep(10 * time.Millisecond)
	}
	t.Log("gone after", took, "a look takes", look)
	require.Less(t, took, time.Second+20*look, "left: %q", left)
}

// sleeper is a command that no other test runs at the same time.
func sleeper() string { return fmt.Sprint("sleep ", 3_000_000+os.Getpid()) }

func sleeping(t *testing.T) []string { return naming(t, "^"+sleeper()+"$") }

// naming returns the processes whose command line fits a pattern.
func naming(t *testing.T, pattern string) (pids []string) {
	t.Helper()
	out, err := exec.Command("pgrep", "-f", pattern).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 1 {
		require.NoError(t, err)
	}
	for pid := range strings.FieldsSeq(string(out)) {
		if n, err := strconv.Atoi(pid); err == nil && syscall.Kill(n, 0) == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
