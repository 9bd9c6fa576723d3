package env

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// outside returns where one of the folders of the task lies on this machine.
func (e *Env) outside(folder string) string {
	switch folder {
	case Home:
		return e.desktop.Home()
	case binFolder:
		return e.within("bin")
	case missingFolder:
		return e.within("missing")
	case "/tmp":
		return e.within("tmp")
	default:
		return e.within("var-tmp")
	}
}

// inside returns the name by which programs know a folder of the task.
func (e *Env) inside(folder string) string {
	if e.isolation.Files {
		return folder
	}
	return e.outside(folder)
}

// named finds the folders of the task in a text. What stands before must not be a
// longer path, and what follows, which is looked at apart, must not go on with
// the name.
var named = regexp.MustCompile(`(^|[^\w/.-])(/home/user|/var/tmp|/tmp)\b`)

// goesOn finds what makes the name of a folder another one.
var goesOn = regexp.MustCompile(`^[.-]*[\w-]`)

// rewrite returns a text with the folders of the task as programs know them.
func (e *Env) rewrite(text string) string {
	if e.isolation.Files {
		return text
	}
	var out strings.Builder
	last := 0
	for _, at := range named.FindAllStringSubmatchIndex(text, -1) {
		begin, end := at[4], at[5]
		if goesOn.MatchString(text[end:]) {
			continue
		}
		out.WriteString(text[last:begin])
		out.WriteString(e.outside(text[begin:end]))
		last = end
	}
	out.WriteString(text[last:])
	return out.String()
}

// maxLinks bounds the symbolic links in a path, as Linux does.
const maxLinks = 40

// locate returns the folder of the task that a path lies in, and the rest of the
// path, "." for the folder itself. Symbolic links are followed as programs
// would; the last part need not exist.
func (e *Env) locate(guest string) (folder, rest string, err error) {
	guest = Abs(guest)
	for links := 0; ; links++ {
		if links > maxLinks {
			return "", "", fmt.Errorf("%s: too many symbolic links", guest)
		}
		folder, rest = split(guest)
		if folder == "" {
			return "", "", fmt.Errorf("%s: %w", guest, ErrOutside)
		}
		target, err := e.link(folder, rest)
		if err != nil {
			return "", "", err
		}
		if target == "" {
			return folder, rest, nil
		}
		guest = target
	}
}

// link returns the path with its first symbolic link followed; "" if it has none.
func (e *Env) link(folder, rest string) (string, error) {
	if rest == "." {
		return "", nil
	}
	root := e.outside(folder)
	parts := strings.Split(rest, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(at)))
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		target, err := os.Readlink(filepath.Join(root, filepath.FromSlash(at)))
		if err != nil {
			return "", err
		}
		target = e.known(filepath.ToSlash(target))
		if !path.IsAbs(target) {
			target = path.Join(folder, path.Dir(at), target)
		}
		return path.Join(target, path.Join(parts[i+1:]...)), nil
	}
	return "", nil
}

// known returns a path that a program wrote with the task's name for it.
func (e *Env) known(target string) string {
	if e.isolation.Files {
		return target
	}
	for _, folder := range writable {
		if rest, ok := strings.CutPrefix(target, e.outside(folder)); ok && (rest == "" || rest[0] == '/') {
			return folder + rest
		}
	}
	return target
}

// split returns the folder of the task that a clean path lies in, and the rest.
func split(guest string) (folder, rest string) {
	for _, folder := range writable {
		if guest == folder {
			return folder, "."
		}
		if rest, ok := strings.CutPrefix(guest, folder+"/"); ok {
			return folder, rest
		}
	}
	return "", ""
}

// Host returns where a path of the task lies on this machine. Only what the task
// may write has such a place, else the error is [ErrOutside]; that holds for what
// symbolic links lead to as well. Programs of the task may change that afterwards:
// [Env.Fetch], [Env.Put] and [Env.Chmod] cannot be led astray. The file need not exist.
func (e *Env) Host(guest string) (string, error) {
	folder, rest, err := e.locate(guest)
	if err != nil {
		return "", err
	}
	return filepath.Join(e.outside(folder), filepath.FromSlash(rest)), nil
}

// Fetch copies a file of the task to this machine, at most limit bytes. Where
// there is none the error is [fs.ErrNotExist].
func (e *Env) Fetch(guest, hostDest string, limit int64) error {
	from, err := e.open(guest)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", guest, err)
	}
	defer from.Close()
	if err := copyTo(from, hostDest, limit); err != nil {
		return fmt.Errorf("fetch %s: %w", guest, err)
	}
	return nil
}

// open opens a regular file of the task for reading.
func (e *Env) open(guest string) (*os.File, error) {
	folder, rest, err := e.locate(guest)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(e.outside(folder))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// A pipe would make the opening wait for a writer.
	file, err := root.OpenFile(rest, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", guest))
	}
	return file, nil
}

// copyTo writes a file of this machine, which gets its name only when complete.
func copyTo(from io.Reader, dest string, limit int64) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
		return err
	}
	to, err := os.CreateTemp(filepath.Dir(dest), ".part-*")
	if err != nil {
		return err
	}
	defer os.Remove(to.Name()) // fails once it has its name
	n, err := io.Copy(to, io.LimitReader(from, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Rename(to.Name(), dest)
}

// Put copies a file of this machine into the task, where it belongs to the user.
// Folders above it are made.
func (e *Env) Put(hostSrc, guest string) error {
	from, err := os.Open(hostSrc)
	if err != nil {
		return fmt.Errorf("put %s: %w", guest, err)
	}
	defer from.Close()
	if err := e.write(guest, from); err != nil {
		return fmt.Errorf("put %s: %w", guest, err)
	}
	return nil
}

// write writes a file of the task.
func (e *Env) write(guest string, from io.Reader) error {
	folder, rest, err := e.locate(guest)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(e.outside(folder))
	if err != nil {
		return err
	}
	defer root.Close()
	for i, c := range rest {
		if c != '/' {
			continue
		}
		err := root.Mkdir(rest[:i], 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = e.own(root, rest[:i])
		}
		if err != nil {
			return err
		}
	}
	to, err := root.OpenFile(rest, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|nonBlock, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close(), e.own(root, rest))
}

// Chmod changes the rights of a file or folder of the task. Where links lead elsewhere
// the error is [ErrOutside], as for [Env.Put].
func (e *Env) Chmod(guest string, mode fs.FileMode) error {
	folder, rest, err := e.locate(guest)
	if err != nil {
		return fmt.Errorf("chmod %s: %w", guest, err)
	}
	root, err := os.OpenRoot(e.outside(folder))
	if err != nil {
		return fmt.Errorf("chmod %s: %w", guest, err)
	}
	defer root.Close()
	if err := root.Chmod(rest, mode); err != nil {
		return fmt.Errorf("chmod %s: %w", guest, err)
	}
	return nil
}

// own makes the user of the programs the owner of a file.
func (e *Env) own(root *os.Root, name string) error {
	if e.user == 0 {
		return nil
	}
	return root.Lchown(name, e.user, e.user)
}
