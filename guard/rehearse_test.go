package guard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// TestRehearsalHoldsBack holds what a rehearsal may do: by name and by effect what the
// verdict on the task blocks is held back, though the task asks for it and a person would
// allow it; the rest is ruled on as always, and files of the discarded desktop are free.
func TestRehearsalHoldsBack(t *testing.T) {
	const task = "Send the report, and delete the folder Archive"
	effects := func(list ...worldmodel.Effect) run.TaskJudged {
		return run.TaskJudged{Irreversible: true, Effects: list}
	}
	asked := func(e worldmodel.Effect, undoable bool) worldmodel.Foresight {
		return worldmodel.Foresight{Effect: e, Undoable: undoable, Asked: true, TaskWords: "Send the report"}
	}
	send := button("foo", "normal", "Mail", "Send")
	switched := button("foo", "dialog", "Settings", "Frobnicate")
	tool := run.Intent{Action: actuator.CallTool{Tool: "note", Arguments: "{}"}, Effect: worldmodel.EffectEdit, Source: run.FromModel}
	looks := run.Intent{Action: actuator.CallTool{Tool: "read", Arguments: "{}"}, Effect: worldmodel.EffectNone, Source: run.FromModel}
	for _, tt := range []struct {
		name   string
		judged run.TaskJudged
		in     run.Intent
		see    worldmodel.Foresight
		free   bool   // the desktop is a workspace
		by     string // that refuses; "" if it is allowed
		calls  int    // of who foresees
	}{
		{"what the verdict names", effects("send"), send, asked("send", false), false, guard.ByRehearsal, 0},
		{"though it could be undone", effects("send"), send, asked("send", true), false, guard.ByRehearsal, 0},
		{"what is foreseen as such", effects("send"), switched, asked("send", false), false, guard.ByRehearsal, 1},
		{"another effect, that can be undone", effects("send"), switched, asked("modify_external", true), false, "", 1},
		{"another effect, that cannot", effects("send"), switched, asked("modify_external", false), false, "irreversibility", 1},
		{"an edit", effects("send"), switched, asked("edit", true), false, "", 1},
		{"a verdict that names nothing", run.TaskJudged{Irreversible: true}, send, asked("send", true), false, guard.ByRehearsal, 0},
		{"and an edit", run.TaskJudged{Irreversible: true}, switched, asked("edit", true), false, "", 1},
		{"by the name of the tool", run.TaskJudged{Irreversible: true, Tools: []string{guard.Computer}}, switched, asked("edit", true), false, guard.ByRehearsal, 0},
		{"files of the discarded desktop", effects("delete"), shiftDelete(), loses(true), true, "", 0},
		{"files that are not", effects("delete"), shiftDelete(), loses(true), false, guard.ByRehearsal, 0},
		{"what the table knows to be harmless", effects("send"), run.Intent{Action: actuator.Scroll{DY: 1}}, asked("none", true), false, "", 0},
		{"a tool that changes something", effects("send"), tool, asked("edit", true), true, guard.ByRehearsal, 0},
		{"a tool that the verdict names", run.TaskJudged{Irreversible: true, Tools: []string{"read"}}, looks, asked("none", true), true, guard.ByRehearsal, 0},
		{"a tool that looks", effects("send"), looks, asked("none", true), true, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sees(tt.see)
			ask, questions := answers(guard.Answer{Yes: true}, guard.Answer{Yes: true})
			g := &guard.Guard{World: s, Approve: guard.Always, Ask: ask}
			if tt.free {
				g.Workspace = &guard.Workspace{Home: "/home/user"}
			}
			g.Rehearse(task, tt.judged)
			g.Start(t.Context(), "another text, which a rehearsal is given")
			assert.Equal(t, &tt.judged, g.Judged(t.Context()), "nothing is judged anew")
			_, err := g.Preview(t.Context(), tt.in)
			assert.Equal(t, tt.by == "", err == nil, "what is held back is known before it is chosen: %v", err)
			assert.Empty(t, g.Held(), "nothing was tried")
			for i := range 2 {
				ruling, err := g.Allow(t.Context(), tt.in)
				assert.Empty(t, *questions, "nobody is asked")
				if tt.by == "" {
					require.NoError(t, err)
					assert.Empty(t, g.Held())
					continue
				}
				var b *guard.Block
				require.ErrorAs(t, err, &b)
				assert.Equal(t, tt.by, b.By, b.Reason)
				assert.Equal(t, i+1, ruling.Times)
				if tt.by == guard.ByRehearsal {
					require.Len(t, g.Held(), 1, "each once")
					assert.ErrorContains(t, err, "This is a rehearsal: that is done once, later")
				}
			}
			if tt.by == "" || tt.by == guard.ByRehearsal {
				tt.calls *= 2
			}
			assert.Len(t, s.asked, tt.calls)
			for _, r := range s.asked {
				assert.Equal(t, task, r.Task, "the user's own words")
			}
		})
	}
}
