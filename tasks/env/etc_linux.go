package env

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"desktop-agent/sandbox"
)

// An Etc is a copy of this machine's /etc, as anybody may read it, which environments
// share that start one after the other or at once: see [Options.Etc]. It is made when
// the first of them needs it, and programs can only read it. The zero value is ready.
type Etc struct {
	mu     sync.Mutex
	folder *sandbox.Folder // nil before it is needed, and after Close
}

// Close removes the copy. It is for when no environment has it any more; should this
// program be killed, a watchdog does it.
func (c *Etc) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder == nil {
		return nil
	}
	folder := c.folder
	c.folder = nil
	return folder.Close()
}

// path returns where the copy is, and makes it if there is none.
func (c *Etc) path(log *slog.Logger) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.folder == nil {
		folder, err := sandbox.NewFolder(log)
		if err != nil {
			return "", err
		}
		if err := copySystem(filepath.Join(folder.Path(), "etc")); err != nil {
			return "", errors.Join(err, folder.Close())
		}
		c.folder = folder
	}
	return filepath.Join(c.folder.Path(), "etc"), nil
}

// layEtc makes what programs see as /etc: the copy, and the task's own files in it.
func (e *Env) layEtc() (err error) {
	if shared := e.options.Etc; shared != nil {
		e.etc, err = shared.path(e.options.Log)
	} else {
		e.etc = e.within("etc")
		err = copySystem(e.etc)
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Mkdir(e.within("own"), 0o755), e.writeUsers(), e.writeNet())
}

// own are the files of /etc that each task has to itself, as they are when it begins:
// its user, and what names other machines.
var own = []string{"passwd", "group", "hosts", "resolv.conf"}

// writeNet writes the files that name other machines. They may lead to where programs do
// not see them, such as below /run.
func (e *Env) writeNet() error {
	for _, name := range []string{"hosts", "resolv.conf"} {
		if !readable("/etc/" + name) {
			continue
		}
		text, err := os.ReadFile("/etc/" + name)
		if err == nil {
			err = os.WriteFile(e.within("own/"+name), text, 0o644)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// showEtc returns the arguments of bubblewrap that show it to programs, read-only. Only
// a file that the copy has can be covered.
func (e *Env) showEtc() []string {
	a := []string{"--ro-bind", e.etc, "/etc"}
	for _, name := range own {
		info, err := os.Lstat(filepath.Join(e.etc, name))
		if err == nil && info.Mode().IsRegular() {
			a = append(a, "--ro-bind-try", e.within("own/"+name), "/etc/"+name)
		}
	}
	return a
}

// readable reports whether there is a file, maybe by a link, that anybody may read.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0
}

// copySystem copies /etc as anybody may read it, for programs to see it as it was
// then, whatever becomes of the machine's own. Of what not everybody may read, the
// names are there. Who may log in is left out: see [Env.writeUsers].
func copySystem(to string) error {
	if err := copyReadable("/etc", to); err != nil {
		return fmt.Errorf("copy /etc: %w", err)
	}
	// A task has its own in the place of these, and links cannot be covered.
	for _, name := range own {
		if !readable("/etc/" + name) {
			continue
		}
		path := filepath.Join(to, name)
		err := os.Remove(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.WriteFile(path, nil, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyReadable makes a folder with what another one holds, links as they are. What
// goes away meanwhile is left out.
func copyReadable(from, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range list {
		err := copyEntry(entry, filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func copyEntry(entry fs.DirEntry, source, dest string) error {
	if entry.Type() == fs.ModeSymlink {
		target, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(target, dest)
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	mode := info.Mode()
	switch {
	case mode.IsDir() && mode.Perm()&0o005 == 0o005:
		return copyReadable(source, dest)
	case mode.IsDir():
		return os.Mkdir(dest, 0o700)
	case !mode.IsRegular():
		return nil
	case mode.Perm()&0o004 == 0:
		return os.WriteFile(dest, nil, 0)
	}
	return copyFile(source, dest, mode.Perm()&0o755)
}

func copyFile(source, dest string, mode fs.FileMode) error {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(dest, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
