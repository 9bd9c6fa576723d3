//go:build linux

package x11

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Requests that are to be together are written at once: a server that has the press of a
// key and not yet its release repeats it.
func TestTogether(t *testing.T) {
	at := filepath.Join(t.TempDir(), "s")
	server, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	require.NoError(t, err)
	defer server.Close()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: at, Net: "unix"})
	require.NoError(t, err)
	defer conn.Close()
	other, err := server.Accept()
	require.NoError(t, err)
	defer other.Close()
	p := &passer{UnixConn: conn, files: map[string]*os.File{}}
	write := func(s string) {
		n, err := p.Write([]byte(s))
		require.NoError(t, err)
		assert.Equal(t, len(s), n)
	}
	expect := func(s string) {
		t.Helper()
		b := make([]byte, len(s))
		require.NoError(t, other.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err := io.ReadFull(other, b)
		require.NoError(t, err)
		assert.Equal(t, s, string(b))
	}
	p.hold()
	write("press ")
	p.hold() // by another goroutine
	write("release ")
	require.NoError(t, p.release())
	write("end")
	require.NoError(t, other.SetReadDeadline(time.Now()))
	_, err = other.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "nothing has been written")
	require.NoError(t, p.release())
	expect("press release end")
	write("alone")
	expect("alone")
	p.hold()
	write("before ")
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	p.files["file"] = file
	write("file") // what is before it goes first
	require.NoError(t, p.release())
	expect("before file")
}
