package getter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/office/xlsx"
)

// maxFiles is how many files one getter may ask for.
const maxFiles = 1000

// local says whether a task may give a copy a name.
func local(name string) error {
	switch {
	case name == "":
		return errors.New("a name for the copy is missing")
	case strings.ContainsAny(name, "\\\x00\r\n") || !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) == ".":
		return fmt.Errorf("%.100q leaves its folder: give a name in it", name)
	}
	return nil
}

// checkName returns the check that a parameter is the name of a copy.
func checkName(key string) func(tasks.Params) error {
	return func(p tasks.Params) error {
		text, err := need(p, key)
		if err != nil {
			return err
		}
		if err := local(text); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
}

// place returns where a copy lies on this machine.
func (g *getter) place(name string) (string, error) {
	if err := local(name); err != nil {
		return "", err
	}
	if g.o.Dir == "" {
		return "", errors.New("no folder for copies is given")
	}
	return filepath.Join(g.o.Dir, filepath.FromSlash(name)), nil
}

// A request is what vm_file and cloud_file are asked for.
type request struct {
	paths, dests []string
	gives        []int // in order
	list         bool  // more than one is given
}

func checkFiles(p tasks.Params) error {
	_, err := readRequest(p)
	return err
}

// readRequest reads path, dest, multi and gives.
func readRequest(p tasks.Params) (request, error) {
	multi, err1 := p.Bool("multi")
	paths, err2 := p.Texts("path")
	dests, err3 := p.Texts("dest")
	if err := errors.Join(err1, err2, err3); err != nil {
		return request{}, err
	}
	switch {
	case len(paths) == 0 || len(dests) == 0:
		return request{}, errors.New("path or dest is missing")
	case len(paths) != len(dests):
		return request{}, fmt.Errorf("path has %d names and dest %d: give each file both", len(paths), len(dests))
	case !multi && len(paths) > 1:
		return request{}, errors.New("path has several names: set multi")
	case len(paths) > maxFiles:
		return request{}, fmt.Errorf("path has more than %d names", maxFiles)
	}
	for i := range paths {
		if strings.TrimSpace(paths[i]) == "" || strings.ContainsRune(paths[i], 0) {
			return request{}, fmt.Errorf("path: %.100q names no file", paths[i])
		}
		if err := local(dests[i]); err != nil {
			return request{}, fmt.Errorf("dest: %w", err)
		}
	}
	r := request{paths: paths, dests: dests, gives: []int{0}}
	if p.Has("gives") {
		r.gives = nil
		for _, item := range p.List("gives") {
			n, err := tasks.Params{"gives": item}.Number("gives")
			if err != nil || n != float64(int(n)) || int(n) < 0 || int(n) >= len(paths) {
				return request{}, fmt.Errorf("gives: %.20q is not the number of a file, from 0 to %d", fmt.Sprint(item), len(paths)-1)
			}
			r.gives = append(r.gives, int(n))
		}
		slices.Sort(r.gives)
		r.gives = slices.Compact(r.gives)
	}
	r.list = len(r.gives) != 1
	return r, nil
}

// value returns the files that are given, of all that were got.
func (r *request) value(got []tasks.File) tasks.Value {
	var all map[string]string
	if len(got) > 1 {
		all = map[string]string{}
	}
	for i := range got {
		if got[i].All = all; all != nil && got[i].Path != "" {
			all[r.dests[i]] = got[i].Path
		}
	}
	if !r.list {
		return single(got[r.gives[0]])
	}
	files := make(tasks.Files, len(r.gives))
	for i, n := range r.gives {
		files[i] = got[n]
	}
	return files
}

// single returns a file, or nil if there is none, nor any beside it.
func single(f tasks.File) tasks.Value {
	if f.Path == "" && len(f.All) == 0 {
		return nil
	}
	return f
}

// vmFile is vm_file: copies of files of the task.
func (g *getter) vmFile(ctx context.Context) (tasks.Value, error) {
	r, err := readRequest(g.p)
	if err != nil {
		return nil, err
	}
	suffix, err := g.p.Bool("time_suffix")
	if err != nil {
		return nil, err
	}
	if multi, _ := g.p.Bool("multi"); suffix && !multi {
		format, err := g.p.Text("time_format")
		if err != nil {
			return nil, err
		}
		if r.dests[0], err = withTime(r.dests[0], format, g.e.Now()); err != nil {
			return nil, err
		}
	}
	got := make([]tasks.File, len(r.paths))
	for i := range r.paths {
		if got[i], err = g.copy(ctx, r.paths[i], r.dests[i]); err != nil {
			return nil, err
		}
	}
	return r.value(got), nil
}

// withTime puts a time between the stem and the extension of a name.
func withTime(name, format string, now time.Time) (string, error) {
	if format == "" {
		format = "%Y%m%d_%H%M%S"
	}
	var stamp strings.Builder
	for rest := format; rest != ""; {
		before, after, directive := strings.Cut(rest, "%")
		stamp.WriteString(before)
		if !directive {
			break
		}
		layout, ok := strftime[after[:min(1, len(after))]]
		if !ok {
			return "", fmt.Errorf("time_format: %%%.1s is not known", after)
		}
		stamp.WriteString(now.Format(layout))
		rest = after[1:]
	}
	ext := path.Ext(name)
	name = strings.TrimSuffix(name, ext) + "_" + stamp.String() + ext
	return name, local(name)
}

// strftime has the layouts of package time for the directives of C.
var strftime = map[string]string{
	"Y": "2006", "y": "06", "m": "01", "d": "02", "H": "15", "I": "03", "M": "04", "S": "05",
	"p": "PM", "b": "Jan", "B": "January", "a": "Mon", "A": "Monday", "j": "002", "f": "000000", "%": "%",
}

// copy copies a file of the task into the folder of copies.
func (g *getter) copy(ctx context.Context, guest, name string) (tasks.File, error) {
	dest, err := g.place(name)
	if err != nil {
		return tasks.File{}, err
	}
	found, err := g.fetch(ctx, guest, dest, g.o.MaxFile)
	if err != nil || !found {
		return tasks.File{}, err
	}
	return tasks.File{Path: dest}, nil
}

// fetch copies a file of the task to this machine, and reports whether it is there.
// One that is too large, or no file at all, is as good as none.
func (g *getter) fetch(ctx context.Context, guest, dest string, limit int64) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	// A copy of an earlier look must not stand for a file that has gone.
	if err := os.Remove(dest); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	err := g.e.Fetch(guest, dest, limit)
	if errors.Is(err, env.ErrOutside) {
		err = g.read(ctx, guest, dest, limit)
	}
	if err == nil {
		return true, nil
	}
	for _, ours := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, ours) {
			return false, err
		}
	}
	if e := g.e.Err(); e != nil {
		return false, errors.Join(err, e)
	}
	g.o.Log.InfoContext(ctx, "no file", "path", guest, "err", err)
	return false, nil
}

// read copies a file that the task may read but not write, such as one of /usr,
// by a command. It may have as much as a command may print.
func (g *getter) read(ctx context.Context, guest, dest string, limit int64) error {
	out, err := g.e.Run(ctx, env.Command{Args: []string{"sh", "-c", `test -f "$1" && exec cat -- "$1"`, "sh", env.Abs(guest)}, Limit: g.o.Limit})
	if err != nil {
		return err
	}
	if out.Code != 0 {
		return fmt.Errorf("read %s: %w: %.200s", guest, fs.ErrNotExist, out.Stderr)
	}
	if n := int64(len(out.Stdout)); n > limit || n >= env.MaxOutput {
		return fmt.Errorf("read %s: %w", guest, env.ErrTooLarge)
	}
	if err := os.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
		return err
	}
	return os.WriteFile(dest, out.Stdout, 0o600)
}

// temporary returns a name for a copy that is not kept.
func (g *getter) temporary() (name string, remove func(), err error) {
	if g.o.Dir != "" {
		if err := os.MkdirAll(g.o.Dir, 0o700); err != nil {
			return "", nil, err
		}
	}
	dir, err := os.MkdirTemp(g.o.Dir, ".look-*")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(dir, "file"), func() { os.RemoveAll(dir) }, nil
}

// bytes returns what is in a file of the task, nil if it is not there.
func (g *getter) bytes(ctx context.Context, guest string, limit int64) ([]byte, error) {
	name, remove, err := g.temporary()
	if err != nil {
		return nil, err
	}
	defer remove()
	if found, err := g.fetch(ctx, guest, name, limit); err != nil || !found {
		return nil, err
	}
	text, err := os.ReadFile(name)
	if text == nil {
		text = []byte{}
	}
	return text, err
}

// vlcConfig is vlc_config: VLC's settings.
func (g *getter) vlcConfig(ctx context.Context) (tasks.Value, error) {
	return g.config(ctx, env.Home+"/.config/vlc/vlcrc")
}

// gimpConfig is gimp_config_file: a file of GIMP's settings, those of version 2.10
// first.
func (g *getter) gimpConfig(ctx context.Context) (tasks.Value, error) {
	file, err := need(g.p, "file_name")
	if err != nil {
		return nil, err
	}
	for _, version := range []string{"2.10", "3.2", "3.0"} {
		value, err := g.config(ctx, env.Home+"/.config/GIMP/"+version+"/"+file)
		if value != nil || err != nil {
			return value, err
		}
	}
	return nil, nil
}

// config copies a file to dest.
func (g *getter) config(ctx context.Context, guest string) (tasks.Value, error) {
	dest, err := need(g.p, "dest")
	if err != nil {
		return nil, err
	}
	file, err := g.copy(ctx, guest, dest)
	return single(file), err
}

func checkContent(p tasks.Params) error {
	if err := needs("path", "file_type", "file_content")(p); err != nil {
		return err
	}
	if p["file_type"] != "xlsx" || p["file_content"] != "last_row" {
		return fmt.Errorf("%v of %v is not known: use last_row of xlsx", p["file_content"], p["file_type"])
	}
	return nil
}

// content is content_from_vm_file: the last row of a workbook, as texts.
func (g *getter) content(ctx context.Context) (tasks.Value, error) {
	guest, err := need(g.p, "path")
	if err != nil {
		return nil, err
	}
	name, remove, err := g.temporary()
	if err != nil {
		return nil, err
	}
	defer remove()
	name += ".xlsx"
	if found, err := g.fetch(ctx, guest, name, g.o.MaxFile); err != nil || !found {
		return nil, err
	}
	row, err := xlsx.LastRow(name)
	if err != nil {
		g.o.Log.InfoContext(ctx, "no row", "path", guest, "err", err)
		return nil, nil
	}
	return list(row), nil
}

// list returns texts as JSON has them.
func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}
