package run_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
)

// An earlier desktop was looked at once, and what it showed had a name.
type earlier struct {
	runtest.Desktop
	over bool
}

func (d *earlier) Observe(ctx context.Context) (*screen.Observation, error) {
	if d.over {
		return nil, run.ErrOver
	}
	d.over = true
	return d.Desktop.Observe(ctx)
}

func (*earlier) ScreenName(*screen.Observation) string { return "7" }

// TestNamesOfScreensGoOn holds that screens have the names in a run that is resumed which
// they had before, on any desktop that can keep them in mind.
func TestNamesOfScreensGoOn(t *testing.T) {
	d := &runtest.Desktop{}
	s := runtest.Open(t, run.Settings{}, &run.Options{Desktop: d, Device: d})
	r := s.Retrace(&run.Past{Desktop: &earlier{}, Told: func(run.Event) (bool, error) { return true, nil }})
	for _, live := range []bool{false, true} {
		o, err := s.Desktop.Observe(t.Context())
		require.NoError(t, err)
		assert.Equal(t, live, r.Live())
		assert.Equal(t, "7", s.Desktop.ScreenName(o))
	}
}

// An agreeable guard has allowed everything.
type agreeable struct{}

func (agreeable) Name() string                           { return "agreeable" }
func (agreeable) Start(context.Context, string)          {}
func (agreeable) Judged(context.Context) *run.TaskJudged { return nil }
func (agreeable) Allow(context.Context, run.Intent) (run.Guarded, error) {
	return run.Guarded{Allowed: true}, nil
}

// resumed returns a session that goes on with a run, on a desktop that was seen and with
// replies that were given, or, if live, where that is over.
func resumed(t testing.TB, live bool, now, then *runtest.Desktop, answers, answered llm.Model) *run.Session {
	t.Helper()
	s := runtest.Open(t, run.Settings{}, &run.Options{Desktop: now, Device: now, Client: &llm.Client{Model: answers, Default: llm.Settings{Model: "m"}}})
	before := &earlier{over: live}
	past := &run.Past{Desktop: then, Device: then, Guard: agreeable{}, Model: answered, Told: func(run.Event) (bool, error) { return true, nil }}
	if live {
		past.Desktop = before
	}
	r := s.Retrace(past)
	if live {
		_, err := s.Desktop.Observe(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, live, r.Live())
	return s
}

// TestRetracedIsDesktop holds that the desktop of a run that goes on is one, while it is what
// was recorded and after that, and that only what there is now is acted on.
func TestRetracedIsDesktop(t *testing.T) {
	for _, live := range []bool{false, true} {
		now, then := &runtest.Desktop{}, &runtest.Desktop{}
		on, other := then, now
		if live {
			on, other = now, then
		}
		s := resumed(t, live, now, then, llmtest.Text("now"), llmtest.Text("then"))
		runtest.TestDesktop(t, &runtest.DesktopSubject{
			Desktop: s.Desktop, Hand: s.Hand, Change: func(testing.TB) { on.Change(func() { on.Tick = 7 }) },
		})
		assert.NotEmpty(t, on.Did())
		assert.Empty(t, other.Did())
	}
}

// TestRetracedIsModel holds that the model of such a run is one.
func TestRetracedIsModel(t *testing.T) {
	for _, live := range []bool{false, true} {
		of := func(m llm.Model) func(testing.TB) llm.Model {
			return func(t testing.TB) llm.Model {
				var answers, answered llm.Model = llmtest.Fail(&llm.Error{Kind: llm.ErrRequest}), m
				if live {
					answers, answered = m, answers
				}
				return resumed(t, live, &runtest.Desktop{}, &runtest.Desktop{}, answers, answered).Client.Model
			}
		}
		llmtest.TestModel(t, &llmtest.Subject{
			New: of(llmtest.Text("DONE")), Hang: of(llmtest.Hang()),
			Fail: map[string]llmtest.Failure{"the model fails": {New: of(llmtest.Fail(&llm.Error{Kind: llm.ErrAuth})), Want: llm.ErrAuth}},
		})
	}
}

// A heir takes up what was ruled, and what is in doubt.
type heir struct {
	agreeable
	recalled, doubted []actuator.Action
}

func (h *heir) Recall(in run.Intent, _ run.Guarded)            { h.recalled = append(h.recalled, in.Action) }
func (h *heir) Doubt(in run.Intent)                            { h.doubted = append(h.doubted, in.Action) }
func (*heir) Inherit(context.Context, string, *run.TaskJudged) {}

// One who chooses had another action done than was proposed.
type choosing struct {
	agreeable
	actuator.Action
}

func (c choosing) Allow(context.Context, run.Intent) (run.Guarded, error) {
	return run.Guarded{Allowed: true, By: "approval", Reason: run.ChoseAnother}, &run.Instead{Action: c.Action}
}

// TestRetracedGuardKnowsWhatWasDone holds that the guard of a run that goes on is told of what
// a person chose in place of another action, and not of that one.
func TestRetracedGuardKnowsWhatWasDone(t *testing.T) {
	esc := actuator.Press{Keys: []actuator.Key{"esc"}, Count: 1}
	now, h := &runtest.Desktop{}, &heir{}
	s := runtest.Open(t, run.Settings{}, &run.Options{Desktop: now, Device: now, Guard: h})
	s.Retrace(&run.Past{
		Desktop: &runtest.Desktop{}, Device: &device{err: errors.New(run.InDoubt)}, Guard: choosing{Action: esc},
		Told: func(run.Event) (bool, error) { return true, nil },
	})
	act, err := s.Hand.Do(t.Context(), run.Intent{Action: actuator.Wait{Milliseconds: 1}})
	require.NoError(t, err)
	assert.True(t, act.Edited)
	assert.Equal(t, actuator.Unknown, act.Status)
	assert.Equal(t, []actuator.Action{esc}, h.recalled)
	assert.Equal(t, []actuator.Action{esc}, h.doubted)
	assert.Empty(t, now.Did())
}

// One who remembers tells what was ruled on checks and candidates, up to its end.
type remembering struct {
	agreeable
	err error // of all that is asked; nil: it was allowed by a person
}

func (m remembering) Accept(context.Context, run.Concern) (string, error) {
	if m.err != nil {
		return "", m.err
	}
	return "a person of then", nil
}

func (m remembering) Preview(context.Context, run.Intent) (run.Guarded, error) {
	return run.Guarded{By: "then"}, m.err
}

// One who is looking tells what it would rule.
type looking struct{ agreeable }

func (looking) Preview(context.Context, run.Intent) (run.Guarded, error) {
	return run.Guarded{By: "now"}, nil
}

// TestRetracedPreview holds that candidates are ruled on as the record has it, and by the
// guard proper once the run goes on live.
func TestRetracedPreview(t *testing.T) {
	for _, now := range []run.Guard{looking{}, agreeable{}, nil} {
		s := runtest.Open(t, run.Settings{}, &run.Options{NoDesktop: true, Guard: now})
		other := errors.New("another one was chosen")
		s.Retrace(&run.Past{Guard: remembering{err: other}, Told: func(e run.Event) (bool, error) {
			_, live := e.Data.(run.Answered)
			return !live, nil
		}})
		beside := s.Hand.Beside(s.Scope)
		ruling, err := beside.Preview(t.Context(), run.Intent{Action: actuator.Wait{Milliseconds: 1}})
		require.ErrorIs(t, err, other)
		assert.Equal(t, run.Guarded{By: "then"}, ruling)
		require.NoError(t, s.Scope.Emit(t.Context(), run.Answered{}))
		ruling, err = beside.Preview(t.Context(), run.Intent{Action: actuator.Wait{Milliseconds: 1}})
		require.NoError(t, err)
		want := run.Guarded{}
		if _, ok := now.(run.Previewer); ok {
			want.By = "now"
		}
		assert.Equal(t, want, ruling)
	}
}

// TestRetracedChecks holds that what came of a check is told as it was recorded, and that the
// guard proper is asked where the record is over.
func TestRetracedChecks(t *testing.T) {
	none := errors.New("there is no guard that could ask a person")
	for name, tt := range map[string]struct {
		then error
		now  run.Guard
		want run.Checked
		live bool
	}{
		"accepted":                  {nil, nil, run.Checked{Accepted: true, By: "a person of then"}, false},
		"denied":                    {errors.New("a person said no"), guardOf(func(run.Concern) (string, error) { return "now", nil }), run.Checked{Reason: "a person said no"}, false},
		"over":                      {run.ErrOver, guardOf(func(run.Concern) (string, error) { return "now", nil }), run.Checked{Accepted: true, By: "now"}, true},
		"over, denied":              {run.ErrOver, guardOf(func(run.Concern) (string, error) { return "", errors.New("not now") }), run.Checked{Reason: "not now"}, true},
		"over, no guard":            {run.ErrOver, nil, run.Checked{Reason: none.Error()}, true},
		"over, no guard that could": {run.ErrOver, &heir{}, run.Checked{Reason: none.Error()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var told []run.EventData
			journal := &run.Memory{}
			s := runtest.Open(t, run.Settings{}, &run.Options{NoDesktop: true, Guard: tt.now, Journal: func() (run.Journal, error) { return journal, nil }})
			r := s.Retrace(&run.Past{Guard: remembering{err: tt.then}, Told: func(e run.Event) (bool, error) { told = append(told, e.Data); return true, nil }})
			beside := s.Hand.Beside(s.Scope) // of another who acts
			_, err := s.Hand.Accept(t.Context(), run.Concern{Call: "call_1"})
			require.NoError(t, err)
			require.Equal(t, tt.live, r.Live())
			tt.want.Call = "call_1"
			if tt.live {
				assert.Equal(t, tt.want, runtest.All[run.Checked](journal.Events())[0])
				_, err := beside.Accept(t.Context(), run.Concern{Call: "call_1"})
				require.NoError(t, err)
				assert.Equal(t, tt.want, runtest.All[run.Checked](journal.Events())[1])
			} else {
				assert.Equal(t, []run.EventData{tt.want}, told)
			}
		})
	}
}
