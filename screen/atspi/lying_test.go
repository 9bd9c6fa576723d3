//go:build linux

package atspi

import (
	"fmt"
	"image"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/internal/bus"
	"desktop-agent/internal/process"
)

// A liar is a program that says what it likes on the accessibility bus. Its
// children, names and boxes are by path.
type liar struct {
	conn     *dbus.Conn
	children map[string][]string
	name     map[string]string
	box      map[string]liarBox
	count    int32
	toolkit  string
	slow     func() // is done before the children of the window are told
}

const liarRoot = "/org/a11y/atspi/accessible/root"

// lie puts a program on the bus of a bench.
func (b *bench) lie(l *liar) {
	b.Helper()
	l.lie(b, b.at)
}

// lie puts the program on a bus.
func (l *liar) lie(t testing.TB, address string) {
	t.Helper()
	conn, err := bus.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	l.conn = conn
	for _, iface := range []string{accessible, component, properties, application, tables, texts} {
		require.NoError(t, conn.ExportSubtree(l, "/org/a11y/atspi/accessible", iface))
	}
	root := struct {
		Name string
		Path dbus.ObjectPath
	}{conn.Names()[0], liarRoot}
	require.NoError(t, conn.Object("org.a11y.atspi.Registry", liarRoot).Call("org.a11y.atspi.Socket.Embed", 0, root).Err)
}

type liarBox struct{ X, Y, W, H int32 }

type liarRef struct {
	Name string
	Path dbus.ObjectPath
}

func pathOf(m dbus.Message) string {
	p, _ := m.Headers[dbus.FieldPath].Value().(dbus.ObjectPath)
	return strings.TrimPrefix(string(p), "/org/a11y/atspi/accessible/")
}

func (l *liar) GetChildren(m dbus.Message) ([]liarRef, *dbus.Error) {
	if pathOf(m) == "window" && l.slow != nil {
		l.slow()
	}
	refs := []liarRef{}
	for _, c := range l.children[pathOf(m)] {
		refs = append(refs, liarRef{l.conn.Names()[0], dbus.ObjectPath("/org/a11y/atspi/accessible/" + c)})
	}
	return refs, nil
}

func (l *liar) GetState(m dbus.Message) ([]uint32, *dbus.Error) {
	if strings.HasPrefix(pathOf(m), "gone") {
		return nil, &dbus.Error{Name: "org.freedesktop.DBus.Error.UnknownObject"}
	}
	return []uint32{1<<stateShowing | 1<<stateVisible | 1<<stateEnabled, 0}, nil
}

func (l *liar) GetRole(m dbus.Message) (uint32, *dbus.Error) {
	switch p := pathOf(m); {
	case p == "window":
		return 23, nil // a frame
	case p == "list":
		return uint32(roleTable), nil
	case strings.HasPrefix(p, "tab"):
		return uint32(rolePageTab), nil
	case strings.HasPrefix(p, "vanishing"):
		return 0, &dbus.Error{Name: "org.freedesktop.DBus.Error.UnknownObject"}
	}
	return uint32(rolePushButton), nil
}

func (l *liar) GetExtents(m dbus.Message, _ uint32) (liarBox, *dbus.Error) {
	if box, ok := l.box[pathOf(m)]; ok {
		return box, nil
	}
	return liarBox{10, 10, 80, 20}, nil
}

// GetAccessibleAtPoint and those below tell of a sheet, where there are boxes for its cells.
func (l *liar) GetAccessibleAtPoint(m dbus.Message, _, _ int32, _ uint32) (liarRef, *dbus.Error) {
	return l.GetAccessibleAt(m, 0, 0)
}

func (l *liar) GetAccessibleAt(m dbus.Message, row, column int32) (liarRef, *dbus.Error) {
	cell := "cell" + address(line{index: int(column)}, line{index: int(row)})
	if _, ok := l.box[cell]; !ok {
		return liarRef{}, &dbus.Error{Name: "org.freedesktop.DBus.Error.Failed"}
	}
	return liarRef{l.conn.Names()[0], dbus.ObjectPath("/org/a11y/atspi/accessible/" + cell)}, nil
}

func (l *liar) GetIndexInParent() (int32, *dbus.Error) { return 0, nil }

func (l *liar) GetRowColumnExtentsAtIndex(int32) (ok bool, row, column int32, _ *dbus.Error) {
	return true, 0, 0, nil
}

func (l *liar) GetText(m dbus.Message, _, _ int32) (string, *dbus.Error) {
	if p := pathOf(m); p != "cellB1" {
		return "text of " + p, nil
	}
	return "", &dbus.Error{Name: "org.freedesktop.DBus.Error.UnknownObject"}
}

func (l *liar) GetApplicationBusAddress() (string, *dbus.Error) { return "", nil }

func (l *liar) Get(m dbus.Message, iface, property string) (dbus.Variant, *dbus.Error) {
	switch property {
	case "Name":
		if name, ok := l.name[pathOf(m)]; ok {
			return dbus.MakeVariant(name), nil
		}
		return dbus.MakeVariant(pathOf(m)), nil
	case "ToolkitName":
		return dbus.MakeVariant(l.toolkit), nil
	case "ChildCount":
		return dbus.MakeVariant(l.count), nil
	}
	return dbus.MakeVariant(""), nil
}

// Nothing that a program tells is believed that cannot be, or read without a bound.
func TestTreesThatLie(t *testing.T) {
	many := make([]string, 1000)
	same := map[string]string{"long": strings.Repeat("a", 1<<20), "huge": strings.Repeat("b", 5<<20)}
	for i := range many {
		many[i] = fmt.Sprintf("same%d", i)
		same[many[i]] = "the same"
	}
	l := &liar{
		children: map[string][]string{
			"root":   {"window"},
			"window": append([]string{"long", "huge", "outside", "gone", "vanishing", "cycle", "list"}, many...),
			"cycle":  {"window", "cycle", "inner"},
			"inner":  {"cycle"},
		},
		name: same,
		box: map[string]liarBox{
			"window":  {0, 0, 400, 300},
			"outside": {500, 10, 50, 20},
		},
		count: 1<<31 - 1,
	}
	b := newBench(t, &Options{Silence: 20 * time.Second, AppTimeout: patience})
	b.lie(l)
	nodes, i := b.waitAll("the program", func(n Node) bool { return n.Name == "the same" })
	assert.Equal(t, os.Getpid(), nodes[i].PID)
	byName := map[string]int{}
	for _, n := range nodes {
		assert.LessOrEqual(t, len(n.Name), maxName+len("…"))
		byName[n.Name]++
	}
	assert.Equal(t, 1000, byName["the same"], "equal names are no reason to drop anything")
	assert.Equal(t, 1, byName[strings.Repeat("a", maxName)+"…"], "the rest of a long name is cut off")
	assert.Equal(t, 1, byName["inner"], "a cycle is gone round once")
	assert.Equal(t, 1, byName["cycle"])
	assert.Equal(t, 1, byName["list"], "which has no cells")
	for _, name := range []string{"outside", "gone", "vanishing"} {
		assert.Zero(t, byName[name], name)
	}
}

// A sheet's cells are called by column and row without being asked, where the first is;
// and one that tells no text is none that a person sees, as LibreOffice drops cells while
// one is edited.
func TestNamesOfCells(t *testing.T) {
	for first, want := range map[string][]string{
		"A1":      {"A1", "A2", "B2"},
		"Zelle 1": {"Zelle 1", "cellB1", "cellA2", "cellB2"}, // each is asked, and B1 has a name
	} {
		t.Run(first, func(t *testing.T) {
			l := &liar{
				children: map[string][]string{"root": {"window"}, "window": {"list"}},
				name:     map[string]string{"cellA1": first},
				box: map[string]liarBox{
					"window": {0, 0, 400, 300}, "list": {0, 0, 200, 40},
					"cellA1": {0, 0, 100, 20}, "cellB1": {100, 0, 100, 20}, "cellA2": {0, 20, 100, 20}, "cellB2": {100, 20, 100, 20},
				},
				count: math.MaxInt32,
			}
			b := newBench(t, &Options{Silence: 20 * time.Second, AppTimeout: patience})
			b.lie(l)
			nodes, _ := b.waitAll("the sheet", func(n Node) bool { return n.Role == "table cell" })
			var names []string
			for _, n := range nodes {
				if n.Role == "table cell" {
					names = append(names, n.Name)
				}
			}
			assert.Equal(t, want, names)
		})
	}
}

// A thousand fields and a thousand texts in one place are not held against each other until
// the day is over: who cannot say what a field is for in time says nothing of it. In time is
// by the processor's, as a busy machine takes its own.
func TestLabelsOfManyFieldsInOnePlace(t *testing.T) {
	var children []*object
	for range 1000 {
		children = append(children, shown(roleLabel, "Name:", image.Rect(10, 10, 60, 30)), shown(roleEntry, "", image.Rect(70, 10, 170, 30)))
	}
	children = append(children, shown(roleLabel, "Street:", image.Rect(10, 110, 60, 130)), shown(roleEntry, "", image.Rect(70, 110, 170, 130)))
	a := assembler{windows: []*object{shown(rolePanel, "window", image.Rect(0, 0, 1000, 700), children...)}}
	began, ok := process.Time(os.Getpid())
	require.True(t, ok)
	a.assemble()
	took, _ := process.Time(os.Getpid())
	assert.Less(t, took-began, 30*time.Second)
	require.Len(t, a.nodes, 2003)
	assert.Equal(t, "Street:", a.nodes[2002].Label, "elsewhere, it does")
}
