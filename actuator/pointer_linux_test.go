package actuator

import (
	"image"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator/eventwin"
	"desktop-agent/internal/permit"
	"desktop-agent/sandbox"
)

type plainFrame struct{ image.Rectangle }

func (f plainFrame) Bounds() image.Rectangle          { return f.Rectangle }
func (plainFrame) ToDevice(p image.Point) image.Point { return p }

// TestRobotConnectsAnew checks that the mouse works on the same display after
// the map was changed so often that robotgo needs a new connection.
func TestRobotConnectsAnew(t *testing.T) {
	d, err := sandbox.Start(t.Context(), &sandbox.Options{Size: image.Pt(640, 480)})
	require.NoError(t, err)
	defer d.Close()
	t.Setenv("DISPLAY", ":65000") // not the one to act on
	dev, err := Open(t.Context(), permit.Grant(), &Options{Display: d.Display(), Getenv: os.Getenv})
	require.NoError(t, err)
	defer dev.Close()
	w, err := eventwin.Open(t.Context(), d.Display(), image.Rect(100, 100, 300, 300))
	require.NoError(t, err)
	defer w.Close()

	theRobot.remaps = renewAfter - 1
	_, err = dev.Do(t.Context(), Type{Text: "Ж"}, nil)
	require.NoError(t, err)
	require.Zero(t, theRobot.remaps, "it has a new connection")
	_, err = dev.Do(t.Context(), Click{At: &Point{X: 150, Y: 160}, Button: Left, Count: 1}, plainFrame{image.Rect(0, 0, 640, 480)})
	require.NoError(t, err)
	events, err := w.WaitFor(t.Context(), func(e []eventwin.Event) bool {
		return len(e) > 0 && e[len(e)-1].Kind == eventwin.ButtonRelease
	})
	require.NoError(t, err)
	assert.Equal(t, image.Pt(150, 160), events[len(events)-1].At)
	assert.Equal(t, ":65000", os.Getenv("DISPLAY"))
}

func TestSession(t *testing.T) {
	for name, tt := range map[string]struct {
		o    Options
		env  map[string]string
		want string
	}{
		"X11":                         {env: map[string]string{"DISPLAY": ":0", "XDG_SESSION_TYPE": "x11"}, want: "x11"},
		"only a display":              {env: map[string]string{"DISPLAY": ":0"}, want: "x11"},
		"Sway":                        {env: map[string]string{"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-1", "XDG_CURRENT_DESKTOP": "sway"}, want: "wayland"},
		"GNOME":                       {env: map[string]string{"DISPLAY": ":0", "XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME"}, want: "libei"},
		"KDE":                         {env: map[string]string{"WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "KDE"}, want: "libei"},
		"a display of its own":        {o: Options{Display: ":7"}, env: map[string]string{"XDG_SESSION_TYPE": "wayland"}, want: "x11"},
		"asked for":                   {o: Options{Session: "wayland"}, env: map[string]string{"DISPLAY": ":0"}, want: "wayland"},
		"a console":                   {env: map[string]string{"XDG_SESSION_TYPE": "tty"}},
		"nothing":                     {},
		"a session that there is not": {o: Options{Session: "mir"}, env: map[string]string{"DISPLAY": ":0"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.o.Getenv = func(name string) string { return tt.env[name] }
			got, err := sessionOf(tt.o.withDefaults())
			assert.Equal(t, tt.want, got)
			if tt.want == "" {
				require.ErrorIs(t, err, ErrRefused)
			}
		})
	}
}
