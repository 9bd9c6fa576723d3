package env

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
)

// terminalKey opens a terminal, as on the desktops that tasks were written for.
const terminalKey = "C-A-t"

// terminals are the terminals that it opens: the first that is there.
var terminals = []string{"gnome-terminal", "xfce4-terminal", "xterm"}

// terminal returns the terminal of a task's computer, "" for none.
func terminal() string {
	if i := slices.IndexFunc(terminals, has); i >= 0 {
		return terminals[i]
	}
	return ""
}

// iconManager is the program that shows the files of the desktop as icons.
const iconManager = "pcmanfm"

// iconLimit is how long it may take to do so.
const iconLimit = 20 * time.Second

// launchers returns what the menu of a task's computer holds, and its keys: the
// programs with a window that are there, and a terminal.
func launchers() []sandbox.Launcher {
	var list []sandbox.Launcher
	add := func(name, key string, command ...string) {
		// The programs before the machine's own are found by the PATH of the task.
		args := append([]string{"/bin/sh", "-c", `cd && exec "$0" "$@"`}, command...)
		list = append(list, sandbox.Launcher{Name: name, Key: key, Args: args})
	}
	switch command := terminal(); command {
	case "":
	case "xterm":
		add("Terminal", terminalKey, command, "-T", "Terminal") // by which name tasks activate it
	default:
		add("Terminal", terminalKey, command)
	}
	for i := range programs {
		p := &programs[i]
		if p.windowed && p.installed() && !slices.Contains(terminals, p.commands[0]) {
			add(p.name, "", p.commands[0])
		}
	}
	return list
}

// startIcons starts the program that shows the files of the desktop, where that is
// wanted. Where there is none the desktop has no icons.
func (e *Env) startIcons(ctx context.Context) (started bool, err error) {
	if !e.options.Icons {
		return false, nil
	}
	if !e.Has(iconManager) {
		e.options.Log.Warn("the desktop has no icons: apt-get install " + iconManager)
		return false, nil
	}
	if err := e.Start(ctx, Command{Args: []string{iconManager, "--desktop"}}); err != nil {
		return false, fmt.Errorf("icons of the desktop: %w", err)
	}
	return true, nil
}

// awaitIcons returns when the files of the desktop are shown. Where they are not, in
// time, it has no icons.
func (e *Env) awaitIcons(ctx context.Context) error {
	err := e.until(ctx, iconLimit, func() (bool, error) {
		windows, err := e.Windows(ctx)
		return slices.ContainsFunc(windows, isDesktop), err
	})
	if err == ErrNotYet {
		e.Note("the desktop has no icons: " + iconManager + " does not show them")
		return nil
	}
	return err
}

// isDesktop reports whether a window is the desktop itself.
func isDesktop(w screen.Window) bool { return w.Type == "desktop" }

// Note keeps what was not as it should be and yet did not end the task.
func (e *Env) Note(text string) {
	e.options.Log.Warn("note of a task", "text", text)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.notes, text) {
		e.notes = append(e.notes, text)
	}
}

// Notes returns why the task is less kept apart than it could be, and what [Env.Note]
// was told, "" if there is nothing.
func (e *Env) Notes() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.notes
	if e.isolation.Why != "" {
		list = append([]string{e.isolation.Why}, list...)
	}
	return strings.Join(list, "; ")
}
