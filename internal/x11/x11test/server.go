//go:build linux

package x11test

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"desktop-agent/internal/x11"
)

// A Server is one X server of the machine, told from those that have its display's
// number before and after it: the number is free again at once, and other tests start
// servers all the time.
type Server struct{ socket, id string }

// ServerOf returns the server that a display, such as ":1", has now.
func ServerOf(t testing.TB, display string) Server {
	t.Helper()
	s := Server{socket: x11.SocketOf(display)}
	if s.id = s.now(t); s.id == "" {
		t.Fatalf("display %s: no server has %s", display, s.socket)
	}
	return s
}

// Gone reports whether the server has left no socket behind.
func (s Server) Gone(t testing.TB) bool {
	t.Helper()
	return s.now(t) != s.id
}

// Sweep removes the socket of a server that was killed, if it had one.
func (s Server) Sweep(t testing.TB) {
	t.Helper()
	if s.id != "" && !s.Gone(t) {
		if err := os.Remove(s.socket); err != nil {
			t.Error(err)
		}
	}
}

// RequireGone requires it.
func (s Server) RequireGone(t testing.TB) {
	t.Helper()
	if !s.Gone(t) {
		t.Fatalf("the server is gone, and has left %s", s.socket)
	}
}

// now identifies the socket that is there; "" if there is none. A file that is made in
// the place of another may get its number, but not its time.
func (s Server) now(t testing.TB) string {
	t.Helper()
	var stat syscall.Stat_t
	err := syscall.Lstat(s.socket, &stat)
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(stat.Ino, " ", stat.Ctim.Nano())
}
