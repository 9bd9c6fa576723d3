//go:build linux

package env_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"desktop-agent/tasks/env"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// Environments start, work and end side by side.
func TestManyAtOnce(t *testing.T) {
	var all errgroup.Group
	for i := range 4 {
		all.Go(func() error {
			for range 3 {
				e, err := env.Start(t.Context(), nil)
				if err != nil {
					return err
				}
				out, err := e.Run(t.Context(), env.Command{Args: []string{fmt.Sprintf("echo %d > n; cat n", i)}, Shell: true})
				assert.Equal(t, fmt.Sprintf("%d\n", i), string(out.Stdout))
				assert.NoError(t, err)
				if err := e.Close(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
}

// Commands and connections that have ended hold no descriptors.
func TestDescriptors(t *testing.T) {
	e := start(t, nil)
	count := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(open)
	}
	run(t, e, "true")
	before := count()
	for range 30 {
		run(t, e, "true")
		_, err := e.Dial(t.Context(), "127.0.0.1:9")
		require.Error(t, err)
	}
	require.Eventually(t, func() bool { return count() < before+5 }, time.Minute, 20*time.Millisecond)
}
