package record

import (
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

var day = time.Date(2026, 1, 2, 15, 0, 0, 0, time.UTC)

func ms(n int) time.Time { return day.Add(time.Duration(n) * time.Millisecond) }

func down(at, x, y int) event {
	return event{kind: buttonDown, at: ms(at), pos: image.Pt(x, y), button: 1}
}
func up(at, x, y int) event {
	return event{kind: buttonUp, at: ms(at), pos: image.Pt(x, y), button: 1}
}
func types(at int, sym uint32, h held) event {
	return event{kind: keyDown, at: ms(at), key: symbolOf(sym), base: symbolOf(sym), held: h}
}

// assemble returns the actions of events, and how many could not be told.
func assemble(events ...event) (list [][]actuator.Action, missed int) {
	a := assembler{stop: []actuator.Key{"ctrl", "alt", "esc"}, begun: func(*gesture) {}}
	a.done = func(g *gesture) {
		if g.isRun() {
			list = append(list, actions(g.run))
		} else {
			list = append(list, []actuator.Action{g.action})
		}
	}
	for _, e := range events {
		a.tick(e.at)
		if a.feed(e) {
			break
		}
	}
	a.finish()
	return list, a.missed
}

func click(x, y, count int) []actuator.Action {
	return []actuator.Action{actuator.Click{At: &actuator.Point{X: x, Y: y}, Button: actuator.Left, Count: count}}
}

func TestAssemble(t *testing.T) {
	press := func(keys ...actuator.Key) []actuator.Action {
		return []actuator.Action{actuator.Press{Keys: keys, Count: 1}}
	}
	typed := func(text actuator.Secret) []actuator.Action { return []actuator.Action{actuator.Type{Text: text}} }
	const dead, aboveDot, backspace, multi, superL = 0xfe51, 0xfe56, 0xff08, 0xff20, 0xffeb
	for _, tt := range []struct {
		name   string
		events []event
		want   [][]actuator.Action
		missed int
	}{
		{"two clicks far apart in time", []event{down(0, 9, 9), up(50, 9, 9), down(600, 9, 9), up(650, 9, 9)}, [][]actuator.Action{click(9, 9, 1), click(9, 9, 1)}, 0},
		{"two clicks at two places", []event{down(0, 9, 9), up(50, 9, 9), down(200, 19, 9), up(250, 19, 9)}, [][]actuator.Action{click(9, 9, 1), click(19, 9, 1)}, 0},
		{"a double click with a shaky hand", []event{down(0, 9, 9), up(50, 10, 9), down(200, 11, 10), up(250, 11, 12)}, [][]actuator.Action{click(9, 9, 2)}, 0},
		{"four clicks", []event{down(0, 9, 9), up(50, 9, 9), down(200, 9, 9), up(250, 9, 9), down(400, 9, 9), up(450, 9, 9), down(600, 9, 9), up(650, 9, 9)},
			[][]actuator.Action{click(9, 9, 3), click(9, 9, 1)}, 0},
		{"a drag there and back", []event{down(0, 9, 9), {kind: motion, at: ms(50), pos: image.Pt(100, 9)}, up(90, 9, 9)},
			[][]actuator.Action{{actuator.Drag{Button: actuator.Left, Path: []actuator.Point{{X: 9, Y: 9}, {X: 100, Y: 9}, {X: 9, Y: 9}}}}}, 0},
		{"a side button", []event{{kind: buttonDown, at: ms(0), button: 8}}, nil, 1},
		{"a button that stays down", []event{down(0, 9, 9)}, [][]actuator.Action{click(9, 9, 1)}, 1},
		{"a dead key", []event{types(0, dead, held{}), types(9, 'e', held{})}, [][]actuator.Action{typed("é")}, 0},
		{"a dead key that fits no letter", []event{types(0, aboveDot, held{}), types(9, 'q', held{}), types(10, 'r', held{})}, [][]actuator.Action{typed("r")}, 1},
		{"the Compose key", []event{types(0, multi, held{})}, nil, 1},
		{"a pause", []event{types(0, 'a', held{}), types(1400, 'b', held{}), types(3000, 'c', held{})}, [][]actuator.Action{typed("ab"), typed("c")}, 0},
		{"a correction", []event{types(0, 'a', held{}), types(9, backspace, held{}), types(10, 'b', held{})},
			[][]actuator.Action{append(append(typed("a"), press("backspace")...), typed("b")...)}, 0},
		{"a capital and a shortcut", []event{types(0, 'A', held{shift: true}), types(9, 'a', held{ctrl: true, shift: true})},
			[][]actuator.Action{typed("A"), press("ctrl", "shift", "a")}, 0},
		{"another window", []event{types(0, 'a', held{}), {kind: focusMoved, at: ms(5)}, types(9, 'b', held{})}, [][]actuator.Action{typed("a"), typed("b")}, 0},
		{"the win key alone", []event{{kind: keyDown, key: symbolOf(superL), base: symbolOf(superL)}, {kind: keyUp, base: symbolOf(superL)}}, [][]actuator.Action{press("win")}, 0},
		{"the win key with another", []event{{kind: keyDown, key: symbolOf(superL), base: symbolOf(superL)}, types(9, 'e', held{win: true}), {kind: keyUp, base: symbolOf(superL)}},
			[][]actuator.Action{press("win", "e")}, 0},
		{"the hotkey", []event{types(0, 'a', held{}), types(9, 0xff1b, held{ctrl: true, alt: true}), types(10, 'b', held{})}, [][]actuator.Action{typed("a")}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, missed := assemble(tt.events...)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.missed, missed)
		})
	}
}

func TestSimplify(t *testing.T) {
	var zigzag []image.Point
	for x := range 400 {
		zigzag = append(zigzag, image.Pt(x, 40*(x/4%2)))
	}
	got := simplify(zigzag, 16)
	assert.LessOrEqual(t, len(got), 16)
	assert.Equal(t, []image.Point{zigzag[0], zigzag[399]}, []image.Point{got[0], got[len(got)-1]})
	assert.Equal(t, []image.Point{{X: 0}, {X: 50}, {X: 50, Y: 50}}, simplify([]image.Point{{X: 0}, {X: 20, Y: 1}, {X: 50}, {X: 51, Y: 30}, {X: 50, Y: 50}}, 16))
}

func TestHotkey(t *testing.T) {
	keys, err := actuator.ParseHotkey("Alt+Control+Escape")
	require.NoError(t, err)
	assert.Equal(t, []actuator.Key{"ctrl", "alt", "esc"}, keys)
	standard, err := actuator.ParseHotkey("ctrl+alt+esc")
	require.NoError(t, err)
	assert.Equal(t, (&Recorder{}).stopKeys(), standard)
	for text, part := range map[string]string{"": "empty name", "q": "write ctrl, alt or win", "shift+q": "write ctrl, alt or win", "ctrl+": "empty name",
		"ctrl+alt": "write ctrl, alt or win", "a+b": "no modifier", "ctrl+nokey": "unknown key"} {
		_, err := actuator.ParseHotkey(text)
		assert.ErrorContains(t, err, part, "%q", text)
	}
}

// TestJudge tries every order of looks and of what may move the focus.
func TestJudge(t *testing.T) {
	look := func(from, to int, f field, focus string) reading { return reading{ms(from), ms(to), f, focus} }
	for _, tt := range []struct {
		name   string
		sights []reading
		shifts []shift
		n      int // shifts before the keys, which come from 1000 to 1500
		want   field
	}{
		{"never looked", nil, nil, 0, unknown},
		{"before", []reading{look(0, 100, plain, "")}, nil, 0, plain},
		{"after", []reading{look(1600, 1700, plain, "")}, nil, 0, plain},
		{"before a click", []reading{look(0, 100, plain, "")}, []shift{{ms(500), false}}, 1, unknown},
		{"while the click was made", []reading{look(450, 600, plain, "")}, []shift{{ms(500), false}}, 1, unknown},
		{"between click and keys", []reading{look(0, 100, password, ""), look(510, 600, plain, "")}, []shift{{ms(500), false}}, 1, plain},
		{"the focus moves by itself", []reading{look(0, 100, plain, ""), look(1600, 1700, password, "")}, nil, 0, password},
		{"a password before", []reading{look(0, 100, password, ""), look(1600, 1700, plain, "")}, nil, 0, password},
		{"only after the next key", []reading{look(1600, 1700, plain, "")}, []shift{{ms(1550), false}}, 0, unknown},
		{"nothing is told", []reading{look(0, 100, unknown, ""), look(1600, 1700, unknown, "")}, nil, 0, unknown},
		{"a program without fields", []reading{look(0, 100, mute, "")}, nil, 0, mute},
		{"a program without fields, between Enters", []reading{look(0, 100, mute, ""), look(2000, 2100, mute, "")}, []shift{{ms(900), true}, {ms(1600), true}}, 1, mute},
		{"one that hangs, between Enters", []reading{look(0, 100, unknown, ""), look(2000, 2100, unknown, "")}, []shift{{ms(900), true}, {ms(1600), true}}, 1, unknown},
		{"between two Enters", []reading{look(0, 100, plain, "a"), look(2000, 2100, plain, "a")}, []shift{{ms(900), true}, {ms(1600), true}}, 1, plain},
		{"between Enters, elsewhere", []reading{look(0, 100, plain, "a"), look(2000, 2100, plain, "b")}, []shift{{ms(900), true}, {ms(1600), true}}, 1, unknown},
		{"between Tab and Enter", []reading{look(0, 100, plain, "a"), look(2000, 2100, plain, "a")}, []shift{{ms(900), false}, {ms(1600), true}}, 1, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			strict, loose := spans(tt.shifts, tt.n)
			assert.Equal(t, tt.want, judge(ms(1000), ms(1500), tt.sights, strict, loose))
		})
	}
}

func TestFieldOf(t *testing.T) {
	const pid = 7
	entry := func(role string, states ...string) []atspi.Node {
		return []atspi.Node{{PID: pid, Parent: -1, Role: "frame", Box: image.Rect(0, 0, 50, 50)}, {PID: pid, Role: role, States: states}}
	}
	window := screen.Window{PID: pid, Focused: true, Box: image.Rect(0, 0, 50, 50)}
	beside := screen.Window{PID: pid, Title: "Canvas", Focused: true, Box: image.Rect(50, 50, 100, 100)}
	behind := screen.Window{PID: pid, Box: image.Rect(0, 0, 50, 50)}
	titled := func(list []atspi.Node, title string) []atspi.Node {
		list[0].Name = title
		return list
	}
	cover := screen.Window{Popup: true, Box: image.Rect(0, 0, 100, 100)}
	hung := func(pid int) []atspi.Program { return []atspi.Program{{Name: "login", PID: pid}} }
	for _, tt := range []struct {
		name string
		tree screen.Tree
		want field
	}{
		{"it tells nothing", screen.Tree{Hung: hung(pid)}, unknown},
		{"it tells a part", screen.Tree{Nodes: entry("text", "focused"), Hung: hung(pid)}, unknown},
		{"it tells of a password", screen.Tree{Nodes: entry("password text", "focused"), Hung: hung(pid)}, password},
		{"which one is not known", screen.Tree{Hung: hung(0)}, unknown},
		{"no tree", screen.Tree{Hung: hung(pid), Err: screen.ErrNoTree}, unknown},
		{"another one", screen.Tree{Hung: hung(pid + 1)}, mute},
	} {
		t.Run("a program that does not answer: "+tt.name, func(t *testing.T) {
			o := &screen.Observation{Frame: image.NewRGBA(image.Rect(0, 0, 100, 100)), Windows: []screen.Window{window}, Tree: tt.tree}
			assert.Equal(t, tt.want, fieldOf(o))
		})
	}
	for _, tt := range []struct {
		name    string
		nodes   []atspi.Node
		windows []screen.Window
		want    field
	}{
		{"an entry", entry("text", "focused"), []screen.Window{window}, plain},
		{"a password", entry("password text", "focused"), []screen.Window{window}, password},
		{"a password without the focus, which nothing has", entry("password text"), []screen.Window{window}, password},
		{"a password beside an entry with the focus", append(entry("password text"), atspi.Node{PID: pid, Role: "text", States: []string{"focused"}}), []screen.Window{window}, plain},
		{"no tree of this program", nil, []screen.Window{window}, mute},
		{"a frame only", entry("text")[:1], []screen.Window{window}, mute},
		{"another window of its process", entry("text", "focused"), []screen.Window{behind, beside}, mute},
		{"a password in another window of its process", entry("password text"), []screen.Window{behind, beside}, password},
		{"a password, and the focus in another window", append(titled(entry("password text"), "Canvas"), atspi.Node{PID: pid, Parent: -1, Role: "frame", Box: behind.Box}, atspi.Node{PID: pid, Parent: 2, Role: "text", States: []string{"focused"}}), []screen.Window{behind, beside}, password},
		{"an unknown process, told by its title", titled(entry("text", "focused"), "Letter"), []screen.Window{{Title: "Letter", Focused: true, Box: window.Box}}, plain},
		{"an unknown process", entry("text", "focused"), []screen.Window{{Title: "Letter", Focused: true, Box: window.Box}}, mute},
		{"no window with the focus", entry("text", "focused"), nil, unknown},
		{"a locked screen", entry("text", "focused"), []screen.Window{window, cover}, password},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := &screen.Observation{Frame: image.NewRGBA(image.Rect(0, 0, 100, 100)), Windows: tt.windows, Tree: screen.Tree{Nodes: tt.nodes}}
			assert.Equal(t, tt.want, fieldOf(o))
		})
	}
}

// TestDropInterrupt holds that the Ctrl+C which ends a recording is not part of it,
// whether its gesture is still open or a step already.
func TestDropInterrupt(t *testing.T) {
	interrupt := actuator.Press{Keys: []actuator.Key{"ctrl", "c"}, Count: 1}
	enter := actuator.Press{Keys: []actuator.Key{"enter"}, Count: 1}
	now, long := time.Now(), time.Now().Add(-time.Minute)

	s := &session{pending: []*gesture{{action: enter, end: now}, {action: interrupt, end: now}}}
	s.dropInterrupt()
	assert.Len(t, s.pending, 1)
	s = &session{held: &step{actions: []actuator.Action{enter, interrupt}, end: now}}
	s.dropInterrupt()
	assert.Equal(t, []actuator.Action{enter}, s.held.actions)
	s = &session{held: &step{actions: []actuator.Action{interrupt}, end: now}}
	s.dropInterrupt()
	assert.Nil(t, s.held)
	s = &session{held: &step{actions: []actuator.Action{interrupt}, end: long}}
	s.dropInterrupt()
	assert.Len(t, s.held.actions, 1, "one of long ago was meant")
	(&session{}).dropInterrupt()
}
