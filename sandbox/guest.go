package sandbox

import (
	"context"
	"os"
)

// A Guest has the programs of a desktop, and the session bus with what it
// starts, run in a container: as another user, or where they see other files.
// The X server, the window manager and the accessibility bus stay outside, so
// that what they tell of processes has the numbers of this machine.
type Guest struct {
	// OwnMemory has the X server have shared memory that is the guest's: [Bubble.Hold]
	// has its container join it. Where the machine makes none, X does without.
	OwnMemory bool
	// User is the number of the user, and of the group, that programs run as, if
	// this program is root; 0 for the user of this program.
	User int
	// Prepare writes what the container is made of into the folders, which are there
	// ([Desktop.Folder], [Desktop.Home]). It is called once, while the display
	// starts. Nil does nothing.
	Prepare func(context.Context, *Desktop) error
	// Enter makes the container. It is called once, when the folders are there and the display
	// has a name ([Desktop.Display], [Desktop.Env]), and before anything runs in it. The
	// display may still be starting, and has its socket by [Desktop.SocketFile] then. Enter
	// may start what it needs with [Desktop.Launch]. Nil makes none.
	Enter func(context.Context, *Desktop) (Entrance, error)
	// Leave removes what Prepare and Enter made outside the folders. It is called once,
	// when every process has ended and the folders are still there: should this program
	// be killed meanwhile, the rest is done by what watches the desktop. Nil does nothing.
	Leave func() error
}

// An Entrance is the way into the container of a [Guest].
type Entrance struct {
	// Prefix is put before the command line of every program, so that it runs in
	// the container, as [Guest.User]. If empty, programs are started as they are.
	Prefix []string
	// Files is put before the command line of the accessibility bus: it leads to
	// the files of the container, where [Guest.User] has a name, but not to its
	// numbers of processes. If empty, the bus is started as it is.
	Files []string
	// Env is put over the environment of every program in the container.
	Env []string
}

// A Command is what [Desktop.Launch] starts.
type Command struct {
	Args []string // the program and its arguments
	Env  []string // put over the environment of programs there
	Dir  string   // on this machine; HOME if empty. Where there is a prefix, it decides
	// Outside starts the program here, and as this program's user, instead of in
	// the container of the [Guest].
	Outside bool
	// Files are its descriptors 3 and up.
	Files []*os.File
	// Stdin, Stdout and Stderr are its standard streams. Where Stdout or Stderr
	// is nil, the last part of what is printed there is kept: see [Process.Output].
	Stdin, Stdout, Stderr *os.File
}
