package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/actuatortest"
	"desktop-agent/screen"
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

func names(list []actuator.Action) (names []string) {
	for _, a := range list {
		names = append(names, actuator.Name(a))
	}
	return names
}
