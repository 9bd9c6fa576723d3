//go:build linux

package env_test

import (
	"context"
	"encoding/json"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"desktop-agent/internal/x11"
	"desktop-agent/screen"
	"desktop-agent/tasks/env"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program that tests open.
type program struct {
	name    string
	command []string
	title   string // part of its window's
	node    string // the name, or text, of something in its tree
}

// Each program shows a window and an accessibility tree through the walls of the
// environment, and nothing that asks the user anything.
func TestPrograms(t *testing.T) {
	for _, p := range []program{
		{"xterm", []string{"xterm", "-T", "a terminal"}, "a terminal", ""},
		{"mousepad", []string{"mousepad", "/home/user/a.txt"}, "a.txt", "hello"},
		{"soffice", []string{"libreoffice", "--calc"}, "LibreOffice Calc", "Insert"},
		{"chromium", []string{"google-chrome", "file:///home/user/a.html"}, "a page", "a heading"},
		{"vlc", []string{"vlc"}, "VLC", "Playback"},
		{"gimp", []string{"gimp"}, "GNU Image Manipulation Program", ""}, // GTK 2 has no tree
		{"thunderbird", []string{"thunderbird"}, "Thunderbird", ""},
	} {
		t.Run(p.name, func(t *testing.T) {
			need(t, p.name)
			e := isolated(t, nil)
			run(t, e, "echo hello > a.txt; echo '<title>a page</title><h1>a heading</h1>' > a.html")
			require.NoError(t, e.Start(t.Context(), env.Command{Args: p.command}))
			defer save(t, e)
			_, err := e.WaitWindow(within(t), func(w screen.Window) bool { return strings.Contains(w.Title, p.title) })
			require.NoError(t, err)
			if p.node != "" {
				require.Eventually(t, func() bool { return shows(t, e, p.node) }, patience, 100*time.Millisecond)
			}
			require.NoError(t, e.Quiet(within(t)))
			windows, err := e.Windows(t.Context())
			require.NoError(t, err)
			for _, w := range windows {
				assert.NotEqual(t, "dialog", w.Type, "%q asks something", w.Title)
			}
		})
	}
}

// shows reports whether something in the accessibility tree has a text.
func shows(t *testing.T, e *env.Env, text string) bool {
	nodes, _, err := e.Tree().Read(t.Context())
	require.NoError(t, err)
	for _, n := range nodes {
		if strings.Contains(n.Name, text) || strings.Contains(n.Text, text) {
			return true
		}
	}
	return false
}

// save keeps a picture of the desktop.
func save(t *testing.T, e *env.Env) {
	picture, err := e.Screen().Capture(t.Context())
	require.NoError(t, err)
	file, err := os.Create(filepath.Join(t.ArtifactDir(), "screen.png"))
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, png.Encode(file, picture))
}

func TestWindows(t *testing.T) {
	e := isolated(t, nil)
	for _, args := range [][]string{{"xterm", "-T", "One two"}, {"xterm", "-T", "one"}, {"xterm", "-T", "Three", "-class", "Other", "-name", "thing"}} {
		require.NoError(t, e.Start(t.Context(), env.Command{Args: args}))
		_, err := e.WaitWindow(within(t), func(w screen.Window) bool { return w.Title == args[2] && w.Focused })
		require.NoError(t, err)
	}
	focused := func() string {
		windows, err := e.Windows(t.Context())
		require.NoError(t, err)
		for _, w := range windows {
			if w.Focused {
				return w.Title
			}
		}
		return ""
	}
	for _, tt := range []struct {
		name            string
		strict, byClass bool
		want            string
	}{
		{"one", false, false, "One two"}, // the first that came
		{"one", true, false, "one"},
		{"THR", false, false, "Three"},
		{"xterm.xterm", false, true, "One two"},
		{"thing.Other", true, true, "Three"},
	} {
		require.NoError(t, e.Activate(t.Context(), tt.name, tt.strict, tt.byClass), tt)
		assert.Equal(t, tt.want, focused(), tt)
	}
	require.ErrorIs(t, e.Activate(t.Context(), "thr", true, false), env.ErrNoWindow)
	require.ErrorIs(t, e.CloseWindow(t.Context(), "thing.other", true, true), env.ErrNoWindow)
	require.NoError(t, e.CloseWindow(t.Context(), "thing.Other", true, true))
	require.ErrorIs(t, e.Activate(t.Context(), "Three", true, false), env.ErrNoWindow)
	assert.Equal(t, "2\n", run(t, e, "pgrep -c xterm"))

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := e.WaitWindow(ctx, func(screen.Window) bool { return false })
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A window that does not do what it is told is an error that says what is in the way.
func TestNotObeyed(t *testing.T) {
	t.Run("asks", func(t *testing.T) {
		need(t, "mousepad")
		e := isolated(t, nil)
		require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"mousepad"}}))
		windowOf(t, e, "Mousepad")
		require.NoError(t, e.Perform(t.Context(), "import pyautogui; pyautogui.write('text')"))
		err := e.CloseWindow(t.Context(), "Untitled", false, false)
		require.ErrorIs(t, err, env.ErrNotYet)
		require.ErrorContains(t, err, `close window "Untitled": not yet: the program shows "Save Changes" first`)
		err = e.Activate(t.Context(), "Untitled", false, false)
		require.ErrorIs(t, err, env.ErrNotYet)
		require.ErrorContains(t, err, `"Save Changes" has the focus`)
	})
	for name, tt := range map[string]struct{ program, script, want string }{
		"stays open":   {"xterm", `exec xterm -e sh -c 'trap "" HUP; sleep 1000'`, "it is still open after 20s"},
		"is slow":      {"xterm", `exec xterm -e sh -c 'trap "" HUP; sleep 5'`, ""},
		"does not end": {"thunar", `thunar --daemon & sleep 1; exec thunar`, "its program still runs after 20s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits
			need(t, tt.program)
			e := isolated(t, nil)
			require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{tt.script}, Shell: true}))
			windowOf(t, e, tt.program)
			err := e.CloseWindow(t.Context(), tt.program, false, true)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, env.ErrNotYet)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// A window that comes while another one closes is no question, if it does not get the focus.
func TestWindowWhileClosing(t *testing.T) {
	e := isolated(t, nil)
	conn, err := x11.Dial(e.Display())
	require.NoError(t, err)
	defer func() { conn.Close(); <-conn.Closed() }()
	set := func(w xproto.Window, property string, kind xproto.Atom, value uint32) {
		name, err := conn.Atom(property)
		require.NoError(t, err)
		data := make([]byte, 4)
		xgb.Put32(data, value)
		require.NoError(t, xproto.ChangePropertyChecked(conn.Conn, xproto.PropModeReplace, w, name, kind, 32, 1, data).Check())
	}
	window := func(title string) xproto.Window {
		w, err := xproto.NewWindowId(conn.Conn)
		require.NoError(t, err)
		require.NoError(t, xproto.CreateWindowChecked(conn.Conn, conn.Screen.RootDepth, w, conn.Root, 0, 0, 300, 200, 0,
			xproto.WindowClassInputOutput, conn.Screen.RootVisual, xproto.CwBackPixel, []uint32{0xffffff}).Check())
		require.NoError(t, xproto.ChangePropertyChecked(conn.Conn, xproto.PropModeReplace, w, xproto.AtomWmName,
			xproto.AtomString, 8, uint32(len(title)), []byte(title)).Check())
		return w
	}
	first, second := window("First"), window("Second")
	set(second, "_NET_WM_USER_TIME", xproto.AtomCardinal, 0) // the window manager gives it no focus
	protocols, err := conn.Atom("WM_PROTOCOLS")
	require.NoError(t, err)
	closing, err := conn.Atom("WM_DELETE_WINDOW")
	require.NoError(t, err)
	set(first, "WM_PROTOCOLS", xproto.AtomAtom, uint32(closing))
	defer conn.Listen(func(event xgb.Event) {
		if m, ok := event.(xproto.ClientMessageEvent); ok && m.Type == protocols {
			xproto.MapWindow(conn.Conn, second)
			time.AfterFunc(4*time.Second, func() { xproto.DestroyWindow(conn.Conn, first) })
		}
	})()
	xproto.MapWindow(conn.Conn, first)
	_, err = e.WaitWindow(within(t), func(w screen.Window) bool { return w.Title == "First" && w.Focused })
	require.NoError(t, err)
	require.NoError(t, e.CloseWindow(t.Context(), "First", true, false))
	_, err = e.WaitWindow(within(t), func(w screen.Window) bool { return w.Title == "Second" }) // it has the focus by now, as the first is gone
	require.NoError(t, err)
}

// A port inside can be reached from outside, and by other programs inside alone.
func TestDial(t *testing.T) {
	need(t, "python3")
	e, other := isolated(t, nil), isolated(t, nil)
	free, err := net.Listen("tcp", "127.0.0.1:0") // of the machine, where nobody listens
	require.NoError(t, err)
	address := free.Addr().String()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	require.NoError(t, free.Close())
	_, err = e.Dial(t.Context(), address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	run(t, e, "echo here > f")
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"python3", "-m", "http.server", port}}))
	client := clientOf(t, e)
	require.Eventually(t, func() bool {
		response, err := client.Get("http://localhost:" + port + "/f")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return string(body) == "here\n"
	}, time.Minute, 50*time.Millisecond)
	client.CloseIdleConnections()
	_, err = other.Dial(t.Context(), address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	_, err = net.Dial("tcp", address)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	// The other side's end of a connection arrives.
	script := "import socket; s=socket.create_server(('127.0.0.1', 8124)); open('up','w'); exec('while 1: c,_=s.accept(); c.sendall(b\"bye\"); c.close()')"
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"python3", "-c", script}}))
	require.Eventually(t, func() bool { return strings.Contains(run(t, e, "ls"), "up") }, time.Minute, 20*time.Millisecond)
	for range 20 {
		conn, err := e.Dial(t.Context(), "127.0.0.1:8124")
		require.NoError(t, err)
		text, err := io.ReadAll(conn)
		require.NoError(t, err)
		assert.Equal(t, "bye", string(text))
		require.NoError(t, conn.Close())
	}
	for _, bad := range []string{"127.0.0.1", "$(touch x):1", "a b:1", "../x:1"} {
		_, err := e.Dial(t.Context(), bad)
		require.Error(t, err, bad)
	}
	require.Eventually(t, func() bool { return !strings.Contains(run(t, e, "ps -e -o args"), "IO::Socket") }, time.Minute, 50*time.Millisecond,
		"relays end with their connections")
}

func clientOf(t *testing.T, e *env.Env) *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		return e.Dial(ctx, address)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Chromium's debugging port answers, also through another program inside.
func TestChromiumPort(t *testing.T) {
	need(t, "chromium")
	e := isolated(t, nil)
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"google-chrome", "--remote-debugging-port=1337"}}))
	port := "1337"
	if e.Has("socat") {
		port = "9222"
		require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"socat", "tcp-listen:9222,fork", "tcp:localhost:1337"}}))
	}
	client := clientOf(t, e)
	var version struct{ Browser string }
	require.Eventually(t, func() bool {
		response, err := client.Get("http://localhost:" + port + "/json/version")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return json.NewDecoder(response.Body).Decode(&version) == nil
	}, patience, 100*time.Millisecond)
	assert.Contains(t, version.Browser, "Chrome/")
	client.CloseIdleConnections()
	_, err := e.WaitWindow(within(t), nil)
	require.NoError(t, err)
	require.NoError(t, e.Activate(t.Context(), "Google Chrome", false, false))
	_, err = e.Host("/home/user/.config/google-chrome/Default")
	require.NoError(t, err)
	assert.Contains(t, run(t, e, "ls .config"), "google-chrome")
}

// VLC's web interface answers with the password that tasks use.
func TestVLCPort(t *testing.T) {
	need(t, "vlc")
	e := isolated(t, nil)
	require.NoError(t, e.Start(t.Context(), env.Command{Args: []string{"vlc"}}))
	client := clientOf(t, e)
	require.Eventually(t, func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:8080/requests/status.xml", nil)
		require.NoError(t, err)
		request.SetBasicAuth("", "password")
		response, err := client.Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return strings.Contains(string(body), "<state>stopped</state>")
	}, patience, 100*time.Millisecond)
	client.CloseIdleConnections()
}

// Files are opened by the programs that tasks expect.
func TestDefaults(t *testing.T) {
	need(t, "xdg-mime")
	e := isolated(t, nil)
	for kind, program := range map[string][2]string{
		"text/plain": {"mousepad", "org.xfce.mousepad.desktop"},
		"text/html":  {"google-chrome", "google-chrome.desktop"},
		"text/csv":   {"soffice", "libreoffice-calc.desktop"},
	} {
		if e.Has(program[0]) {
			assert.Equal(t, program[1]+"\n", run(t, e, "xdg-mime query default "+kind))
		}
	}
}

// With the network, programs and ports are those of the machine.
func TestNetwork(t *testing.T) {
	e := isolated(t, &env.Options{Network: true})
	assert.True(t, e.Isolation().Files && !e.Isolation().Network)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.WriteString(conn, "hello\n")
			conn.Close()
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	out, err := e.Run(t.Context(), env.Command{Args: []string{"bash", "-c", "cat < /dev/tcp/127.0.0.1/" + port}})
	require.NoError(t, err)
	assert.Equal(t, "hello\n", string(out.Stdout))
}
