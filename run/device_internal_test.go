package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A heard device keeps what it is to do, and answers with an error.
type heard struct {
	got []actuator.Action
	err error
}

func (h *heard) Do(_ context.Context, a actuator.Action, _ actuator.Frame) (string, error) {
	h.got = append(h.got, a)
	return "", h.err
}

// An area is a frame without a scale.
type area struct{ image.Rectangle }

func (a area) Bounds() image.Rectangle          { return a.Rectangle }
func (area) ToDevice(p image.Point) image.Point { return p }

// TestEveryAction gives the devices of a live desktop an example of each type of action: those
// that need a look they do themselves, and fail where nobody can look; the rest goes to mouse
// and keyboard as it is, which say what they do not know. No text with a secret goes anywhere
// where it is not known which window would get it.
func TestEveryAction(t *testing.T) {
	looks := map[string]bool{"set": true, "wait_until": true}
	refusal := fmt.Errorf("%w: it is not known", actuator.ErrRefused)
	blind, stop := context.WithCancel(t.Context()) // it cannot look
	stop()
	secrets := []Secret{{Name: "password", Value: "hunter2", Window: "Sign in"}}
	on := area{image.Rect(0, 0, actuatortest.Side, actuatortest.Side)}
	for _, v := range actuator.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			fields, err := actuatortest.Fill(v.Schema)
			require.NoError(t, err)
			a, err := actuator.Decode(v.Name, fields)
			require.NoError(t, err)
			h := &heard{}
			live := &Live{Screen: &screen.Screen{}, device: h}
			kept := &secretive{list: secrets, hide: hider(secrets), typed: map[uint32]bool{}}
			hiding := secretDevice{liveDevice{live}, live, kept}
			for kind, d := range map[string]Device{"the live device": liveDevice{live}, "the device with secrets": hiding} {
				for _, h.err = range []error{nil, refusal} {
					h.got = nil
					switch _, err := d.Do(blind, a, on); {
					case looks[v.Name] && (err == nil || len(h.got) > 0):
						t.Errorf("%s does not know %s: without a look it does %v", kind, v.Name, h.got)
					case !looks[v.Name] && (!errors.Is(err, h.err) || !slices.Equal(names(h.got), []string{v.Name}) || !actuator.Same(h.got[0], a)):
						t.Errorf("%s does not know %s: it does %v: %v", kind, v.Name, h.got, err)
					}
				}
			}
			if _, enters := actuator.Entered(a); !enters {
				return
			}
			h.got, h.err = nil, nil
			_, err = hiding.Do(blind, actuator.WithText(a, secrets[0].placeholder()), on)
			if !errors.Is(err, actuator.ErrRefused) || strings.Contains(err.Error(), "can only be typed") == (v.Name == "type") || len(h.got) > 0 {
				t.Errorf("the device with secrets does not know %s: it does %v: %v", v.Name, h.got, err)
			}
		})
	}
}

// TestEchoNobodyLocates holds that a window into which a secret was typed is painted over unless
// elements in it are told, whatever its program tells of another one.
func TestEchoNobodyLocates(t *testing.T) {
	front, back := image.Rect(100, 100, 300, 200), image.Rect(0, 0, 400, 300)
	frame := atspi.Node{PID: 7, Parent: -1, Role: "frame", Name: "Sign in", Box: front}
	other := atspi.Node{PID: 7, Parent: -1, Role: "frame", Name: "Mail", Box: back}
	entry := atspi.Node{PID: 7, Role: "entry", Box: image.Rect(110, 110, 290, 130)}
	ofNobody := atspi.Node{Parent: -1, Role: "frame", Name: "Panel", Box: image.Rect(0, 280, 400, 300)}
	for name, tt := range map[string]struct {
		pid   int
		nodes []atspi.Node
		black bool
	}{
		"an element":                {7, []atspi.Node{frame, entry}, false},
		"frame only":                {7, []atspi.Node{frame}, true},
		"another window's elements": {7, []atspi.Node{other, entry}, true},
		"unknown processes":         {0, []atspi.Node{ofNobody, {Role: "entry", Box: entry.Box}}, true},
		"told by its title":         {0, []atspi.Node{frame, entry}, false},
		"elements elsewhere":        {7, []atspi.Node{frame, {PID: 7, Role: "entry", Box: image.Rect(0, 0, 90, 20)}}, true},
	} {
		o := &screen.Observation{Tree: screen.Tree{Nodes: tt.nodes}, Windows: []screen.Window{
			{ID: 1, Title: "Mail", PID: 7, Box: back}, {ID: 2, Title: "Sign in", PID: tt.pid, Box: front}}}
		kept := &secretive{hide: func(s string) string { return s }, typed: map[uint32]bool{2: true}}
		require.NoError(t, kept.clean(o), name)
		assert.Equal(t, tt.black, slices.Contains(kept.echoes, front), name)
	}
}

func names(list []actuator.Action) (names []string) {
	for _, a := range list {
		names = append(names, actuator.Name(a))
	}
	return names
}
