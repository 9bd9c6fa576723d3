//go:build linux

package trial_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/tasks/trial"
)

// TestHostileScripts: a script that would not end, would not begin or is too large is
// refused at once.
func TestHostileScripts(t *testing.T) {
	for want, lay := range map[string]func(name string) error{
		"is not a regular file":    func(name string) error { return os.Symlink("/dev/zero", name) },
		"not a regular file":       func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"more than 1048576 bytes":  func(name string) error { return os.WriteFile(name, bytes.Repeat([]byte(" "), 1<<20+1), 0o600) },
		"no such file":             func(string) error { return nil },
		"unexpected end of JSON":   func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"many levels of symbolic ": func(name string) error { return os.Symlink(filepath.Base(name), name) },
	} {
		task := written(t).Tasks[0]
		folder := filepath.Join(task.Dir, "solutions")
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, lay(filepath.Join(folder, task.FileID()+".json")))
		_, err := trial.ReadScript(task)
		require.ErrorContains(t, err, want)
	}
}
