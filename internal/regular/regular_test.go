//go:build unix

package regular

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRead: what would not end, is too large or is not there is told at once.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, link, endless, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "endless"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("x"), 10), 0o600))
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, os.Symlink("/dev/zero", endless))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{file, link} {
		data, err := Read(path, 10)
		require.NoError(t, err)
		assert.Equal(t, "xxxxxxxxxx", string(data))
	}
	for path, want := range map[string]string{dir: "not a regular file", endless: "not a regular file", pipe: "not a regular file", file: "more than 9 bytes"} {
		_, err := Read(path, 9)
		require.ErrorContains(t, err, want, path)
	}
	_, err := Read(filepath.Join(dir, "none"), 9)
	require.ErrorIs(t, err, os.ErrNotExist)
}
