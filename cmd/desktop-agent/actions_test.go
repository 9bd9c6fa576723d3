package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// TestEveryAction shows an example of each type of action to a person, as it was done, was not
// done, and was refused. What else is done with actions is a test of this name at the root.
func TestEveryAction(t *testing.T) {
	for _, v := range actuator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			fields, err := actuatortest.Fill(v.Schema)
			require.NoError(t, err)
			a, err := actuator.Decode(v.Name, fields)
			require.NoError(t, err)
			dir := t.TempDir()
			j, err := replay.Create(dir)
			require.NoError(t, err)
			var out bytes.Buffer
			p := newProgress(&out, 9, true)
			watch := func(step int, data run.EventData) {
				require.NoError(t, j.Append(t.Context(), step, data))
				p.Watch(run.Event{Step: step, Data: data})
			}
			recorded := run.Recorded{Action: a}
			proposed := run.Proposed{FrameID: "f0001", Actions: []run.Recorded{recorded}}
			watch(0, run.RunStarted{Schema: run.Schema, Task: "Do it"})
			watch(0, run.Observed{FrameID: "f0001"})
			watch(1, proposed)
			watch(1, run.Acting{Action: recorded})
			doing := p.now
			watch(1, run.Acted{Status: actuator.Delivered})
			watch(2, proposed)
			watch(3, proposed)
			watch(3, run.Refused{Action: recorded, Guard: "test", Reason: "no"})
			watch(3, run.RunEnded{Outcome: run.OutcomeStopped, Steps: 3})
			require.NoError(t, j.Close())

			show := func(more ...string) string {
				code, out, errs := agentSays(t, dir, append([]string{"show", "last"}, more...)...)
				require.Zero(t, code, errs)
				return out
			}
			words, full := printable(actuator.Describe(a)), printable(actuator.DescribeFull(a))
			_, typed := actuator.Entered(a)
			check := func(place, text, words string, hides bool, lines ...string) {
				for _, line := range lines {
					if line = strings.ReplaceAll(line, "ACTION", words); !strings.Contains(text, line) {
						t.Errorf("%s does not know %s: %q is not in %s", place, v.Name, line, text)
					}
				}
				if hides && typed && strings.Contains(text, "pass") {
					t.Errorf("%s does not know %s: its text shows in %s", place, v.Name, text)
				}
			}
			lines := []string{"did: ACTION → delivered", "did: ACTION → not performed", "refused to ACTION"}
			check("runs show", show(), words, true, lines...)
			check("runs show --typed", show("--typed"), full, false, lines...)
			check("progress", out.String(), words, true, "   1  ACTION\n", "   2  ACTION\n", "the guard refused to ACTION: no\n")
			check("the status line", doing, actuator.Describe(a), true, "ACTION")
		})
	}
}
