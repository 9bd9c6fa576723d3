//go:build linux

package atspi

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/permit"
)

// slowness is what a program does before it answers.
var slowness = map[string]func(){
	"computes":         func() { computeFor(1500 * time.Millisecond) },
	"computes forever": func() { computeFor(time.Hour) },
	"sleeps":           func() { time.Sleep(time.Hour) },
	"waits":            func() { time.Sleep(1500 * time.Millisecond) },
}

func computeFor(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

// slowProgram names what this process does as the program of [TestSilence].
const slowProgram = "DESKTOP_AGENT_TEST_SLOW"

// A program that only waits for a processor, or works, does not hang: it is waited for up
// to the limit of one program. Nor does one that waits for the server of its display, which
// waits for a processor.
func TestSilence(t *testing.T) {
	if does := os.Getenv(slowProgram); does != "" {
		l := &liar{children: map[string][]string{"root": {"window"}, "window": {"button"}}, slow: slowness[does]}
		l.lie(t, os.Getenv("AT_SPI_BUS_ADDRESS"))
		f := &slowField{slow: slowness[does]}
		for _, iface := range []string{accessible, texts, editable} {
			require.NoError(t, l.conn.Export(f, usualPath+"field", iface))
		}
		os.Stdout.WriteString(l.conn.Names()[0] + "\n")
		io.Copy(io.Discard, os.Stdin) // until the test is over
		return
	}
	b := newBench(t, nil)
	for _, tt := range []struct {
		does   string
		serves string // what the server of its display does: a shell's words; "" for none that is known
		limit  time.Duration
		hung   error // why it is given up
	}{
		{"computes", "", patience, nil},
		{"computes forever", "", 2 * time.Second, context.DeadlineExceeded},
		{"sleeps", "", patience, errSilent},
		{"sleeps", "exec sleep 600", patience, errSilent},
		{"waits", "while :; do :; done", patience, nil},
		{"sleeps", "while :; do :; done", 2 * time.Second, context.DeadlineExceeded},
	} {
		t.Run(tt.does+" "+tt.serves, func(t *testing.T) {
			server := 0
			if tt.serves != "" {
				c := exec.CommandContext(t.Context(), "sh", "-c", tt.serves)
				require.NoError(t, c.Start())
				t.Cleanup(func() { _ = c.Wait() })
				server = c.Process.Pid
			}
			program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSilence$")
			program.Env = append(os.Environ(), slowProgram+"="+tt.does, "AT_SPI_BUS_ADDRESS="+b.at)
			program.Stderr = os.Stderr
			_, err := program.StdinPipe()
			require.NoError(t, err)
			out, err := program.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, program.Start())
			defer program.Wait()
			defer program.Process.Kill()
			line, err := bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)

			r, err := Open(t.Context(), &Options{BusAddress: b.BusAddress(), Server: server, Silence: 500 * time.Millisecond, AppTimeout: tt.limit})
			require.NoError(t, err)
			defer r.Close()
			nodes, hung, err := r.Read(t.Context())
			require.NoError(t, err)
			assert.Equal(t, tt.hung != nil, len(hung) == 1, "%v", hung)
			assert.Equal(t, tt.hung == nil, slices.ContainsFunc(nodes, named("push button", "button")), "%v", nodes)
			assert.ErrorIs(t, r.readAgain(t, program.Process.Pid).hung, tt.hung)

			err = r.Set(t.Context(), permit.Grant(), Node{Key: strings.TrimSpace(line) + "#field", PID: program.Process.Pid}, "Dear Ann,")
			assert.Equal(t, tt.hung != nil, err != nil, "%v", err)
			if tt.hung == errSilent {
				assert.ErrorIs(t, err, ErrNotSet)
			}
		})
	}
}

// A slowField is a field that holds what it is set to after a while.
type slowField struct {
	slow func()
	text atomic.Value
}

func (f *slowField) GetInterfaces() ([]string, *dbus.Error) { return []string{texts, editable}, nil }

func (f *slowField) GetState() ([]uint32, *dbus.Error) {
	return []uint32{1<<stateEnabled | 1<<stateEditable, 0}, nil
}

func (f *slowField) GetText(int32, int32) (string, *dbus.Error) {
	text, _ := f.text.Load().(string)
	return text, nil
}

func (f *slowField) SetTextContents(text string) (bool, *dbus.Error) {
	go func() {
		f.slow()
		f.text.Store(text)
	}()
	return true, nil
}
