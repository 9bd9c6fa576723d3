// Package sandbox gives a private desktop in one call: an X server of its own
// that no monitor shows, a window manager, a D-Bus session, the accessibility
// bus, a HOME folder, and a theme and fonts that are the same on every machine.
//
//	desktop, err := sandbox.Start(ctx, nil)
//	if err != nil {
//		return err // names the Debian packages to install, if some are missing
//	}
//	defer desktop.Close()
//	editor, err := desktop.Open(ctx, "mousepad")
//
// A desktop is ready when Start returns: the window manager, the session bus
// and the accessibility bus have answered. Nothing of it stays behind: Close
// ends every process and removes the folder, and should the program that
// started it be killed, the kernel and a watchdog do the same.
//
// Programs see nothing of the machine's own desktop: their environment is made
// new (see [Desktop.Env]), and only this user can connect to the display. Where
// bubblewrap may make that so, they have devices and shared memory of their own
// (see [Desktop.Confined]). That keeps runs apart and repeatable. It is not a security
// boundary: programs run as the user, with the user's files and network. What this
// program was started with, open files and its terminal, they do not get.
package sandbox

import (
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"
)

// Options are the settings of a desktop; the zero value of each means its default.
type Options struct {
	// Size is the size of a monitor in device pixels; 1920×1080 if zero.
	Size image.Point
	// Depth is the number of bits of a pixel: 16, 24 or 30; 24 if zero.
	Depth int
	// DPI is the number of pixels an inch; 96 if zero. It sets the size of text,
	// and from 192 on, in whole steps, the size of everything else in GTK programs.
	DPI int
	// Monitors is how many monitors stand side by side, each of Size; 1 if zero.
	// They are one X screen whose root window spans all of them.
	Monitors int
	// Home is the programs' HOME folder, which is kept; it must exist. If empty,
	// it is a new one that Close removes.
	Home string
	// HomeFrom is a folder whose content is copied into a new HOME, instead of
	// Home. Programs show that one's name, which is always "user".
	HomeFrom string
	// NoSharedMemory has the X server do without MIT-SHM: programs then cannot have
	// it read or write memory that others of their user share, and pixels are
	// copied, which takes some milliseconds for a whole screen.
	NoSharedMemory bool
	// MachineDevices has programs have the devices, the shared memory and the setuid
	// programs of the machine, without a [Guest]. Else they have their own, where bubblewrap
	// may make that so: no sound, no graphics processor, no sudo.
	MachineDevices bool
	// Env is put over the environment of every program, as "NAME=value".
	Env []string
	// Launchers are the programs of the desktop's menu, in its order, and of keys. The
	// menu opens by the right mouse button where no window is, by the left Super key, and
	// by Alt+F1. If there are none, there is no menu.
	Launchers []Launcher
	// Guest, if not nil, has the programs run where they see other files than
	// this program does, or as another user.
	Guest *Guest
	// KeepFor is how long the desktop waits, if the program that started it is killed, for
	// another one that takes it over by [Attach]; 0: it ends at once. Close always ends it.
	// What its programs print goes nowhere then.
	KeepFor time.Duration
	// Log gets what happens; nothing is logged if nil. What programs print is
	// never logged: see [Process.Output].
	Log *slog.Logger
}

// A Launcher is a program that the menu of a desktop, or a key, starts in the container of
// the [Guest].
type Launcher struct {
	Name string   // in the menu; "" for a key alone
	Key  string   // as openbox writes it, such as "C-A-t"; "" for the menu alone
	Args []string // the program and its arguments
}

// maxSide is the largest coordinate of the X protocol.
const maxSide = 32767

// withDefaults returns a copy of o, which may be nil, with every default filled
// in, or says which setting cannot be.
func (o *Options) withDefaults() (Options, error) {
	var s Options
	if o != nil {
		s = *o
	}
	if s.Size == (image.Point{}) {
		s.Size = image.Pt(1920, 1080)
	}
	if s.Depth == 0 {
		s.Depth = 24
	}
	if s.DPI == 0 {
		s.DPI = 96
	}
	if s.Monitors == 0 {
		s.Monitors = 1
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case s.Size.X < 64 || s.Size.Y < 64:
		return s, fmt.Errorf("size %v: a monitor has at least 64×64 pixels", s.Size)
	case s.Monitors < 1 || s.Monitors > 8:
		return s, fmt.Errorf("monitors %d: between 1 and 8 are possible", s.Monitors)
	case s.Size.X*s.Monitors > maxSide || s.Size.Y > maxSide:
		return s, fmt.Errorf("size %v × %d: an X screen has at most %d pixels a side", s.Size, s.Monitors, maxSide)
	case !slices.Contains([]int{16, 24, 30}, s.Depth):
		return s, fmt.Errorf("depth %d: use 16, 24 or 30", s.Depth)
	case s.Home != "" && s.HomeFrom != "":
		return s, errors.New("home: give Home, or HomeFrom, not both")
	case s.KeepFor < 0 || s.KeepFor > 0 && s.Guest != nil:
		return s, fmt.Errorf("keep for %v: a time, and not with a guest", s.KeepFor)
	case s.DPI < 48 || s.DPI > 768:
		return s, fmt.Errorf("dpi %d: between 48 and 768 is possible", s.DPI)
	}
	if s.Guest != nil && s.Guest.User != 0 && os.Getuid() != 0 {
		return s, fmt.Errorf("guest user %d: only root can have programs run as another user", s.Guest.User)
	}
	for _, l := range s.Launchers {
		if len(l.Args) == 0 || strings.ContainsAny(l.Key, "<>&\"") {
			return s, fmt.Errorf("launcher %q: give a program, and a key such as C-A-t or none", l.Name)
		}
	}
	for _, pair := range s.Env {
		if name, _, ok := strings.Cut(pair, "="); !ok || name == "" || strings.ContainsRune(pair, 0) {
			return s, fmt.Errorf("env %q: write NAME=value", name)
		}
	}
	return s, nil
}

// scale is how many device pixels make a pixel of GTK.
func (o *Options) scale() int { return max(1, o.DPI/96) }

// A MissingError names every program that a desktop needs and that this machine
// lacks, with the Debian packages that hold them.
type MissingError struct {
	Programs []string // such as "Xvfb"
	Packages []string // such as "xvfb", in the same order, each once
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("missing %s: install with `apt-get install %s`",
		strings.Join(e.Programs, ", "), strings.Join(e.Packages, " "))
}

// ErrClosed is the reason of a desktop's end when Close was called.
var ErrClosed = errors.New("desktop closed")

// ErrGone is the error of a desktop that is not there any more to be taken over.
var ErrGone = errors.New("the desktop is gone")

// ErrNotInstalled reports that the program to open does not exist.
var ErrNotInstalled = errors.New("program not found")

// A DiedError reports that a part of the desktop ended without being told to.
// The desktop cannot be used any more.
type DiedError struct {
	Part   string // such as "window manager (openbox)"
	Status string // such as "signal: killed"
	Output string // the last lines it printed
}

func (e *DiedError) Error() string {
	text := fmt.Sprintf("%s died: %s: close this desktop and start another", e.Part, e.Status)
	if e.Output != "" {
		text += "; its last output: " + e.Output
	}
	return text
}
