//go:build linux

package x11_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/x11"
)

// TestParseDisplay holds that each form of a name leads where the X library would go.
func TestParseDisplay(t *testing.T) {
	t.Setenv("DISPLAY", ":7.1")
	for _, tt := range []struct {
		name, network, address string
		number, screen         int
	}{
		{":0", "unix", "/tmp/.X11-unix/X0", 0, 0},
		{"", "unix", "/tmp/.X11-unix/X7", 7, 1},
		{"unix:12.3", "unix", "/tmp/.X11-unix/X12", 12, 3},
		{"/run/display:2.1", "unix", "/run/display:2", 2, 1},
		{"localhost:10.0", "tcp", "localhost:6010", 10, 0},
		{"tcp/office:1", "tcp", "office:6001", 1, 0},
		{"tcp/::1:1", "tcp", "[::1]:6001", 1, 0},
	} {
		got, err := x11.ParseDisplay(tt.name)
		require.NoError(t, err, tt.name)
		assert.Equal(t, tt.network, got.Network, tt.name)
		assert.Equal(t, tt.address, got.Address, tt.name)
		assert.Equal(t, []int{tt.number, tt.screen}, []int{got.Number, got.Screen}, tt.name)
		assert.Equal(t, tt.network == "unix", got.Local(), tt.name)
	}
	t.Setenv("DISPLAY", "")
	for _, name := range []string{"", "0", ":", ":x", ":-1", ":0.x", ":0.-1", "office"} {
		_, err := x11.ParseDisplay(name)
		assert.ErrorContains(t, err, "names no display: write for example :0", name)
	}
}

// TestCookie holds that the first entry is taken that fits the host, the number and the
// method, and that a file which is none gives nothing.
func TestCookie(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	entry := func(family uint16, fields ...string) []byte {
		b := binary.BigEndian.AppendUint16(nil, family)
		for _, f := range fields {
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(f))), f...)
		}
		return b
	}
	const local, wild = 256, 65535
	file := bytes.Join([][]byte{
		entry(local, "elsewhere", "3", x11.CookieName, "of another host "),
		entry(local, host, "4", x11.CookieName, "another's number"),
		entry(local, host, "3", "XDM-AUTHORIZATION-1", "of a new method "),
		entry(local, host, "3", x11.CookieName, "too short"),
		entry(local, host, "3", x11.CookieName, "this one's right"),
		entry(wild, "", "", x11.CookieName, "of all displays "),
	}, nil)
	path := filepath.Join(t.TempDir(), "authority")
	cookie := func(display string, file []byte) string {
		t.Helper()
		require.NoError(t, os.WriteFile(path, file, 0o600))
		at, err := x11.ParseDisplay(display)
		require.NoError(t, err)
		return string(at.Cookie())
	}
	t.Setenv("XAUTHORITY", path)
	assert.Equal(t, "this one's right", cookie(":3", file))
	assert.Equal(t, "this one's right", cookie("localhost:3.0", file))
	assert.Equal(t, "another's number", cookie("unix:4", file))
	assert.Equal(t, "of another host ", cookie("elsewhere:3", file))
	assert.Equal(t, "of all displays ", cookie(":5", file))
	assert.Empty(t, cookie(":3", file[:len(file)/2]), "cut off")
	assert.Empty(t, cookie(":5", nil))
	t.Setenv("XAUTHORITY", filepath.Join(t.TempDir(), "none"))
	at, err := x11.ParseDisplay(":3")
	require.NoError(t, err)
	assert.Nil(t, at.Cookie())

	// By $HOME, where nothing else says where it is.
	t.Setenv("XAUTHORITY", "")
	t.Setenv("HOME", filepath.Dir(path))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), ".Xauthority"), file, 0o600))
	assert.Equal(t, "this one's right", string(at.Cookie()))
}
