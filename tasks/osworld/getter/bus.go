package getter

import (
	"context"
	"fmt"
	"image"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"desktop-agent/internal/bus"
	"desktop-agent/internal/process"
)

// The limits of reading trees.
const (
	maxDepth   = 50
	maxWidth   = 1024
	maxObjects = 30_000
	maxString  = 64 << 10 // bytes of a text
	maxActions = 32
	// maxSilence is how long a program that was asked may answer nothing at all. How long
	// one answer takes says nothing: many are asked for at once, and a crowded machine
	// gives a spreadsheet more than ten seconds for all of them. One that wants a processor,
	// or whose display's server does, has that time anew from then on.
	maxSilence = 5 * time.Second
	// busySilences is how many times as long it may answer nothing in all.
	busySilences = 6
	// treeLimit is how long reading may take in all.
	treeLimit = 2 * time.Minute
	// asks is how many objects are asked about at once.
	asks = 32
)

// The names of interfaces of AT-SPI; see
// https://gitlab.gnome.org/GNOME/at-spi2-core/-/tree/main/xml.
const (
	accessible = "org.a11y.atspi.Accessible"
	component  = "org.a11y.atspi.Component"
	texts      = "org.a11y.atspi.Text"
	values     = "org.a11y.atspi.Value"
	actions    = "org.a11y.atspi.Action"
	table      = "org.a11y.atspi.Table"
	pictures   = "org.a11y.atspi.Image"
	selections = "org.a11y.atspi.Selection"
	getting    = "org.freedesktop.DBus.Properties.Get"
)

// A ref names an object: the program and the object in it.
type ref struct {
	Name string
	Path dbus.ObjectPath
}

func (r ref) null() bool { return r.Name == "" || r.Path == "/org/a11y/atspi/null" }

// A treeReader reads the trees of all programs.
type treeReader struct {
	bus  *dbus.Conn
	view view
	slot chan struct{} // for asking at once

	silence time.Duration // that counts as none any more
	server  int           // process of the server of the display; 0 if it is not known

	mu      sync.Mutex
	seen    map[ref]bool
	hearing map[string]hearing // of each program
	hung    map[string]bool    // programs that do not answer: no further object of them is asked
}

// A hearing is how a program answers.
type hearing struct {
	last   time.Time // when it answered
	wanted time.Time // when it, or the server, was seen to want a processor
	looked time.Time // when it was looked at
	pid    int       // its process; 0 if it is not known
	watch  process.Watch
}

// A silentError is about programs that do not answer: what is missing of their trees would
// count as not there. It comes with what the others told.
type silentError struct{ programs []string }

func (e *silentError) Error() string {
	return fmt.Sprintf("no answer of %s, so that the accessibility tree is not known: does it hang?", strings.Join(e.programs, ", "))
}

// readTree reads the trees of the programs of a session, on the display of a server, of which
// it takes the process. It is asked more than
// package screen/atspi does, which reads what can be seen, quickly: here hidden
// objects count too, and everything that they tell about themselves. The error is a
// [*silentError] where a program that was to be read gives no answer.
func readTree(ctx context.Context, session string, server int, v view) (*object, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, treeLimit, fmt.Errorf("not read within %v", treeLimit))
	defer cancel()
	conn, _, err := bus.ConnectAccessibility(ctx, session, false)
	if err != nil {
		return nil, fmt.Errorf("accessibility bus: %w", err)
	}
	defer conn.Close()
	r := newTreeReader(conn, v)
	r.server = server
	registry := ref{bus.Registry, bus.RegistryRoot}
	var programs []ref
	if err := r.bus.Object(registry.Name, registry.Path).CallWithContext(ctx, accessible+".GetChildren", 0).Store(&programs); err != nil {
		return nil, fmt.Errorf("accessibility registry: %w", err)
	}
	root := &object{role: "desktop frame", name: "main", states: []string{"enabled", "sensitive", "showing", "visible"}}
	names := make([]string, len(programs))
	questions := make([]question, len(programs))
	for i := range programs {
		questions[i] = question{getting, []any{accessible, "Name"}, &names[i]}
	}
	r.askAll(ctx, questions, func(i int) ref { return programs[i] })
	var wanted []ref
	others := map[string]bool{}
	for i, program := range programs {
		if r.hung[program.Name] {
			names[i] = r.processName(ctx, program.Name)
		}
		if v.program == nil || v.program(names[i]) {
			wanted = append(wanted, program)
		} else {
			others[program.Name] = true
		}
	}
	root.children = r.read(ctx, wanted, 1, false)
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("accessibility tree: %w", err)
	}
	silent := &silentError{}
	for program := range r.hung {
		if others[program] {
			continue
		}
		name := program // of a part of a tree that another process tells
		if i := slices.IndexFunc(programs, func(p ref) bool { return p.Name == program }); i >= 0 && names[i] != "" {
			name = names[i]
		}
		silent.programs = append(silent.programs, name)
	}
	if len(silent.programs) > 0 {
		slices.Sort(silent.programs)
		return root, silent
	}
	return root, nil
}

// processName returns the name of a program's process; "" if that is not known.
func (r *treeReader) processName(ctx context.Context, program string) string {
	pid, _ := bus.PID(ctx, r.bus, program)
	name, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	return strings.TrimSpace(string(name))
}

func newTreeReader(conn *dbus.Conn, v view) *treeReader {
	return &treeReader{bus: conn, view: v, slot: make(chan struct{}, asks), silence: maxSilence,
		seen: map[ref]bool{}, hearing: map[string]hearing{}, hung: map[string]bool{}}
}

// take reports whether an object may be read: each is read once.
func (r *treeReader) take(o ref) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.null() || r.seen[o] || r.hung[o.Name] || len(r.seen) >= maxObjects {
		return false
	}
	r.seen[o] = true
	return true
}

// read reads objects side by side, and all below them. calc says that they are of
// a spreadsheet.
func (r *treeReader) read(ctx context.Context, refs []ref, depth int, calc bool) []*object {
	found := make([]*object, len(refs))
	var wait sync.WaitGroup
	for i, at := range refs {
		if !r.take(at) {
			continue
		}
		wait.Go(func() {
			select {
			case r.slot <- struct{}{}:
			case <-ctx.Done():
				return
			}
			o, children := r.describe(ctx, at, depth, &calc)
			<-r.slot
			if o != nil {
				o.children = r.read(ctx, children, depth+1, calc || o.role == "document spreadsheet")
				found[i] = o
			}
		})
	}
	wait.Wait()
	return slices.DeleteFunc(found, func(o *object) bool { return o == nil })
}

// describe asks for all about an object, and for its children.
func (r *treeReader) describe(ctx context.Context, at ref, depth int, calc *bool) (*object, []ref) {
	o := &object{}
	var states []uint32
	var interfaces []string
	var count int32
	r.ask(ctx, at,
		question{accessible + ".GetState", nil, &states},
		question{accessible + ".GetInterfaces", nil, &interfaces},
		question{accessible + ".GetRoleName", nil, &o.role},
		question{accessible + ".GetAttributes", nil, &o.attributes},
		question{getting, []any{accessible, "Name"}, &o.name},
		question{getting, []any{accessible, "ChildCount"}, &count},
	)
	if o.role == "" && states == nil {
		return nil, nil // gone, or hung
	}
	o.name, o.attributes = clean(o.name), cleaned(o.attributes)
	for word, bits := range states[:min(len(states), 2)] {
		for bit := range 32 {
			if n := word*32 + bit; bits>>bit&1 == 1 && n < len(stateNames) && stateNames[n] != "" {
				o.states = append(o.states, stateNames[n])
			}
		}
	}
	has := func(name string) bool { return slices.Contains(interfaces, name) }
	o.image, o.selection = has(pictures), has(selections)
	r.details(ctx, at, o, has)
	if depth >= maxDepth || r.view.deeper != nil && !r.view.deeper(o) {
		return o, nil
	}
	if *calc && o.role == "table" && count > maxWidth {
		return o, r.cells(ctx, at, o)
	}
	return o, r.children(ctx, at, int(count))
}

// details asks for the place, text, value and actions of an object.
func (r *treeReader) details(ctx context.Context, at ref, o *object, has func(string) bool) {
	var questions []question
	var box struct{ X, Y, Width, Height int32 }
	var length int32
	var v value
	var done []struct{ Name, Description, Key string }
	if has(component) && o.shown() {
		questions = append(questions, question{component + ".GetExtents", []any{uint32(0)}, &box})
	}
	// The text of a password is nobody's business.
	if has(texts) && o.role != "password text" {
		questions = append(questions, question{getting, []any{texts, "CharacterCount"}, &length})
	}
	if has(values) {
		for name, into := range map[string]*float64{"CurrentValue": &v.now, "MinimumValue": &v.least, "MaximumValue": &v.most, "MinimumIncrement": &v.step} {
			questions = append(questions, question{getting, []any{values, name}, into})
		}
		o.value = &v
	}
	if has(actions) {
		questions = append(questions, question{actions + ".GetActions", nil, &done})
	}
	r.ask(ctx, at, questions...)
	if box.Width > 0 || box.Height > 0 {
		x, y := int(box.X), int(box.Y)
		o.box, o.placed = image.Rect(x, y, x+int(box.Width), y+int(box.Height)), true
	}
	for _, a := range done[:min(len(done), maxActions)] {
		o.actions = append(o.actions, action{clean(a.Name), clean(a.Description), clean(a.Key)})
	}
	if length > 0 {
		r.ask(ctx, at, question{texts + ".GetText", []any{int32(0), min(length, maxString)}, &o.text})
		o.text = clean(o.text)
	}
}

// children asks for the first children of an object.
func (r *treeReader) children(ctx context.Context, at ref, count int) []ref {
	if count <= 0 {
		return nil
	}
	if count <= maxWidth {
		var refs []ref
		r.ask(ctx, at, question{accessible + ".GetChildren", nil, &refs})
		return refs[:min(len(refs), maxWidth)]
	}
	refs := make([]ref, maxWidth)
	questions := make([]question, maxWidth)
	for i := range refs {
		questions[i] = question{accessible + ".GetChildAtIndex", []any{int32(i)}, &refs[i]}
	}
	r.ask(ctx, at, questions...)
	return refs
}

// A question is a call to an object, and where its answer goes.
type question struct {
	method string
	args   []any
	into   any
}

// ask asks an object several questions at once. What it does not answer is left
// as it was.
func (r *treeReader) ask(ctx context.Context, at ref, questions ...question) {
	r.askAll(ctx, questions, func(int) ref { return at })
}

// askAll is ask for questions each of which is for an object of its own.
func (r *treeReader) askAll(ctx context.Context, questions []question, of func(i int) ref) {
	calls := make([]*dbus.Call, len(questions))
	for i, q := range questions {
		at := of(i)
		calls[i] = r.bus.Object(at.Name, at.Path).GoWithContext(ctx, q.method, 0, make(chan *dbus.Call, 1), q.args...)
	}
	begin := time.Now()
	for i, call := range calls {
		if r.await(ctx, call, begin) {
			_ = call.Store(questions[i].into) // an answer of another type is none
		}
	}
}

// await returns once a call is answered, or false if the program answers nothing any more.
func (r *treeReader) await(ctx context.Context, call *dbus.Call, begin time.Time) bool {
	heard := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		h := r.hearing[call.Destination]
		h.last = time.Now()
		r.hearing[call.Destination] = h
		return true
	}
	for {
		select {
		case <-call.Done: // also of a program that has been given up since
			return heard()
		default:
		}
		r.meet(ctx, call.Destination)
		left := r.patience(call.Destination, begin)
		if left <= 0 {
			return false
		}
		select {
		case <-call.Done:
			return heard()
		case <-ctx.Done():
			return false
		case <-time.After(left):
		}
	}
}

// meet learns a program's process, to look at it.
func (r *treeReader) meet(ctx context.Context, program string) {
	r.mu.Lock()
	known := r.hearing[program].pid != 0
	r.mu.Unlock()
	if known {
		return
	}
	pid, _ := bus.PID(ctx, r.bus, program) // while others are heard; 0 is asked for again
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hearing[program]
	h.pid = pid
	r.hearing[program] = h
}

// patience returns for how long to wait for an answer of a program that was asked at begin,
// until it is looked at again; nothing for one that has been silent for too long.
func (r *treeReader) patience(program string, begin time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hung[program] {
		return 0
	}
	h := r.hearing[program]
	defer func() { r.hearing[program] = h }()
	last := later(h.last, begin)
	silent := later(last, h.wanted)
	if left := time.Until(later(silent, h.looked).Add(r.silence / process.Looks)); left > 0 {
		return left
	}
	if h.looked.Before(silent) {
		h.watch = process.Watch{PIDs: []int{h.pid, r.server}} // what it did before tells nothing
	}
	h.looked = time.Now()
	idle := h.watch.Idle()
	if idle == 0 {
		h.wanted = h.looked
	}
	if idle == process.Looks || time.Since(last) >= busySilences*r.silence {
		r.hung[program] = true
		return 0
	}
	return r.silence / process.Looks
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// clean makes a text of a program fit for XML and bounds it.
func clean(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), 4*maxString)], "")
}

// cleaned does so for attributes.
func cleaned(attributes map[string]string) map[string]string {
	out := make(map[string]string, len(attributes))
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		if len(out) < 100 {
			out[clean(key)] = clean(attributes[key])
		}
	}
	return out
}

// stateNames is indexed by AtspiStateType; see
// https://docs.gtk.org/atspi2/enum.StateType.html.
var stateNames = [...]string{
	"", "active", "armed", "busy", "checked", "collapsed", "defunct", "editable", "enabled", "expandable",
	"expanded", "focusable", "focused", "has_tooltip", "horizontal", "iconified", "modal", "multi_line",
	"multiselectable", "opaque", "pressed", "resizable", "selectable", "selected", "sensitive", "showing",
	"single_line", "stale", "transient", "vertical", "visible", "manages_descendants", "indeterminate",
	"required", "truncated", "animated", "invalid_entry", "supports_autocompletion", "selectable_text",
	"is_default", "visited", "checkable", "has_popup", "read_only",
}
