package run

import (
	"context"
	"errors"
	"fmt"
	"image"
	"reflect"
	"slices"
	"strings"
	"sync"

	"desktop-agent/actuator"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// A Secret is a text that no model reads and no journal has. The actor writes
// {{secret:NAME}} where it is to be typed.
type Secret struct {
	Name  string
	Value string
	// Window is a part of the title of the window into which it may be typed; "" for
	// one that is only kept out of what is written, such as the key of an endpoint.
	Window string
}

// placeholder is what stands for the secret.
func (s Secret) placeholder() string { return "{{secret:" + s.Name + "}}" }

const (
	placeholderBegins = "{{secret:"
	// shortestSecret, in bytes: what is shorter stands everywhere.
	shortestSecret = 4
)

// CheckSecrets returns why secrets cannot be kept. The task is what the user asks for,
// which models read.
func CheckSecrets(list []Secret, task string) error {
	seen := map[string]bool{}
	for _, s := range list {
		switch {
		case s.Name == "" || strings.ContainsAny(s.Name, "{}: \t\n"):
			return fmt.Errorf("%q is no name of a secret: use letters and digits", s.Name)
		case seen[s.Name]:
			return fmt.Errorf("the secret %s is given twice", s.Name)
		case len(s.Value) < shortestSecret:
			return fmt.Errorf("the secret %s is empty or shorter than %d characters", s.Name, shortestSecret)
		case strings.Contains(task, s.Value):
			return fmt.Errorf("the task has the secret %s in it, which models would read: write %s there", s.Name, s.placeholder())
		}
		seen[s.Name] = true
	}
	return nil
}

// hide returns a text with the placeholders of secrets in their place.
func hide(list []Secret, text string) string {
	for _, s := range list {
		text = strings.ReplaceAll(text, s.Value, s.placeholder())
	}
	return text
}

// hider returns what hides secrets; nil where there are none. Longer ones come first,
// which may have shorter ones in them.
func hider(list []Secret) func(string) string {
	list = slices.DeleteFunc(slices.Clone(list), func(s Secret) bool { return len(s.Value) < shortestSecret })
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b Secret) int { return len(b.Value) - len(a.Value) })
	return func(text string) string { return hide(list, text) }
}

// hidden returns a value with every text in it hidden. The value itself stays as it is.
func hidden[T any](v T, hide func(string) string) T {
	if hide == nil {
		return v
	}
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(hiddenValue(reflect.ValueOf(&v).Elem(), hide))
	return out.Interface().(T)
}

func hiddenValue(v reflect.Value, hide func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(hide(v.String()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			break
		}
		inner := hiddenValue(v.Elem(), hide)
		if v.Kind() == reflect.Pointer {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(inner)
		} else {
			out.Set(inner)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(hiddenValue(v.Field(i), hide))
			}
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			break // pictures
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(hiddenValue(v.Index(i), hide))
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for iter := v.MapRange(); iter.Next(); {
			out.SetMapIndex(hiddenValue(iter.Key(), hide), hiddenValue(iter.Value(), hide))
		}
	}
	return out
}

// secretive types secrets into the windows that are meant for them, right before the
// device, and takes their echo out of what is seen.
type secretive struct {
	list []Secret
	hide func(string) string

	mu     sync.Mutex
	typed  map[uint32]bool // windows into which one was typed
	echoes []image.Rectangle
}

// fill returns the action as the device performs it: with the values of secrets.
func (s *secretive) fill(a actuator.Action, windows func() ([]screen.Window, error)) (actuator.Action, error) {
	refuse := func(format string, args ...any) (actuator.Action, error) {
		return nil, fmt.Errorf("%w: %w", actuator.ErrRefused, fmt.Errorf(format, args...))
	}
	t, typing := a.(actuator.Type)
	if !typing {
		if text, _ := actuator.Entered(a); strings.Contains(text, placeholderBegins) {
			return refuse("a secret can only be typed: other programs could read it elsewhere; click into its field and type it")
		}
		return a, nil
	}
	text := string(t.Text)
	if !strings.Contains(text, placeholderBegins) {
		return a, nil
	}
	list, err := windows()
	if err != nil {
		return refuse("it is not known which window has the focus: %w", err)
	}
	i := screen.FocusedWindow(list)
	if i < 0 {
		return refuse("no window has the focus: click into the field first")
	}
	for _, secret := range s.list {
		if !strings.Contains(text, secret.placeholder()) || secret.Window == "" {
			continue
		}
		if !strings.Contains(list[i].Title, secret.Window) {
			return refuse("the secret %s may only be typed into a window whose title has %q in it, and another one has the focus", secret.Name, secret.Window)
		}
		text = strings.ReplaceAll(text, secret.placeholder(), secret.Value)
	}
	if strings.Contains(text, placeholderBegins) {
		return refuse("there is no such secret: the user has given none of this name")
	}
	s.mu.Lock()
	s.typed[list[i].ID] = true
	s.mu.Unlock()
	t.Text = actuator.Secret(text)
	return t, nil
}

// clean takes the echo of secrets out of an observation: their text from titles and
// elements, and what shows it from the picture. A window into which one was typed, and of
// which nothing tells where its elements are, is painted over as a whole.
func (s *secretive) clean(o *screen.Observation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.echoes = s.hideAll(o)
	for i, w := range o.Windows {
		if s.typed[w.ID] && !o.Locates(i) {
			s.echoes = append(s.echoes, w.Box)
		}
	}
	return o.Paint(s.echoes...)
}

// hideAll takes secrets out of what elements and titles say, and returns where one was said.
func (s *secretive) hideAll(o *screen.Observation) (echoes []image.Rectangle) {
	for i := range o.Tree.Nodes {
		if n := &o.Tree.Nodes[i]; s.hideNode(n) {
			echoes = append(echoes, n.Box)
		}
	}
	for i := range o.Windows {
		w := &o.Windows[i]
		if title := s.hide(w.Title); title != w.Title {
			w.Title = title
			echoes = append(echoes, w.Box.Union(image.Rect(w.Box.Min.X, w.Box.Min.Y-titleBar, w.Box.Max.X, w.Box.Min.Y)))
		}
	}
	return echoes
}

// hideNode takes secrets out of what a node says, and reports whether it said one.
func (s *secretive) hideNode(n *atspi.Node) (hidden bool) {
	for _, text := range []*string{&n.Name, &n.Text, &n.Label, &n.Help, &n.Formula} {
		was := *text
		*text = s.hide(was)
		hidden = hidden || *text != was
	}
	return hidden
}

// titleBar is how high a window's title is at most, in pixels.
const titleBar = 80

// paint takes the echo out of a picture that was taken since.
func (s *secretive) paint(c Capture) {
	if s == nil || c.Bare == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	screen.PaintOver(c.Bare, s.echoes...)
}

// A secretDevice performs actions with secrets in them.
type secretDevice struct {
	Device
	live    *Live
	secrets *secretive
}

// Do performs an action with its secrets; what comes back has them hidden.
func (d secretDevice) Do(ctx context.Context, a actuator.Action, f actuator.Frame) (string, error) {
	filled, err := d.secrets.fill(a, func() ([]screen.Window, error) { return d.live.Screen.Windows(ctx) })
	if err != nil {
		return "", err
	}
	output, err := d.Device.Do(ctx, filled, f)
	if err != nil && d.secrets.hide(err.Error()) != err.Error() {
		err = hiddenError{d.secrets.hide(err.Error()), err}
	}
	return d.secrets.hide(output), err
}

// A hiddenError is an error that says nothing secret: what it is can be asked, and what it holds
// is not given away.
type hiddenError struct {
	text string
	err  error
}

func (e hiddenError) Error() string        { return e.text }
func (e hiddenError) Is(target error) bool { return errors.Is(e.err, target) }

// Release lets every key and button go.
func (d secretDevice) Release() error {
	if r, ok := d.Device.(interface{ Release() error }); ok {
		return r.Release()
	}
	return nil
}
