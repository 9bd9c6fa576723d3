//go:build unix

package dialect

import (
	"image"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
)

// processorTime returns the processor time that this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestLong holds that a reply of 10 MB is refused without being read, and one that is just
// not too long is refused soon, whatever it repeats: soon by the processor's time, as a
// busy machine takes its own.
func TestLong(t *testing.T) {
	bounds := image.Rectangle{Max: full}
	huge := strings.Repeat("Action: wait()\n", 10<<20/15)
	for _, d := range All() {
		_, err := d.Parser().Parse(actuator.Reply{Text: huge}, bounds)
		require.ErrorContains(t, err, "bytes and was not read", d.Name)
		_, err = d.Parser().Parse(actuator.Reply{Calls: []actuator.Call{{Name: "computer_use", Arguments: huge}}}, bounds)
		require.ErrorContains(t, err, "bytes and was not read", d.Name)
	}
	for _, part := range []string{"a", "{", `{"a":`, "'", "<tool_call>", "<function=a>", "click(", "click(a='", "Action: ", "<|begin_of_box|>", "<think>", "<parameter=a>", "(", "\n", "Memory:", "```", " ' "} {
		text := strings.Repeat(part, actuator.MaxReply/len(part))
		for name := range strings.FieldsSeq("ui-tars-1.5 ui-tars-2 evocua glm-4.5v opencua holo2 fara") {
			began := processorTime(t)
			_, err := Named(name).Parser().Parse(actuator.Reply{Text: text}, bounds)
			require.Error(t, err, "%s: %q", name, part)
			require.Less(t, len(err.Error()), 3000, "%s: %q", name, part)
			require.Less(t, processorTime(t)-began, 5*time.Second, "%s: %q", name, part)
		}
	}
}
