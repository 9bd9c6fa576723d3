package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// guestUser returns the number of the user that programs run as, 0 for this one's.
func (d *Desktop) guestUser() int {
	if d.options.Guest == nil {
		return 0
	}
	return d.options.Guest.User
}

// prepare does what the guest needs of the desktop's folder.
func (d *Desktop) prepare(ctx context.Context) error {
	if d.options.Guest.Prepare == nil {
		return nil
	}
	return d.options.Guest.Prepare(ctx, d)
}

// enter makes the container where programs run.
func (d *Desktop) enter(ctx context.Context) error {
	if d.options.Guest.Enter == nil {
		return nil
	}
	way, err := d.options.Guest.Enter(ctx, d)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entered = way
	return nil
}

// leave removes what the guest made outside the desktop's folder.
func (d *Desktop) leave() error {
	if d.options.Guest == nil || d.options.Guest.Leave == nil {
		return nil
	}
	return d.options.Guest.Leave()
}

// guest returns a command as it runs in the container of the guest.
func (d *Desktop) guest(s command) command {
	d.mu.Lock()
	way := d.entered
	d.mu.Unlock()
	if s.env == nil {
		s.env = d.GuestEnv()
	}
	return d.through(way.Prefix, s)
}

// through returns a command that begins with a prefix, which makes its process
// one of the guest's user.
func (d *Desktop) through(prefix []string, s command) command {
	if len(prefix) == 0 {
		s.user = d.guestUser()
		return s
	}
	if d.options.Guest == nil { // nsenter leaves the folder that it was started in
		prefix = append(slices.Clip(prefix), "/usr/bin/env", "-C", cmp.Or(s.dir, d.Home()))
	}
	s.before(prefix)
	return s
}

// GuestEnv returns the complete environment of a program in the container of the
// [Guest]; without one it is [Desktop.Env].
func (d *Desktop) GuestEnv() []string {
	env := d.Env()
	d.mu.Lock()
	defer d.mu.Unlock()
	return over(env, d.entered.Env, []string{d.mark})
}

// sameFiles reports whether programs see the files that this program does.
func (d *Desktop) sameFiles() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.options.Guest == nil || len(d.entered.Prefix) == 0
}

// givenAway are the parts of a desktop's folder that the programs of a guest write.
var givenAway = []string{"home", "user", "run", "tmp"}

// giveAway makes the user of the guest the owner of what programs write in the desktop's
// folder. The rest they read at most: by it this program's user starts and removes things.
func (d *Desktop) giveAway() error {
	user := d.guestUser()
	if user == 0 {
		return nil
	}
	return filepath.WalkDir(d.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(d.folder, path)
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(name, "/")
		mode := fs.FileMode(0o640)
		switch {
		case slices.Contains(givenAway, top):
			return os.Lchown(path, user, user)
		case top == "manager":
			return nil
		case name == ".":
			mode = 0o710
		case entry.IsDir():
			mode = 0o750
		}
		return errors.Join(os.Lchown(path, -1, user), os.Chmod(path, mode))
	})
}

// newMark returns a variable that marks the processes of one program, of those too that
// were started before somebody else attached to the desktop.
func (d *Desktop) newMark() string { return programName + "=" + rand.Text() }

// Launch starts a program and does not wait for anything. The program ends with
// the desktop, or by [Process.Close]; its window is 0.
func (d *Desktop) Launch(c Command) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("launch: no command")
	}
	p, err := d.launch(c)
	if err != nil {
		return nil, fmt.Errorf("launch %s: %w", c.Args[0], err)
	}
	return p, nil
}

func (d *Desktop) launch(c Command) (*Process, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	mark := d.newMark()
	s := command{
		name: filepath.Base(c.Args[0]), path: c.Args[0], args: c.Args[1:], dir: c.Dir,
		files: c.Files, in: c.Stdin, out: c.Stdout, err: c.Stderr,
	}
	if c.Outside {
		s.env = over(d.Env(), c.Env, []string{d.mark, mark})
	} else {
		s.env = over(d.GuestEnv(), c.Env, []string{d.mark, mark})
	}
	if c.Outside || d.sameFiles() {
		var err error
		if s.path, err = d.lookPath(s.path); err != nil {
			return nil, err
		}
	}
	if !c.Outside {
		s = d.guest(s)
	}
	child, err := d.spawn(s)
	if err != nil {
		return nil, err
	}
	return &Process{desktop: d, child: child, mark: mark}, nil
}

// Folder returns the folder that holds everything of the desktop. It goes with
// the desktop, also when this program is killed.
func (d *Desktop) Folder() string { return d.folder }
