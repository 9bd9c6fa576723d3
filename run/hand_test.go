package run_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// A device notes what it is asked to do.
type device struct {
	did []actuator.Action
	err error
	do  func()
}

func (d *device) Do(_ context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	d.did = append(d.did, a)
	if d.do != nil {
		d.do()
	}
	return "output", d.err
}

type whole struct{}

func (whole) Bounds() image.Rectangle            { return image.Rect(0, 0, 100, 100) }
func (whole) ToDevice(p image.Point) image.Point { return p.Mul(2) }

// A guard answers by a function.
type guard func(context.Context, run.Intent) error

func (guard) Name() string { return "test" }
func (g guard) Allow(ctx context.Context, in run.Intent) (run.Guarded, error) {
	return run.Guarded{}, g(ctx, in)
}

var click = actuator.Click{At: &actuator.Point{X: 10, Y: 20}, Button: actuator.Left, Count: 1}

func newHand(d *device, g run.Guard) (*run.Hand, *run.Memory) {
	m := &run.Memory{}
	return run.NewHand(d, run.NewRecorder(m, nil).Scope(run.Where{Agent: "agent", Display: ":1", PlanStep: 2}), g), m
}

// kinds returns the kinds of the events, joined.
func kinds(m *run.Memory) (text string) {
	for _, e := range m.Events() {
		text += e.Kind + " "
	}
	return text
}

// TestHand holds the one way of an action, and what becomes of it.
func TestHand(t *testing.T) {
	for _, tt := range []struct {
		name      string
		guard     run.Guard
		err       error
		unchanged bool
		did       int
		status    actuator.Status
		detail    string
		kinds     string
	}{
		{"no guard", nil, nil, false, 1, actuator.Delivered, "", "acting acted "},
		{"allowed", guard(func(context.Context, run.Intent) error { return nil }), nil, false, 1, actuator.Delivered, "", "acting acted "},
		{"without an effect", nil, nil, true, 1, actuator.NoEffect, "", "acting acted "},
		{"refused by the guard", guard(func(context.Context, run.Intent) error { return errors.New("it sends a mail") }), nil, true, 0,
			actuator.Refused, "it sends a mail", "refused "},
		{"a guard that panics", guard(func(context.Context, run.Intent) error { panic("nil map") }), nil, true, 0,
			actuator.Refused, "the guard broke: nil map", "refused "},
		{"a guard that is a nil function", guard(nil), nil, true, 0,
			actuator.Refused, "the guard broke: runtime error: invalid memory address or nil pointer dereference", "refused "},
		{"refused by the device", nil, fmt.Errorf("%w: outside", actuator.ErrRefused), true, 1, actuator.Refused, "outside", "acting acted "},
		{"nobody knows", nil, errors.New("the display is slow"), true, 1, actuator.Unknown, "the display is slow", "acting acted "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &device{err: tt.err}
			h, m := newHand(d, tt.guard)
			act, err := h.Do(t.Context(), run.Intent{Action: click, Frame: whole{}, Index: 3})
			require.NoError(t, err)
			require.NoError(t, act.Close(t.Context(), func() bool { return tt.unchanged }))
			require.NoError(t, act.Close(t.Context(), nil), "it has its last event")
			assert.Len(t, d.did, tt.did)
			assert.Equal(t, tt.status, act.Status)
			assert.Equal(t, tt.detail, act.Detail)
			require.Equal(t, tt.kinds, kinds(m))
			for _, e := range m.Events() {
				assert.Equal(t, []any{"agent", ":1", 2}, []any{e.Agent, e.Display, e.PlanStep})
				switch data := e.Data.(type) {
				case run.Acting:
					assert.Equal(t, []image.Point{{X: 20, Y: 40}}, data.Device)
				case run.Refused:
					assert.Equal(t, []image.Point{{X: 20, Y: 40}}, data.Device)
					assert.Equal(t, "test", data.Guard)
					assert.Equal(t, tt.detail, data.Reason)
				}
			}
		})
	}
}

// TestGuardThatHangs holds that an action is refused when the guard says nothing
// for too long, and that what it says later changes nothing.
func TestGuardThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &device{}
		h, m := newHand(d, guard(func(context.Context, run.Intent) error {
			time.Sleep(time.Hour) // and minds no context
			return nil
		}))
		act, err := h.Do(t.Context(), run.Intent{Action: click, Frame: whole{}})
		require.NoError(t, err)
		assert.Equal(t, "the guard gave no answer within 10m0s", act.Detail)
		time.Sleep(2 * time.Hour)
		assert.Empty(t, d.did)
		assert.Equal(t, "refused ", kinds(m))
	})
}

// A starter is a guard that allows everything, and does by functions all that a guard does
// beside.
type starter struct {
	guard
	start, missed func()
	judged        func(context.Context) *run.TaskJudged
}

func newStarter() *starter {
	return &starter{
		guard: func(context.Context, run.Intent) error { return nil },
		start: func() {}, missed: func() {},
		judged: func(context.Context) *run.TaskJudged { return &run.TaskJudged{Reason: "harmless"} },
	}
}

func (s *starter) Start(context.Context, string)              { s.start() }
func (s *starter) Missed()                                    { s.missed() }
func (s *starter) Judged(ctx context.Context) *run.TaskJudged { return s.judged(ctx) }

// breaks are the ways in which a guard breaks, with what is told of them.
var breaks = []struct {
	name string
	how  func()
	told string
}{
	{"panics", func() { panic("nil map") }, "the guard broke: nil map"},
	{"hangs", func() { time.Sleep(time.Hour) }, "the guard gave no answer within 10m0s"}, // and minds no context
}

// TestGuardThatBreaksAtStart holds that a guard allows nothing which broke when it was told
// the task, until it is told another one.
func TestGuardThatBreaksAtStart(t *testing.T) {
	for _, tt := range breaks {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, d := newStarter(), &device{}
				var mended atomic.Bool
				g.start = func() {
					if !mended.Load() {
						tt.how()
					}
				}
				h, m := newHand(d, g)
				began := time.Now()
				h.Begin(t.Context(), "x")
				assert.LessOrEqual(t, time.Since(began), run.DefaultGuardLimit)
				for range 2 {
					act, err := h.Do(t.Context(), run.Intent{Action: click, Frame: whole{}})
					require.NoError(t, err)
					assert.Equal(t, actuator.Refused, act.Status)
					assert.Equal(t, tt.told, act.Detail)
				}
				_, err := h.Judged(t.Context())
				require.EqualError(t, err, tt.told)
				_, err = h.Beside(h.Scope).Judged(t.Context())
				require.EqualError(t, err, tt.told, "the hands of a run have one guard")
				assert.Empty(t, d.did)
				mended.Store(true)
				h.Begin(t.Context(), "y")
				require.NoError(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}))
				assert.Equal(t, "refused refused task_judged acting acted ", kinds(m))
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestGuardThatBreaksOnTheTask holds that nothing is done before the guard has said what it
// makes of the task, and that this is written as soon as it does.
func TestGuardThatBreaksOnTheTask(t *testing.T) {
	for _, tt := range breaks {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, d := newStarter(), &device{}
				well := g.judged
				var mended atomic.Bool
				g.judged = func(ctx context.Context) *run.TaskJudged {
					if !mended.Load() {
						tt.how()
					}
					return well(ctx)
				}
				h, m := newHand(d, g)
				h.Begin(t.Context(), "x")
				act, err := h.Do(t.Context(), run.Intent{Action: click, Frame: whole{}})
				require.NoError(t, err)
				assert.Equal(t, actuator.Refused, act.Status)
				assert.Equal(t, tt.told, act.Detail)
				_, err = h.Judged(t.Context())
				require.EqualError(t, err, tt.told)
				assert.Empty(t, d.did)
				mended.Store(true)
				require.NoError(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}))
				judged, err := h.Judged(t.Context())
				require.NoError(t, err)
				assert.Equal(t, "harmless", judged.Reason)
				assert.Equal(t, "refused task_judged acting acted ", kinds(m))
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestTaskJudgedAfterATimeout holds that what the guard makes of the task is not lost with a
// step that has no time to wait for it, and that such a step holds nobody up.
func TestTaskJudgedAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStarter()
		well := g.judged
		g.judged = func(ctx context.Context) *run.TaskJudged {
			time.Sleep(time.Minute)
			return well(ctx)
		}
		h, m := newHand(&device{}, g)
		h.Begin(t.Context(), "x")
		over := errors.New("the step took too long")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, over)
		defer cancel()
		_, err := h.Do(ctx, run.Intent{Action: click, Frame: whole{}})
		require.ErrorIs(t, err, over)
		assert.Empty(t, kinds(m))
		require.NoError(t, h.Beside(h.Scope).Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}))
		require.NoError(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}))
		assert.Equal(t, "task_judged acting acted acting acted ", kinds(m))
		time.Sleep(time.Minute)
	})
}

// TestGuardThatBreaksOnAMiss holds that the log tells of a guard that could not be told of a
// miss, and that it has the last word all the same.
func TestGuardThatBreaksOnAMiss(t *testing.T) {
	for _, tt := range breaks {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, d := newStarter(), &device{}
				g.missed = tt.how
				h, _ := newHand(d, g)
				var log strings.Builder
				h.Log = slog.New(slog.NewTextHandler(&log, nil))
				began := time.Now()
				h.Missed(t.Context())
				assert.LessOrEqual(t, time.Since(began), run.DefaultGuardLimit)
				assert.Contains(t, log.String(), tt.told)
				require.NoError(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}))
				g.guard = func(context.Context, run.Intent) error { return errors.New("no") }
				require.Error(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}))
				assert.Len(t, d.did, 1)
				time.Sleep(time.Hour)
			})
		})
	}
}

// A foreteller is a guard that allows everything, and breaks when it is asked before.
type foreteller struct {
	*starter
	how func()
}

func (f foreteller) Preview(context.Context, run.Intent) (run.Guarded, error) {
	f.how()
	return run.Guarded{}, nil
}

// TestGuardThatBreaksOnAPreview holds that what a guard would rule is waited for only so long,
// and that it has the last word all the same.
func TestGuardThatBreaksOnAPreview(t *testing.T) {
	for _, tt := range breaks {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &device{}
				h, _ := newHand(d, foreteller{newStarter(), tt.how})
				began := time.Now()
				_, err := h.Preview(t.Context(), run.Intent{Action: click, Frame: whole{}})
				require.EqualError(t, err, tt.told)
				assert.LessOrEqual(t, time.Since(began), run.DefaultGuardLimit)
				require.NoError(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}))
				assert.Len(t, d.did, 1)
				time.Sleep(time.Hour)
			})
		})
	}
}

// TestGuardSees holds what a guard is shown: the exact action, and what was done
// before it.
func TestGuardSees(t *testing.T) {
	var seen run.Intent
	h, _ := newHand(&device{}, guard(func(_ context.Context, in run.Intent) error { seen = in; return nil }))
	in := run.Intent{Action: actuator.Type{Text: "hunter2"}, Written: actuator.Type{Text: "•"}, Index: 1, Done: []actuator.Action{click}, Source: run.FromHealing}
	_, err := h.Do(t.Context(), in)
	require.NoError(t, err)
	in.Display = ":1" // where it will be performed, the hand knows
	assert.Equal(t, in, seen)
}

// TestWritten holds that a text which is withheld is not in the journal, also of an
// action that is refused.
func TestWritten(t *testing.T) {
	for _, g := range []run.Guard{nil, guard(func(context.Context, run.Intent) error { return errors.New("no") })} {
		h, m := newHand(&device{}, g)
		_, err := h.Do(t.Context(), run.Intent{Action: actuator.Type{Text: "hunter2"}, Written: actuator.Type{Text: "•"}})
		require.NoError(t, err)
		switch data := m.Events()[0].Data.(type) {
		case run.Acting:
			assert.Equal(t, actuator.Type{Text: "•"}, data.Action.Action)
		case run.Refused:
			assert.Equal(t, actuator.Type{Text: "•"}, data.Action.Action)
		}
	}
}

// A mailing toolbox has one tool, that sends.
type mailing struct{}

func (mailing) Offer() []run.Tool {
	return []run.Tool{{Tool: llm.Tool{Name: "mail"}, Effect: worldmodel.EffectSend}}
}
func (mailing) Do(context.Context, string, []byte) (string, error) { return "sent", nil }

// An editor is a guard by which a person chooses a key in place of each action.
type editor struct{ agreeable }

func (editor) Allow(context.Context, run.Intent) (run.Guarded, error) {
	return run.Guarded{Effect: worldmodel.EffectNavigate, By: "approval", Reason: run.ChoseAnother}, &run.Instead{Action: actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}}
}

// TestInsteadOfATool holds that a tool which a person declined was not attempted.
func TestInsteadOfATool(t *testing.T) {
	for _, tt := range []struct {
		guard run.Guard
		want  worldmodel.Effect
		final bool
	}{{nil, worldmodel.EffectSend, true}, {editor{}, worldmodel.EffectNavigate, false}} {
		h := runtest.Open(t, run.Settings{}, &run.Options{Desktop: &runtest.Desktop{}, Device: &device{}, Guard: tt.guard, Tools: mailing{}}).Hand
		require.NoError(t, h.Perform(t.Context(), run.Intent{Action: actuator.CallTool{Tool: "mail", Arguments: "{}"}}))
		effect, final, any := h.Attempted()
		assert.True(t, any)
		assert.Equal(t, tt.want, effect)
		assert.Equal(t, tt.final, final)
	}
}

// TestExemption holds that a guard is not asked under an exemption, and that the
// journal shows it.
func TestExemption(t *testing.T) {
	d := &device{}
	m := &run.Memory{}
	h := runtest.Open(t, run.Settings{}, &run.Options{
		Desktop: &runtest.Desktop{}, Device: d, Exempt: run.ExemptDoctor, Journal: func() (run.Journal, error) { return m, nil },
		Guard: guard(func(context.Context, run.Intent) error { return errors.New("no") }),
	}).Hand
	require.NoError(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}, Source: run.FromProgram}))
	assert.Len(t, d.did, 1)
	assert.Equal(t, run.ExemptDoctor, m.Events()[0].Data.(run.Acting).Exempt)
	assert.Equal(t, "none: doctor", h.GuardName())
}

// TestPerform holds that what was not done is an error where nobody looks.
func TestPerform(t *testing.T) {
	h, _ := newHand(&device{}, guard(func(context.Context, run.Intent) error { return errors.New("no") }))
	require.ErrorIs(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}), actuator.ErrRefused)
	slow := errors.New("the display is slow")
	h, _ = newHand(&device{err: slow}, nil)
	require.ErrorIs(t, h.Perform(t.Context(), run.Intent{Action: click, Frame: whole{}}), slow)
}

// TestNotRecordedNotDone holds that nothing is done which cannot be written.
func TestNotRecordedNotDone(t *testing.T) {
	d := &device{}
	h := run.NewHand(d, run.NewRecorder(runtest.Full("acting"), nil).Scope(run.Where{}), nil)
	_, err := h.Do(t.Context(), run.Intent{Action: click, Frame: whole{}})
	require.ErrorIs(t, err, run.ErrJournal)
	assert.Empty(t, d.did)
}

// TestHandOfNothing holds that a hand without a device, a journal or an action says
// so.
func TestHandOfNothing(t *testing.T) {
	in := run.Intent{Action: click, Frame: whole{}}
	_, err := (*run.Hand)(nil).Do(t.Context(), in)
	require.ErrorContains(t, err, "open a session (run.Open)")
	_, err = run.NewHand(&device{}, nil, nil).Do(t.Context(), in)
	require.ErrorIs(t, err, run.ErrJournal)
	h, _ := newHand(&device{}, nil)
	_, err = h.Do(t.Context(), run.Intent{})
	require.ErrorContains(t, err, "there is no action")
}

// TestCancelledWhileActing holds that what became of an action is not told where
// the run was stopped in the middle of it.
func TestCancelledWhileActing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("by the user")
	h, m := newHand(&device{err: context.Canceled, do: func() { cancel(stop) }}, nil)
	_, err := h.Do(ctx, run.Intent{Action: click, Frame: whole{}})
	require.ErrorIs(t, err, stop)
	assert.Equal(t, "acting ", kinds(m))
}

// A guard that hangs may hold the lock of its name, too.
type namelessGuard struct{ allows }

func (namelessGuard) Name() string { time.Sleep(time.Hour); return "late" }

type allows struct{}

func (allows) Allow(context.Context, run.Intent) (run.Guarded, error) { return run.Guarded{}, nil }

func TestGuardWhoseNameHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		assert.Equal(t, "run_test.namelessGuard, which is broken", run.NewHand(nil, nil, namelessGuard{}).GuardName())
		assert.Less(t, time.Since(start), time.Minute)
		time.Sleep(2 * time.Hour) // what hangs ends
	})
}

// A thinker is a starter that thinks until nobody waits for it any more, and then writes what
// it has asked.
type thinker struct {
	*starter
	ends func(ctx context.Context) // returns once it has
}

func (g *thinker) Start(ctx context.Context, _ string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.ends(ctx)
	}()
	g.judged = func(ctx context.Context) *run.TaskJudged {
		select {
		case <-done:
		case <-ctx.Done():
		}
		return nil
	}
}

// TestHandEnd holds that what a guard still makes of the task has ended, and is written, when a
// run writes its last event, whether or not the run was stopped; and that a guard which minds
// no context keeps no run from its end.
func TestHandEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		stopped bool
		minds   bool
		want    string
	}{
		"ended":        {false, true, "model_called "},
		"stopped":      {true, true, "model_called "},
		"minds nobody": {false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &thinker{starter: newStarter()}
				h, m := newHand(&device{}, g)
				g.ends = func(ctx context.Context) {
					if !tt.minds {
						time.Sleep(time.Hour)
						return
					}
					<-ctx.Done()
					time.Sleep(time.Second)
					assert.NoError(t, h.Scope.Emit(ctx, run.ModelCalled{Purpose: run.PurposeJudge}))
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				h.Begin(ctx, "x")
				if tt.stopped {
					cancel()
				}
				_, err := h.End(ctx, nil, 0)
				require.NoError(t, err)
				assert.Equal(t, tt.want+"run_ended ", kinds(m))
				time.Sleep(time.Hour)
			})
		})
	}
	h, _ := newHand(&device{}, newStarter())
	_, err := h.End(t.Context(), nil, 0) // it was told no task
	require.NoError(t, err)
}
