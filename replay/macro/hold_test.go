package macro

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

// left is what is down after actions.
func left(did []actuator.Action) (up []actuator.Action) {
	for _, a := range did {
		up = actuator.Releases(a, up)
	}
	return up
}

// TestNothingHeldAfterHealing holds that what is down goes up before a model is asked for a
// step and after what it does, and when the replay ends there; that it goes down again for the
// rest of the step; and that where nothing diverges it stays down as recorded.
func TestNothingHeldAfterHealing(t *testing.T) {
	var down, up, drag actuator.Action = actuator.KeyDown{Key: "ctrl"}, actuator.KeyUp{Key: "ctrl"}, actuator.ButtonDown{At: &actuator.Point{X: 150, Y: 125}, Button: actuator.Left}
	drop, over := actuator.ButtonUp{At: &actuator.Point{X: 240, Y: 125}, Button: actuator.Left}, actuator.Move{At: actuator.Point{X: 240, Y: 125}}
	save, later, tab := click(150, 125), click(500, 415), actuator.Press{Keys: []actuator.Key{"tab"}, Count: 1}
	once := taken{actions: []actuator.Action{down, save, up}}
	renamed := strings.Replace(mainWindow, "Save", "Store", 1)
	refuses := func(kind actuator.Action) func(*fakeDesktop, actuator.Action) error {
		n := 0
		return func(_ *fakeDesktop, a actuator.Action) error {
			if actuator.Name(a) == actuator.Name(kind) {
				if n++; n == 1 {
					return actuator.ErrRefused
				}
			}
			return nil
		}
	}
	inTheWay := func(d *fakeDesktop, a actuator.Action) error {
		switch {
		case actuator.Same(a, down) && d.draft == mainWindow && len(d.did) == 0:
			d.draft = behind + update
		case actuator.Same(a, later):
			d.draft = mainWindow
		}
		return nil
	}
	for name, tt := range map[string]struct {
		steps []taken
		draft string
		react func(*fakeDesktop, actuator.Action) error
		heal  []actuator.Action // nil: no model is asked
		want  []actuator.Action
		err   string
	}{
		"what it clicks is elsewhere":       {[]taken{once, {actions: []actuator.Action{tab}}}, renamed, nil, []actuator.Action{save}, []actuator.Action{down, up, save, tab}, ""},
		"nobody heals":                      {[]taken{once}, renamed, nil, nil, []actuator.Action{down, up}, "but none there"},
		"the model holds a key":             {[]taken{once, {actions: []actuator.Action{tab}}}, renamed, nil, []actuator.Action{down, save}, []actuator.Action{down, up, down, save, up, tab}, ""},
		"the model holds a button":          {[]taken{{actions: []actuator.Action{save}}, {actions: []actuator.Action{tab}}}, renamed, nil, []actuator.Action{drag, tab}, []actuator.Action{drag, tab, actuator.ButtonUp{Button: actuator.Left}, tab}, ""},
		"the model gives up":                {[]taken{once}, renamed, nil, []actuator.Action{actuator.Infeasible{Reason: "no"}}, []actuator.Action{down, up}, "it cannot be done"},
		"a refusal":                         {[]taken{once, {actions: []actuator.Action{tab}}}, mainWindow, refuses(save), []actuator.Action{save}, []actuator.Action{down, up, save, tab}, ""},
		"a dialog in the way":               {[]taken{once}, mainWindow, inTheWay, []actuator.Action{actuator.Wait{Milliseconds: 1}, later}, []actuator.Action{down, up, actuator.Wait{Milliseconds: 1}, later, down, save, up}, ""},
		"the rest is done again":            {[]taken{once}, mainWindow, refuses(save), []actuator.Action{actuator.Wait{Milliseconds: 1}}, []actuator.Action{down, up, actuator.Wait{Milliseconds: 1}, down, save, up}, ""},
		"a drag is done again":              {[]taken{{actions: []actuator.Action{tab, drag, over, drop}}}, mainWindow, refuses(over), []actuator.Action{actuator.Wait{Milliseconds: 1}}, []actuator.Action{tab, drag, actuator.ButtonUp{Button: actuator.Left}, actuator.Wait{Milliseconds: 1}, drag, over, drop}, ""},
		"held for the next step":            {[]taken{{actions: []actuator.Action{down}}, {actions: []actuator.Action{save, up}}}, mainWindow, nil, []actuator.Action{}, []actuator.Action{down, save, up}, ""},
		"held for the next step, and heals": {[]taken{{actions: []actuator.Action{down}}, {actions: []actuator.Action{save}}, {actions: []actuator.Action{tab, up}}}, renamed, nil, []actuator.Action{save}, []actuator.Action{down, up, save, down, tab, up}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := recorded(t, "", mainWindow, tt.steps...)
			d := &fakeDesktop{draft: tt.draft, react: tt.react}
			p := &Player{Desktop: d}
			if tt.heal != nil {
				p.Heal = func(_ context.Context, q HealRequest) ([]actuator.Action, error) {
					assert.Empty(t, left(d.did), "when a model is asked")
					assert.Equal(t, slices.Contains(d.did, down), slices.Contains(q.Actions, actuator.DescribeFull(down)), "it is told what was held")
					return tt.heal, nil
				}
			}
			_, steps, err := play(t, p, m)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, tt.want, pixels(d.did))
			assert.Empty(t, left(d.did))
			for _, s := range steps {
				of := map[int]bool{}
				for _, act := range s.Acts {
					assert.False(t, of[act.Index], "an index of its own")
					of[act.Index] = true
				}
			}
		})
	}
}

// A released desktop counts how often all is let go.
type released struct {
	*fakeDesktop
	times int
}

func (r *released) Release() error { r.times++; return nil }

// TestStoppedWithAKeyDown holds that what is down goes up at once when a replay is stopped,
// though nothing can be done any more.
func TestStoppedWithAKeyDown(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("by the user")
	d := &released{fakeDesktop: &fakeDesktop{draft: mainWindow}}
	m := recorded(t, "", mainWindow, taken{actions: []actuator.Action{actuator.KeyDown{Key: "ctrl"}, click(150, 125), actuator.KeyUp{Key: "ctrl"}}})
	d.react = func(*fakeDesktop, actuator.Action) error { cancel(stop); return nil }
	_, err := on(&Player{}, d, &run.Memory{}).Play(ctx, m)
	require.ErrorIs(t, err, stop)
	assert.Equal(t, 1, d.times)
}
