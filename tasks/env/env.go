// Package env is the computer that one task runs on: a private desktop whose
// programs see a file system of their own.
//
//	e, err := env.Start(ctx, nil)
//	if err != nil {
//		return err
//	}
//	defer e.Close()
//	out, err := e.Run(ctx, env.Command{Args: []string{"ls", "/home/user"}})
//
// The desktop has a menu of the programs that are there (the right mouse button, the
// Super key) and a terminal on Ctrl+Alt+T; with [Options.Icons], files on it, which
// open with the programs that tasks expect.
//
// Inside, HOME is /home/user, the user is called user, and both that folder and
// /tmp are new. /usr and the like are the machine's, read-only, and /etc is as it
// was when the task began, or with [Options.Etc] the first that shares it, but for its
// users and what names other machines; other people's files are not there. Devices, processes,
// shared memory and terminals are the task's own. No network but the loopback is,
// unless [Options.Network] is set. What programs use is bounded by [Limits]. Close
// ends every process and removes what was written; should this program be killed,
// the kernel and the watchdog of package sandbox do the same.
//
// That takes bubblewrap. Where it does not work, Start fails with a
// [*NoIsolationError]. With [Options.Unisolated], /home/user and /tmp are rewritten
// to folders of the task in every command and path instead: programs then see the
// whole machine, and paths inside of scripts are not rewritten. They never run as
// root.
package env

import (
	"desktop-agent/run"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"desktop-agent/internal/shlex"
	"desktop-agent/tasks"
)

// Home is the HOME folder as programs see it.
const Home = "/home/user"

// Options are the settings of an environment; the zero value of each means its default.
type Options struct {
	// Size is the size of the screen in pixels; 1920×1080 if zero.
	Size image.Point
	// Network lets programs use the machine's network. Environments that run at the
	// same time then share its ports, such as Chrome's 9222.
	Network bool
	// Unisolated has programs see this machine, its files, processes and network,
	// and does without bubblewrap also where it works.
	Unisolated bool
	// Icons has a file manager show what lies in ~/Desktop, with its own menus, where
	// the machine has one that does.
	Icons bool
	// Limits bound what programs use.
	Limits Limits
	// Etc is what programs see of the machine's /etc, and other environments with them;
	// nil for a copy of one's own, which takes the time of writing all its files.
	Etc *Etc
	// Journal makes the journal of what is done with mouse and keyboard for the
	// task's author, when that is first done; nil for none that is kept.
	Journal func() (run.Journal, error)
	// Log gets what happens; nothing is logged if nil.
	Log *slog.Logger
}

// An Isolation says how far a task is kept apart from the machine.
type Isolation struct {
	Files   bool   `json:"files"`   // programs see a file system and processes of their own
	Network bool   `json:"network"` // programs cannot reach the network
	Why     string `json:"why"`     // why it is less than could be; "" if it is not
	Limits  string `json:"limits"`  // what bounds programs, and how
}

// A NoIsolationError says why tasks cannot be kept apart from this machine.
type NoIsolationError struct {
	Why string // such as "bubblewrap is not installed"
	Do  string // what to do about it, such as "apt-get install bubblewrap"
}

func (e *NoIsolationError) Error() string {
	return "tasks cannot be kept apart from this machine: " + e.Why + ": " + e.Do
}

// DefaultSize is the size of a screen of which [Options.Size] says nothing.
var DefaultSize = image.Pt(1920, 1080)

const (
	// DefaultLimit is how long [Env.Run] lets a command run.
	DefaultLimit = 120 * time.Second
	// MaxOutput is how many bytes of each stream of a command are kept.
	MaxOutput = 16 << 20
)

// A Command is something that a task runs.
type Command struct {
	// Args are the program and its arguments. With Shell they are what `sh -c`
	// gets: the first is the script.
	Args  []string
	Shell bool
	Dir   string   // where it runs; /home/user if empty
	Env   []string // put over the environment, as "NAME=value"
	// Limit is how long it may run; [DefaultLimit] if zero. Only [Env.Run] has one.
	Limit time.Duration
}

// ReadCommand reads what is to be run from the settings of a step or getter: a
// list; or a text, which is split into words unless it is for a shell. As OSWorld
// has it, [shlex.Split] does that, and "~/" at the beginning of a word is the HOME
// folder.
func ReadCommand(p tasks.Params) (Command, error) {
	shell, err1 := p.Bool("shell")
	args, err2 := p.Texts("command")
	if err := errors.Join(err1, err2); err != nil {
		return Command{}, err
	}
	if text, ok := p["command"].(string); ok && !shell {
		var err error
		if args, err = shlex.Split(text); err != nil {
			return Command{}, fmt.Errorf("command: %w", err)
		}
	}
	if len(args) == 0 || strings.TrimSpace(args[0]) == "" {
		return Command{}, errors.New("command is missing")
	}
	args = slices.Clone(args)
	for i, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return Command{}, errors.New("command: a NUL character")
		}
		if !shell && strings.HasPrefix(arg, "~/") {
			args[i] = Home + arg[1:]
		}
	}
	return Command{Args: args, Shell: shell}, nil
}

// An Output is what came of a command.
type Output struct {
	Stdout, Stderr []byte // the first [MaxOutput] bytes of each
	Code           int    // the exit code; 127 if there is no such program
}

// ErrLimit reports a command that ran for too long and was ended.
var ErrLimit = errors.New("command took too long")

// writable are the folders that a task may write.
var writable = []string{Home, "/tmp", "/var/tmp"}

// Writable reports whether a path, as programs mean it, lies in a folder that a task
// may write. Symbolic links are not followed.
func Writable(guest string) bool {
	guest = Abs(guest)
	return slices.ContainsFunc(writable, func(folder string) bool { return strings.HasPrefix(guest, folder+"/") })
}

// ErrOutside reports a path that is not inside what a task may write: below
// /home/user, /tmp or /var/tmp, symbolic links followed.
var ErrOutside = errors.New("outside of what the task may write (/home/user, /tmp, /var/tmp)")

// ErrTooLarge reports a file that is larger than the limit.
var ErrTooLarge = errors.New("file is too large")

// ErrNoWindow reports that no window has the name.
var ErrNoWindow = errors.New("no such window")

// ErrNotYet reports that what was waited for has not come in time: a window has not done
// what it was told, or the icons of the desktop are not shown.
var ErrNotYet = errors.New("not yet")

// Abs returns a path as programs mean it: ~, $HOME and other variables that the
// environment always has are expanded, and what is relative lies in /home/user.
func Abs(guest string) string {
	guest = os.Expand(guest, func(name string) string {
		switch name {
		case "HOME", "PWD":
			return Home
		case "USER", "LOGNAME":
			return "user"
		case "TMPDIR":
			return "/tmp"
		}
		return "$" + name
	})
	switch {
	case guest == "~" || strings.HasPrefix(guest, "~/"):
		guest = Home + guest[1:]
	case guest == "~user" || strings.HasPrefix(guest, "~user/"):
		guest = Home + guest[len("~user"):]
	case !path.IsAbs(guest):
		guest = Home + "/" + guest
	}
	return path.Clean(guest)
}
