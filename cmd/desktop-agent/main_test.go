package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the program, for scripts and for tests that
// need a process of their own.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "desktop-agent" {
		for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
			if signal.Ignored(s) { // as in a background job: what is started here is to ignore none
				signal.Notify(make(chan os.Signal, 1), s)
			}
		}
	}
	testscript.Main(m, map[string]func(){"desktop-agent": main, "mcp-notes": serveNotes})
}

// TestScripts holds the command line to scripts of what a user types and reads: among them that
// a key of a configuration which is not known, and any other bad input, ends with code 2 and
// with what to do.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// HOME is the script's own folder: no configuration of this machine counts.
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GORACE", os.Getenv("GORACE")) // as the Makefile has it
			env.Setenv("XDG_CONFIG_HOME", "")
			agent, err := exec.LookPath("desktop-agent")
			env.Setenv("AGENT", agent) // where PATH is not this one
			setup, bad := filepath.Abs("../../scripts/setup")
			env.Setenv("SETUP", setup)
			demo, worse := filepath.Abs("demo/run")
			env.Setenv("DEMO", demo)
			return errors.Join(err, bad, worse)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits runs a program, and expects it to end with this code:
//
//	exits 2 desktop-agent run
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program args…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = codeOf(err)
	}
	if code != args[0] {
		ts.Fatalf("%v: exit code %s, not %s", args[1:], code, args[0])
	}
}

// codeOf returns the exit code of a command that failed.
func codeOf(err error) string {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return strconv.Itoa(e.ExitCode())
	}
	return err.Error()
}

// A reader of the output who goes away ends the program in an orderly way.
func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &stream{w, cancel}
	_, err = io.WriteString(out, "x")
	require.NoError(t, err)
	require.NoError(t, ctx.Err())
	require.NoError(t, r.Close())
	_, err = io.WriteString(out, "x")
	require.ErrorIs(t, err, syscall.EPIPE)
	require.ErrorIs(t, ctx.Err(), context.Canceled)
}
