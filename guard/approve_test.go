package guard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// A fakeScreen is a desktop of which only that it changed is known.
type fakeScreen struct {
	run.Desktop
	changed bool
}

func (f *fakeScreen) Capture(context.Context) (run.Capture, error) { return run.Capture{}, nil }
func (f *fakeScreen) WindowChange(_, _ run.Capture) string         { return "" }
func (f *fakeScreen) Surprise(context.Context, run.Aim) string {
	if f.changed {
		return "it looks different"
	}
	return ""
}

func answers(list ...guard.Answer) (guard.Approver, *[]guard.Approval) {
	var asked []guard.Approval
	return func(_ context.Context, q guard.Approval) (guard.Answer, error) {
		asked = append(asked, q)
		if len(asked) > len(list) {
			return guard.Answer{}, errors.New("asked too often")
		}
		return list[len(asked)-1], nil
	}, &asked
}

func TestApproval(t *testing.T) {
	yes, always, no := guard.Answer{Yes: true}, guard.Answer{Yes: true, Always: true}, guard.Answer{Reason: "keep it"}
	undoable := loses(true)
	undoable.Undoable = true
	for _, tt := range []struct {
		name   string
		mode   guard.Mode
		see    worldmodel.Foresight
		answer []guard.Answer
		asked  int
		err    string // part of why it is refused; "" if it is allowed
	}{
		{"never: the guard decides", guard.Never, loses(true), nil, 0, ""},
		{"never: nor is a refusal asked about", guard.Never, loses(false), []guard.Answer{yes}, 0, "the task does not ask for it"},
		{"risky: what cannot be undone", guard.Risky, loses(true), []guard.Answer{yes}, 1, ""},
		{"risky: what would be refused", guard.Risky, loses(false), []guard.Answer{yes}, 1, ""},
		{"risky: what can be undone is not asked about", guard.Risky, undoable, nil, 0, ""},
		{"always: that too", guard.Always, undoable, []guard.Answer{yes}, 1, ""},
		{"no, with a reason that the actor reads", guard.Risky, loses(true), []guard.Answer{no}, 1, "a person said no: keep it"},
		{"always for this kind", guard.Risky, loses(true), []guard.Answer{always}, 1, ""},
		{"nobody can be asked", guard.Risky, loses(true), nil, 0, "nobody can be asked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ask, asked := answers(tt.answer...)
			g := started(t, &guard.Guard{World: sees(tt.see), Approve: tt.mode}, cleanUp)
			if tt.answer != nil {
				g.Ask = ask
			}
			stopped, resumed := 0, 0
			g.Pause = func() func() { stopped++; return func() { resumed++ } }
			ruling, err := g.Allow(t.Context(), shiftDelete())
			assert.Len(t, *asked, tt.asked)
			assert.Equal(t, tt.asked, stopped, "the run's clock stops while a person thinks")
			assert.Equal(t, stopped, resumed)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
			} else {
				require.NoError(t, err)
			}
			if tt.asked > 0 && tt.err == "" {
				assert.Equal(t, "approval", ruling.By)
				q := (*asked)[0]
				assert.Equal(t, cleanUp, q.Task)
				assert.Equal(t, worldmodel.EffectDelete, q.Effect)
				assert.Contains(t, q.Target, "Archive")
				assert.Equal(t, "f0001", q.FrameID)
			}
		})
	}
}

// TestAlwaysIsForTheKind holds that a person is asked once about a kind that they
// allowed for the run, and again about another thing, or in another run.
func TestAlwaysIsForTheKind(t *testing.T) {
	ask, asked := answers(guard.Answer{Yes: true, Always: true}, guard.Answer{Yes: true}, guard.Answer{Yes: true})
	g := started(t, &guard.Guard{World: sees(loses(true)), Approve: guard.Always, Ask: ask}, cleanUp)
	for range 3 {
		_, err := g.Allow(t.Context(), shiftDelete())
		require.NoError(t, err)
	}
	assert.Len(t, *asked, 1)
	other := shiftDelete()
	other.On.Tree.Nodes[1].Name = "Letters"
	_, err := g.Allow(t.Context(), other)
	require.NoError(t, err)
	assert.Len(t, *asked, 2)
	g.Start(t.Context(), cleanUp)
	_, err = g.Allow(t.Context(), shiftDelete())
	require.NoError(t, err)
	assert.Len(t, *asked, 3, "another run")
}

// TestApprovalCountsOnce holds that a yes is for the action that was asked about, once: the
// same again asks again, and a second answer to one question changes nothing.
func TestApprovalCountsOnce(t *testing.T) {
	ask, asked := answers(guard.Answer{Yes: true}, guard.Answer{Reason: "once is enough"})
	g := started(t, &guard.Guard{World: sees(loses(true)), Approve: guard.Risky, Ask: ask}, cleanUp)
	_, err := g.Allow(t.Context(), shiftDelete())
	require.NoError(t, err)
	_, err = g.Allow(t.Context(), shiftDelete())
	require.ErrorContains(t, err, "once is enough")
	assert.Len(t, *asked, 2)
	_, err = g.Allow(t.Context(), shiftDelete())
	require.ErrorContains(t, err, "once is enough", "what a person refused binds, and they are not asked again")
	assert.Len(t, *asked, 2)
}

// TestApprovalExpires holds that a yes counts only in time, and for the screen on
// which it was asked.
func TestApprovalExpires(t *testing.T) {
	desk := &fakeScreen{}
	g := started(t, &guard.Guard{World: sees(loses(true)), Approve: guard.Risky, Desktop: desk}, cleanUp)
	g.Ask = func(context.Context, guard.Approval) (guard.Answer, error) {
		desk.changed = true
		return guard.Answer{Yes: true}, nil
	}
	_, err := g.Allow(t.Context(), shiftDelete())
	require.ErrorContains(t, err, "the screen changed while a person was asked")
	g.Ask = func(context.Context, guard.Approval) (guard.Answer, error) {
		desk.changed = false
		return guard.Answer{Yes: true}, nil
	}
	_, err = g.Allow(t.Context(), shiftDelete())
	require.NoError(t, err, "it may be asked again")

	synctest.Test(t, func(t *testing.T) {
		g := started(t, &guard.Guard{World: sees(loses(true)), Approve: guard.Risky, ApprovalLimit: time.Minute}, cleanUp)
		late := make(chan struct{})
		g.Ask = func(context.Context, guard.Approval) (guard.Answer, error) {
			<-late // does not even look at its context
			return guard.Answer{Yes: true}, nil
		}
		began := time.Now()
		_, err := g.Allow(t.Context(), shiftDelete())
		require.ErrorContains(t, err, "nobody approved it within 1m0s")
		assert.Equal(t, time.Minute, time.Since(began))
		close(late) // an answer after that changes nothing
		synctest.Wait()
		_, err = g.Allow(t.Context(), shiftDelete())
		require.NoError(t, err, "it may be asked again")
	})
}

// TestUnansweredDoesNotBind holds that what nobody answered in time, or too late, is asked
// about again, whatever the guard would have decided alone, also by a guard that is told what
// was ruled; but it counts.
func TestUnansweredDoesNotBind(t *testing.T) {
	for _, asked := range []bool{true, false} { // whether the task asks for it
		for _, changed := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				desk, no := &fakeScreen{}, false
				g := started(t, &guard.Guard{World: sees(loses(asked)), Approve: guard.Risky, ApprovalLimit: time.Minute, Desktop: desk}, cleanUp)
				g.Ask = func(ctx context.Context, _ guard.Approval) (guard.Answer, error) {
					if no {
						return guard.Answer{Reason: "keep it"}, nil
					}
					if desk.changed = changed; !changed {
						<-ctx.Done()
					}
					return guard.Answer{Yes: true}, nil
				}
				late, err := g.Allow(t.Context(), shiftDelete())
				require.Error(t, err)
				assert.Equal(t, "no answer", late.By)
				assert.Equal(t, 1, late.Times)
				heir := started(t, &guard.Guard{World: g.World, Approve: guard.Risky, Ask: g.Ask}, cleanUp)
				heir.Recall(shiftDelete(), late)
				synctest.Wait() // who was asked goes on for a moment when nobody waits any more
				no, desk.changed = true, false
				for _, g := range []*guard.Guard{g, heir} {
					ruling, err := g.Allow(t.Context(), shiftDelete())
					require.ErrorContains(t, err, "a person said no: keep it")
					assert.Equal(t, 2, ruling.Times)
				}
			})
		}
	}
}

// TestApprovalOfARunThatEnds holds that nothing is held against an action about which a
// person was asked when the run ended.
func TestApprovalOfARunThatEnds(t *testing.T) {
	for _, doubt := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			stopped := errors.New("the run was stopped")
			g := started(t, &guard.Guard{World: sees(loses(true)), Approve: guard.Risky}, cleanUp)
			if doubt {
				g.Doubt(shiftDelete())
			}
			g.Ask = func(asked context.Context, _ guard.Approval) (guard.Answer, error) {
				cancel(stopped)
				<-asked.Done()
				return guard.Answer{}, asked.Err()
			}
			ruling, err := g.Allow(ctx, shiftDelete())
			require.ErrorIs(t, err, stopped)
			assert.Empty(t, ruling)
			g.Ask = func(context.Context, guard.Approval) (guard.Answer, error) { return guard.Answer{}, nil }
			ruling, err = g.Allow(t.Context(), shiftDelete())
			require.ErrorContains(t, err, "a person said no")
			assert.Equal(t, 1, ruling.Times)
		})
	}
}

// TestApprovalEdit has a person choose another action: that one is done in place of what
// was asked about, and nothing else, also where that may have been done already; it counts
// with its own effect. What is no input, or comes when the screen has changed, is not done.
func TestApprovalEdit(t *testing.T) {
	esc := actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}
	for _, tt := range []struct {
		name    string
		instead actuator.Action
		changed bool
		doubt   bool // an earlier program was about to do what is asked about
		err     string
		effect  worldmodel.Effect
		final   bool
	}{
		{"a key", esc, false, false, "", worldmodel.EffectNavigate, false},
		{"a shortcut of the system", press("ctrl", "alt", "delete"), false, false, "", worldmodel.EffectExecute, true},
		{"nothing that mouse and keyboard do", actuator.Done{}, false, false, "nothing that mouse and keyboard do", "", false},
		{"too late", esc, true, false, "the screen changed", "", false},
		{"a key, in doubt", esc, false, true, "", worldmodel.EffectNavigate, false},
		{"in doubt, nothing that mouse and keyboard do", actuator.Done{}, false, true, "nothing that mouse and keyboard do", "", false},
		{"in doubt, too late", esc, true, true, "the screen changed", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			screen, journal := &fakeScreen{}, &run.Memory{}
			g := started(t, &guard.Guard{World: sees(loses(false)), Approve: guard.Risky, Desktop: screen}, cleanUp)
			g.Ask = func(context.Context, guard.Approval) (guard.Answer, error) {
				screen.changed = tt.changed
				return guard.Answer{Instead: tt.instead}, nil
			}
			if tt.doubt {
				g.Doubt(shiftDelete())
			}
			scope := run.NewRecorder(journal, nil).Scope(run.Where{})
			require.NoError(t, scope.Emit(t.Context(), run.RunStarted{Schema: run.Schema, Task: cleanUp}))
			require.NoError(t, scope.Emit(t.Context(), run.Planned{}))
			scope.Turn()
			hand := run.NewHand(&runtest.Desktop{}, scope, g)
			act, err := hand.Do(t.Context(), shiftDelete())
			require.NoError(t, err)
			if tt.err != "" {
				assert.Equal(t, actuator.Refused, act.Status)
				assert.Contains(t, act.Detail, tt.err)
				assert.Empty(t, runtest.All[run.Acting](journal.Events()))
				return
			}
			assert.Equal(t, actuator.Delivered, act.Status)
			assert.True(t, act.Edited)
			assert.Equal(t, tt.instead, act.Action)
			acting := runtest.All[run.Acting](journal.Events())
			require.Len(t, acting, 1)
			assert.Equal(t, tt.instead, acting[0].Action.Action)
			ruled := runtest.All[run.Guarded](journal.Events())[0]
			assert.True(t, ruled.Allowed)
			assert.Equal(t, "approval", ruled.By)
			assert.Equal(t, run.ChoseAnother, ruled.Reason)
			assert.Nil(t, ruled.Foresight)
			var begun run.Begun
			for _, e := range journal.Events() {
				begun.Add(e)
			}
			effect, final, _ := hand.Attempted()
			assert.Equal(t, tt.effect, effect)
			assert.Equal(t, tt.final, final)
			effect, final = begun.Open[""].Attempted()
			assert.Equal(t, tt.effect, effect)
			assert.Equal(t, tt.final, final)
			g.Ask = nil
			ruled, err = g.Allow(t.Context(), shiftDelete())
			require.Error(t, err, "of that one nothing was said")
			assert.Equal(t, tt.doubt, ruled.By == "in doubt", ruled.By)
		})
	}
}
