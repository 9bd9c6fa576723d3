package actuator

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// openBackend opens the back end of the session.
func openBackend(ctx context.Context, o Options) (backend, error) {
	session, err := sessionOf(o)
	if err != nil {
		return nil, err
	}
	o.Log.DebugContext(ctx, "input", "session", session)
	switch session {
	case "x11":
		return openX11(ctx, o)
	case "wayland":
		return openWayland(ctx)
	default:
		return openLibei(ctx)
	}
}

// sessionOf names the session to act on: the one asked for, that of a display
// asked for, or the one the environment tells of.
func sessionOf(o Options) (string, error) {
	switch o.Session {
	case "x11", "wayland", "libei":
		return o.Session, nil
	case "":
	default:
		return "", fmt.Errorf("%w: unknown session %q: write \"x11\", \"wayland\" or \"libei\"", ErrRefused, o.Session)
	}
	wayland := o.Getenv("XDG_SESSION_TYPE") == "wayland" || o.Getenv("WAYLAND_DISPLAY") != ""
	switch {
	case o.Display != "":
		return "x11", nil
	case wayland && portalDesktop(o.Getenv("XDG_CURRENT_DESKTOP")):
		return "libei", nil
	case wayland:
		return "wayland", nil
	case o.Getenv("DISPLAY") != "":
		return "x11", nil
	}
	return "", fmt.Errorf("%w: there is no desktop here (XDG_SESSION_TYPE is %q, WAYLAND_DISPLAY and DISPLAY are empty): "+
		"run it inside a desktop session, set DISPLAY, or use a private desktop",
		ErrRefused, cmp.Or(o.Getenv("XDG_SESSION_TYPE"), "not set"))
}

// portalDesktop reports whether a desktop takes input through the portal alone.
func portalDesktop(names string) bool {
	for name := range strings.SplitSeq(strings.ToLower(names), ":") {
		if name == "gnome" || name == "kde" {
			return true
		}
	}
	return false
}
