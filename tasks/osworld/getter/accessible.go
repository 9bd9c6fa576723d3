package getter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/tasks"
)

// maxTree is how many bytes the XML of a tree may have.
const maxTree = 64 << 20

// A view says which part of the accessibility trees is read.
type view struct {
	program func(name string) bool // of these programs; nil: of all
	deeper  func(*object) bool     // the children of these objects; nil: of all
}

// A teller tells its accessibility trees itself, without a bus: one that a test has made.
type teller interface {
	accessible(ctx context.Context, v view) (*object, error)
}

// accessible reads the accessibility trees of the programs.
func (g *getter) accessible(ctx context.Context, v view) (*object, error) {
	if t, ok := g.e.(teller); ok {
		return t.accessible(ctx, v)
	}
	return readTree(ctx, g.e.BusAddress(), g.e.Server(), v)
}

// tree is accessibility_tree: the trees of all programs as XML, hidden objects
// included. It is 50 levels deep at most, an object has 1024 children at most, and a table
// of LibreOffice Calc the cells that can be seen.
func (g *getter) tree(ctx context.Context) (tasks.Value, error) {
	root, err := g.accessible(ctx, view{})
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := writeTree(&limited{&text, maxTree}, root); err != nil {
		return nil, err
	}
	return text.String(), nil
}

// limited is a buffer with a limit.
type limited struct {
	to   *bytes.Buffer
	room int
}

func (w *limited) Write(p []byte) (int, error) {
	if w.room -= len(p); w.room < 0 {
		return 0, fmt.Errorf("the accessibility tree has more than %d bytes", maxTree)
	}
	return w.to.Write(p)
}

// inSight leaves out what cannot be seen, and what is in documents and web pages.
func inSight(o *object) bool {
	return o.role == "application" || o.role == "frame" || o.shown() && !strings.HasPrefix(o.role, "document")
}

// silent are terminals, by their WM_CLASS, that tell nothing to programs that assist.
var silent = map[string]bool{"xterm": true, "uxterm": true, "urxvt": true, "rxvt": true, "st-256color": true, "kitty": true, "alacritty": true}

// terminal is vm_terminal_output: what the terminal shows that has the focus.
// There must be one that tells its text, as gnome-terminal and xfce4-terminal do. Other
// programs may hang.
func (g *getter) terminal(ctx context.Context) (tasks.Value, error) {
	root, err := g.accessible(ctx, view{deeper: inSight})
	hang, some := errors.AsType[*silentError](err)
	if err != nil && !some {
		return nil, err
	}
	if some {
		root.children = slices.DeleteFunc(root.children, func(o *object) bool { return slices.Contains(hang.programs, o.name) })
	}
	for _, window := range root.find(func(o *object) bool { return o.role == "frame" && o.has("active") }) {
		focused := window.find(func(o *object) bool { return o.role == "terminal" && o.has("focused") })
		if len(focused) == 1 {
			return strings.TrimRight(focused[0].text, " \t\r\n\v\f"), nil
		}
	}
	if some {
		return nil, hang
	}
	windows, err := g.e.Windows(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		if w.Focused && silent[strings.ToLower(w.Class)] {
			return nil, &Unsupported{Type: g.kind, Reason: fmt.Sprintf(
				"the terminal in front is %s, which does not tell its text: install gnome-terminal or xfce4-terminal", w.Class)}
		}
	}
	return nil, nil
}

// addressBar is the name of the browser's address bar.
const addressBar = "Address and search bar"

// address returns the text of the browser's address bar, that of the active
// window first; "" if there is none, or if it stays empty. A browser that is busy, or has
// just come to another tab, tells it late: it is waited for until what its windows have has
// stayed the same for [maxSilence].
func (g *getter) address(ctx context.Context) (string, error) {
	limited, cancel := context.WithTimeoutCause(ctx, treeLimit,
		fmt.Errorf("the browser tells no address, and its windows still change after %v", treeLimit))
	defer cancel()
	before, since := -1, time.Time{} // how many objects there were, and since when
	for {
		text, objects, err := g.addressNow(limited)
		switch {
		case text == "" && limited.Err() != nil:
			return "", context.Cause(limited)
		case err != nil || text != "":
			return text, err
		}
		if runs, err := g.chromeRuns(limited); err != nil || !runs {
			return "", err
		}
		if objects != before {
			before, since = objects, time.Now()
		} else if time.Since(since) >= maxSilence {
			g.o.Log.InfoContext(ctx, "the address bar stays empty")
			return "", nil
		}
		if err := pause(limited); err != nil {
			return "", err
		}
	}
}

// addressNow returns what the address bar tells at this moment, and how many objects there
// are beside it.
func (g *getter) addressNow(ctx context.Context) (text string, objects int, err error) {
	root, err := g.accessible(ctx, view{program: isChrome, deeper: inSight})
	if err != nil {
		return "", 0, err
	}
	objects = len(root.find(func(*object) bool { return true }))
	isBar := func(o *object) bool { return o.role == "entry" && o.name == addressBar }
	var bars []*object
	for _, program := range root.find(func(o *object) bool { return o.role == "application" && isChrome(o.name) }) {
		if !g.o.Defects.Has(firstWindow) {
			for _, window := range program.find(func(o *object) bool { return o.has("active") && o.role != "application" }) {
				bars = append(bars, window.find(isBar)...)
			}
		}
		bars = append(bars, program.find(isBar)...)
	}
	if len(bars) == 0 {
		return "", objects, nil
	}
	return bars[0].text, objects, nil
}

// isChrome reports whether a program is the browser, by its name or, of one that hangs, by
// that of its process.
func isChrome(name string) bool {
	return name == "chrome" || name == "chromium" || strings.HasPrefix(name, "Google Chrome") || strings.HasPrefix(name, "Chromium")
}
