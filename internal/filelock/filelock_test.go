//go:build unix

package filelock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A file has one writer, and none once it is closed, though another process has it open
// still: one that was started at that moment, and does not run its own program yet.
func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		return f
	}
	f, other := open(), open()
	defer other.Close()
	assert.False(t, Locked(other))
	require.NoError(t, Lock(f))
	assert.True(t, Locked(other))
	require.ErrorIs(t, Lock(other), ErrLocked)

	inherited, err := unix.Dup(int(f.Fd())) // what fork(2) does with it
	require.NoError(t, err)
	defer unix.Close(inherited)
	require.NoError(t, Close(f))
	assert.False(t, Locked(other))
	require.NoError(t, Lock(other))
	assert.Error(t, Close(f), "it is closed already")
}
