//go:build linux

package sandbox_test

import (
	"os"
	"testing"

	"desktop-agent/sandbox"

	"github.com/stretchr/testify/require"
)

func TestOpenAndClose(t *testing.T) {
	d, err := sandbox.Start(t.Context(), nil)
	require.NoError(t, err)
	defer d.Close()
	require.Regexp(t, `^:\d+$`, d.Display())
	p, err := d.Open(t.Context(), "mousepad")
	require.NoError(t, err)
	require.NotZero(t, p.Window())
	home := d.Home()
	require.DirExists(t, home)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "a second call changes nothing")
	require.NoDirExists(t, home)
	_, err = os.FindProcess(p.PID())
	require.NoError(t, err)
	require.ErrorIs(t, d.Err(), sandbox.ErrClosed)
}
