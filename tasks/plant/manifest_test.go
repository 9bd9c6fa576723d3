package plant

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyBytes is more than a file is read of before it is asked again whether to go on.
const manyBytes = 64 << 20

// TestManifest: what is looked at of a home are the user's files and what starts by
// itself, not what programs keep for themselves, of which there may be anything.
func TestManifest(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"a", "Documents/b", ".config/autostart/c", ".config/chromium/d", ".cache/e/f", ".cache/e/g"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(name), 0o600))
	}
	require.NoError(t, os.Symlink("a", filepath.Join(home, "link")))
	most := bound{entries: 8, depth: 2, bytes: int64(len("aDocuments/b.config/autostart/c"))} // each folder is an entry, the home itself too
	list, err := manifest(t.Context(), home, most)
	require.NoError(t, err)
	assert.Equal(t, []string{".config/autostart/c", "Documents/b", "a", "link"}, slices.Sorted(maps.Keys(list)))
	assert.NotEqual(t, list["a"], list["Documents/b"])

	for want, less := range map[string]bound{
		"more than 7 files and folders": {entries: 7, depth: 2, bytes: most.bytes},
		"folders more than 1 deep":      {entries: 8, depth: 1, bytes: most.bytes},
		"too large":                     {entries: 8, depth: 2, bytes: most.bytes - 1},
	} {
		_, err := manifest(t.Context(), home, less)
		assert.ErrorContains(t, err, want)
	}
}

// TestManifestEnds: a user who stops a trial does not wait for its files, whether they
// are many or one is large.
func TestManifestEnds(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "holes")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, manyBytes))
	stopped := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	list, err := manifest(ctx, home, homeBound)
	assert.ErrorIs(t, err, stopped)
	assert.Empty(t, list)

	root, err := os.OpenRoot(home)
	require.NoError(t, err)
	defer root.Close()
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	_, size, err := hash(ctx, root, "holes", entries[0], manyBytes)
	assert.ErrorIs(t, err, stopped)
	assert.Less(t, size, int64(manyBytes), "it is left in the middle")
	_, size, err = hash(t.Context(), root, "holes", entries[0], manyBytes-1)
	assert.ErrorContains(t, err, "too large")
	assert.LessOrEqual(t, size, int64(manyBytes))
	_, size, err = hash(t.Context(), root, "holes", entries[0], manyBytes)
	require.NoError(t, err)
	assert.Equal(t, int64(manyBytes), size)
}
