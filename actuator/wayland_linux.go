package actuator

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"

	"github.com/go-vgo/robotgo/libei"
	"github.com/go-vgo/robotgo/wayland"
)

// A robotgoBackend acts on a Wayland session through one of robotgo's two back
// ends, which have the same functions. Wayland tells no program where the
// pointer or the focus is, so that neither can be checked, and robotgo has no
// clipboard there. Keys are where a US keyboard has them.
type robotgoBackend struct {
	size       func() (int, int)
	moveTo     func(x, y int, display ...int)
	pointer    func() (int, int) // where it was moved last
	buttonDown func(...any) error
	buttonUp   func(...any) error
	scroll     func(x, y int, delay ...int)
	keyDown    func(string, ...any) error
	keyUp      func(string, ...any) error
	write      func(string, ...int) // types any character; nil if only a US keyboard's can be typed
	disconnect func()
}

func openWayland(ctx context.Context) (backend, error) {
	b := &robotgoBackend{
		size: wayland.GetScreenSize, moveTo: wayland.Move, pointer: wayland.Location,
		buttonDown: wayland.MouseDown, buttonUp: wayland.MouseUp, scroll: wayland.Scroll,
		keyDown: wayland.KeyDown, keyUp: wayland.KeyUp, disconnect: wayland.Close,
	}
	if err := b.connect(ctx); err != nil {
		return nil, fmt.Errorf("%w: this needs a compositor with the protocols zwlr_virtual_pointer_v1 and zwp_virtual_keyboard_v1, "+
			"such as Sway; on GNOME and KDE use the session \"libei\", or an X11 session", err)
	}
	return b, nil
}

func openLibei(ctx context.Context) (backend, error) {
	b := &robotgoBackend{
		size: libei.GetScreenSize, moveTo: libei.Move, pointer: libei.Location,
		buttonDown: libei.MouseDown, buttonUp: libei.MouseUp, scroll: libei.Scroll,
		keyDown: libei.KeyDown, keyUp: libei.KeyUp, write: libei.Type, disconnect: libei.Close,
	}
	if err := b.connect(ctx); err != nil {
		return nil, fmt.Errorf("%w: this needs xdg-desktop-portal with RemoteDesktop, and your consent when it asks; an X11 session needs neither", err)
	}
	return b, nil
}

// connect makes robotgo connect, which the portal does after asking the user.
// It lets shift and the left button go, which are up: that proves both devices.
func (b *robotgoBackend) connect(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- errors.Join(b.keyUp("shift"), b.buttonUp("left")) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *robotgoBackend) close() error {
	b.disconnect()
	return nil
}

func (b *robotgoBackend) bounds() (image.Rectangle, error) {
	w, h := b.size()
	if w <= 0 || h <= 0 {
		return image.Rectangle{}, fmt.Errorf("%w: the session does not tell the size of the desktop, so that no point can be found on it", ErrRefused)
	}
	return image.Rect(0, 0, w, h), nil
}

// location is where robotgo has moved the pointer, which a person may since
// have moved on.
func (b *robotgoBackend) location() (image.Point, bool, error) {
	return image.Pt(b.pointer()), false, nil
}

func (b *robotgoBackend) move(p image.Point) error {
	b.moveTo(p.X, p.Y)
	return nil
}

func (b *robotgoBackend) button(button Button, down bool) error {
	if down {
		return b.buttonDown(string(button))
	}
	return b.buttonUp(string(button))
}

func (b *robotgoBackend) click(button Button, count int) error {
	for range count {
		if err := errors.Join(b.button(button, true), b.button(button, false)); err != nil {
			return err
		}
	}
	return nil
}

func (b *robotgoBackend) wheel(dx, dy int) error {
	b.scroll(-dx, -dy, 0) // robotgo counts to the left and up
	return nil
}

// robotgoNames are the keys that robotgo's Wayland back ends name differently;
// those with an empty name they do not have.
var robotgoNames = map[Key]string{
	"ctrlleft": "ctrll", "ctrlright": "ctrlr", "shiftleft": "shiftl", "shiftright": "shiftr",
	"altleft": "altl", "altright": "altr", "win": "cmd", "winleft": "cmdl", "winright": "cmdr",
	"numlock": "num_lock", "scrolllock": "scroll_lock", "clear": "", "help": "",
	"add": "num+", "subtract": "num-", "multiply": "num*", "divide": "num/", "decimal": "num.",
	"volumeup": "audio_vol_up", "volumedown": "audio_vol_down", "volumemute": "audio_mute",
	"playpause": "audio_play", "stop": "audio_stop", "nexttrack": "audio_next", "prevtrack": "audio_prev",
	"browserback": "", "browserforward": "", "browserrefresh": "", "browserstop": "",
	"browsersearch": "", "browserfavorites": "", "browserhome": "", "launchmail": "",
	"hangul": "", "hanja": "", "kana": "", "kanji": "", "convert": "", "nonconvert": "",
}

// The characters of a US keyboard that need shift, and the keys they are on.
const (
	shiftedCharacters = `ABCDEFGHIJKLMNOPQRSTUVWXYZ~!@#$%^&*()_+{}|:"<>?`
	shiftedKeys       = "abcdefghijklmnopqrstuvwxyz`1234567890-=[]\\;',./"
)

func (b *robotgoBackend) chord(keys []Key) ([]stroke, error) {
	var strokes []stroke
	for _, k := range keys {
		name, renamed := robotgoNames[k]
		if !renamed {
			name = string(k)
		}
		if name == "" {
			return nil, fmt.Errorf("%w: the key %q cannot be pressed in a Wayland session", ErrRefused, k)
		}
		if i := strings.Index(shiftedCharacters, name); i >= 0 && len(name) == 1 {
			strokes = append(strokes, stroke{name: "shift"})
			name = shiftedKeys[i : i+1]
		}
		strokes = append(strokes, stroke{name: name})
	}
	return compact(strokes), nil
}

func (b *robotgoBackend) key(s stroke, down bool) error {
	if down {
		return b.keyDown(s.name)
	}
	return b.keyUp(s.name)
}

// ready has nothing to ask: Wayland does not tell who has the focus.
func (b *robotgoBackend) ready(ctx context.Context, _ bool) error { return context.Cause(ctx) }

func (b *robotgoBackend) typeText(ctx context.Context, text string, sending func()) error {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	if b.write == nil {
		for _, r := range text {
			if r > '~' {
				return fmt.Errorf("%w: %U is not on a US keyboard, and robotgo types no other character in this session", ErrRefused, r)
			}
		}
	}
	sending()
	for _, r := range text {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if b.write != nil && r >= ' ' {
			b.write(string(r))
			continue
		}
		if err := b.char(r); err != nil {
			return err
		}
	}
	return nil
}

// char presses the key of a character, and lets it go also after an error.
func (b *robotgoBackend) char(r rune) error {
	name := map[rune]Key{'\n': "enter", '\t': "tab", ' ': "space"}[r]
	if name == "" {
		name = Key(r)
	}
	strokes, err := b.chord([]Key{name})
	if err != nil {
		return err
	}
	return b.tap(strokes)
}

func (b *robotgoBackend) tap(strokes []stroke) error {
	var errs []error
	for _, s := range strokes {
		errs = append(errs, b.key(s, true))
	}
	for _, s := range slices.Backward(strokes) {
		errs = append(errs, b.key(s, false))
	}
	return errors.Join(errs...)
}

var errNoClipboard = fmt.Errorf("%w: the clipboard cannot be used in a Wayland session: type the text instead", ErrRefused)

func (b *robotgoBackend) copy(context.Context, func() error) (string, error) {
	return "", errNoClipboard
}

func (b *robotgoBackend) setClipboard(context.Context, string) error { return errNoClipboard }

// paste pastes what is on the clipboard; nobody tells when it has been taken.
func (b *robotgoBackend) paste(_ context.Context, trigger func() error) error { return trigger() }
