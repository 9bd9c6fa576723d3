// Package npmtest has programs of the npm registry, which nobody here wrote, for tests to be
// held against.
package npmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Install gets packages, each with its version, such as "a@1.2.3", and returns the path of a
// program of theirs. They stay in the user's folder for caches, so that they are fetched once. The
// test is skipped where there is no npm, or no registry answers.
func Install(t testing.TB, packages ...string) (bin func(string) string) {
	t.Helper()
	folder := cached(t, packages)
	if _, err := os.Stat(folder); err != nil {
		fetch(t, folder, packages)
	}
	return func(name string) string {
		path := filepath.Join(folder, "node_modules", ".bin", name)
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%v have no program %s: %v", packages, name, err)
		}
		return path
	}
}

// cached is the folder of packages: another version is another folder.
func cached(t testing.TB, packages []string) string {
	sum := sha256.Sum256([]byte(strings.Join(packages, "\n")))
	dir, err := os.UserCacheDir()
	if err != nil { // no home: they go with the test
		dir = t.TempDir()
	}
	return filepath.Join(dir, "desktop-agent-tests", "npm-"+hex.EncodeToString(sum[:8]))
}

// fetch installs packages beside the folder, which is there as a whole or not at all.
func fetch(t testing.TB, folder string, packages []string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	ping := exec.CommandContext(ctx, npm, "view", packages[0], "version", "--fetch-retries=0", "--fetch-timeout=10000")
	if out, err := ping.CombinedOutput(); err != nil {
		t.Skipf("the npm registry does not answer: %v: %.200s", err, out)
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		t.Fatal(err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(folder), "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp) // nothing is left of it where all went well
	args := append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", temp}, packages...)
	if out, err := exec.CommandContext(ctx, npm, args...).CombinedOutput(); err != nil {
		t.Skipf("npm cannot install: %v: %.300s", err, out)
	}
	if err := os.Rename(temp, folder); err != nil {
		if _, there := os.Stat(folder); there != nil { // another test was faster
			t.Fatal(err)
		}
	}
}

// Serve starts a program that serves on a port of this machine which it chooses itself, until the
// end of the test, and returns its address once it says that it listens there. args tell it to
// choose: a port that was free a moment ago may be that of another test by then.
func Serve(t testing.TB, program string, args ...string) (url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log := &output{listens: make(chan string, 1)}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("%s: %.3000s", filepath.Base(program), log.text.String())
		}
	})
	select {
	case url = <-log.listens:
	case err := <-ended:
		ended <- err
		t.Fatalf("%s ended: %v", filepath.Base(program), err)
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s does not say that it listens", filepath.Base(program))
	}
	return url
}

// An output keeps what a program prints, and tells the first address at which it says to listen.
// One goroutine of [exec.Cmd] writes to it.
type output struct {
	text    bytes.Buffer
	listens chan string
	told    bool
}

var listening = regexp.MustCompile(`listening on (http://127\.0\.0\.1:\d+)\s`)

func (o *output) Write(p []byte) (int, error) {
	o.text.Write(p)
	if m := listening.FindSubmatch(o.text.Bytes()); m != nil && !o.told {
		o.told = true
		o.listens <- string(m[1])
	}
	return len(p), nil
}

// The packages that several tests use.
const (
	Prism  = "@stoplight/prism-cli@5.16.0" // takes requests that hold to a specification, and refuses others
	Aimock = "@copilotkit/aimock@1.43.0"   // plays the servers of many providers, their faults included
)
