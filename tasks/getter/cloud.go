package getter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
)

// fetchTries is how often a file is tried to be fetched.
const fetchTries = 3

// ErrNoAsset reports a file that is not in the cache and may not be fetched.
var ErrNoAsset = errors.New("not in the cache, and downloads are off")

// taskFolder returns the task's folder in the cache, "" if there is no cache.
func (o *Options) taskFolder() (string, error) {
	switch {
	case o.Cache == "":
		return "", nil
	case local(o.TaskID) != nil || strings.ContainsAny(o.TaskID, "/"):
		return "", fmt.Errorf("task id %.100q cannot be the name of a folder", o.TaskID)
	}
	return filepath.Join(o.Cache, o.TaskID), nil
}

// cacheFile is cache_file: what a command of the set-up has printed.
func (l *look) cacheFile(context.Context) (tasks.Value, error) {
	name, err := need(l.p, "path")
	if err != nil {
		return nil, err
	}
	folder, err := l.o.taskFolder()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{l.o.Saved, folder} {
		if dir == "" {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if regular(file) {
			return tasks.File{Path: file}, nil
		}
	}
	return nil, nil
}

// regular reports whether there is a regular file, symbolic links not followed.
func regular(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}

// An Asset is a file that a look takes from the cache or the network.
type Asset struct {
	Source string // the URL, or the path in the suite
	File   string // where it lies, or will, on this machine; "" if that is in [Options.Dir]
	Lacks  bool   // it is not there
}

// Assets returns the files that a look takes from elsewhere, and whether they are
// there.
func Assets(g *tasks.Getter, o *Options) ([]Asset, error) {
	if g == nil || g.Type != "cloud_file" {
		return nil, nil
	}
	r, err := readRequest(g.Params)
	if err != nil {
		return nil, err
	}
	s := o.withDefaults()
	folder, err := s.taskFolder()
	if err != nil {
		return nil, err
	}
	list := make([]Asset, len(r.paths))
	for i, source := range r.paths {
		a := Asset{Source: source}
		if file, ok := s.inSuite(source); ok {
			a.File = file
		} else if folder != "" {
			a.File = filepath.Join(folder, filepath.FromSlash(r.dests[i]))
		}
		a.Lacks = !regular(a.File)
		list[i] = a
	}
	return list, nil
}

// inSuite returns where a file of the suite lies, and whether source names one
// rather than a page of the web.
func (o *Options) inSuite(source string) (string, bool) {
	u, err := url.Parse(source)
	switch {
	case err == nil && u.Scheme == "file":
		source = u.Host + u.Path // file://assets/a.txt
	case err == nil && u.Scheme != "":
		return "", false
	}
	return filepath.Join(o.Suite, filepath.FromSlash(source)), true
}

// cloudFile is cloud_file: files from the cache, the suite or the network.
func (l *look) cloudFile(ctx context.Context) (tasks.Value, error) {
	r, err := readRequest(l.p)
	if err != nil {
		return nil, err
	}
	got := make([]tasks.File, len(r.paths))
	for i := range r.paths {
		file, err := l.asset(ctx, r.paths[i], r.dests[i])
		if err != nil {
			return nil, fmt.Errorf("%.300s: %w", r.paths[i], err)
		}
		got[i] = tasks.File{Path: file}
	}
	return r.value(got), nil
}

// asset returns where a file lies, after fetching it if need be.
func (l *look) asset(ctx context.Context, source, name string) (string, error) {
	if _, ok := l.o.inSuite(source); ok {
		return l.suiteFile(source, name)
	}
	folder, err := l.o.taskFolder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, filepath.FromSlash(name))
	if folder == "" {
		if file, err = l.place(name); err != nil {
			return "", err
		}
	} else if regular(file) {
		return file, nil
	}
	if l.o.Offline {
		return "", fmt.Errorf("%w: put it at %s", ErrNoAsset, file)
	}
	var errs error
	for range fetchTries {
		again, err := l.download(ctx, source, file, folder != "")
		if err == nil {
			return file, nil
		}
		if errs = err; !again || ctx.Err() != nil {
			break
		}
	}
	return "", errs
}

// suiteFile copies a file of the suite. Neither its name nor symbolic links can
// lead out of the folder.
func (l *look) suiteFile(source, name string) (string, error) {
	if l.o.Suite == "" {
		return "", errors.New("it is no URL, and no folder of a suite is given")
	}
	dest, err := l.place(name)
	if err != nil {
		return "", err
	}
	file, _ := l.o.inSuite(source)
	inside, err := filepath.Rel(l.o.Suite, file)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(l.o.Suite)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if info, err := root.Stat(inside); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	from, err := root.Open(inside)
	if err != nil {
		return "", err
	}
	defer from.Close()
	_, err = l.write(from, dest)
	return dest, err
}

// download fetches a file, which gets its name when complete, and reports
// whether it is worth to try again. keep notes its hash beside it.
func (l *look) download(ctx context.Context, source, file string, keep bool) (again bool, err error) {
	u, err := url.Parse(source)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false, errors.New("only http and https can be fetched")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return false, err
	}
	response, err := l.o.Client.Do(request)
	if err != nil {
		return true, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode >= 500, fmt.Errorf("the server answers %s", response.Status)
	}
	sum, err := l.write(response.Body, file)
	if err != nil {
		return !errors.Is(err, env.ErrTooLarge), err
	}
	if keep {
		return false, note(file, sum, source)
	}
	return false, nil
}

// write writes a file of this machine, and returns its SHA-256.
func (l *look) write(from io.Reader, dest string) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return "", err
	}
	to, err := os.CreateTemp(filepath.Dir(dest), ".part-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(to.Name()) // fails once it has its name
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, hash), io.LimitReader(from, l.o.MaxFile+1))
	if err == nil && n > l.o.MaxFile {
		err = fmt.Errorf("%w: more than %d bytes", env.ErrTooLarge, l.o.MaxFile)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(to.Name(), dest); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// note adds a file to the list of hashes that the set-up keeps in the task's
// folder of the cache.
func note(file, sum, source string) error {
	list, err := os.OpenFile(filepath.Join(filepath.Dir(file), "assets.lock"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	source = strings.Map(func(c rune) rune {
		if c < ' ' {
			return -1
		}
		return c
	}, source)
	// One write, so that lines of several processes do not mix.
	_, err = fmt.Fprintf(list, "%s\t%s\t%s\n", sum, filepath.Base(file), source)
	return errors.Join(err, list.Close())
}
