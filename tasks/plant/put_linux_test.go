package plant

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"desktop-agent/tasks/env"
	"desktop-agent/tasks/env/envtest"
)

// TestPutStaysInside: programs of a task that put a link in the place of a folder at any
// moment have nothing of this machine written, nor its rights changed.
func TestPutStaysInside(t *testing.T) {
	e := envtest.Start(t, nil)
	home, err := e.Host(env.Home)
	require.NoError(t, err)
	outside := t.TempDir()
	theirs := filepath.Join(outside, "crontab")
	require.NoError(t, os.WriteFile(theirs, []byte("theirs"), 0o600))
	folder, link := filepath.Join(home, "bin"), filepath.Join(home, "link")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.Symlink(outside, link))
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
				assert.NoError(t, unix.Renameat2(unix.AT_FDCWD, folder, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE))
			}
		}
	}()
	written := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		if putMode(e, "/home/user/bin/crontab", "ours", 0o755) == nil {
			written++
		}
	}
	close(done)
	<-stopped
	text, err := os.ReadFile(theirs)
	require.NoError(t, err)
	info, err := os.Stat(theirs)
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(text))
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	assert.Positive(t, written, "the probe writes at times")
}

// TestPipeInTheWay: a file that becomes a pipe while files are looked at is not waited for.
func TestPipeInTheWay(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, root.WriteFile("file", []byte("text"), 0o600))
	info, err := root.Stat("file")
	require.NoError(t, err)
	sum, _, err := hash(t.Context(), root, "file", fs.FileInfoToDirEntry(info), 4)
	require.NoError(t, err)
	require.NoError(t, root.Remove("file"))
	require.NoError(t, unix.Mkfifo(filepath.Join(root.Name(), "file"), 0o600))
	piped, _, err := hash(t.Context(), root, "file", fs.FileInfoToDirEntry(info), 4)
	require.NoError(t, err)
	assert.NotEqual(t, sum, piped)
	assert.Equal(t, fs.ModeNamedPipe.String(), piped)
}
