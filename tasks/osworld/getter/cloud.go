package getter

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
)

// taskFolder returns the task's folder in the cache, "" if there is no cache.
func (o *Options) taskFolder() (string, error) {
	if o.Cache == "" {
		return "", nil
	}
	return asset.Folder(o.Cache, o.TaskID)
}

// cacheFile is cache_file: what a command of the set-up has printed.
func (g *getter) cacheFile(context.Context) (tasks.Value, error) {
	name, err := need(g.p, "path")
	if err != nil {
		return nil, err
	}
	folder, err := g.o.taskFolder()
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{g.o.Saved, folder} {
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

// Assets returns the files that a getter takes from elsewhere, and whether they are
// there.
func Assets(g *tasks.Getter, o *Options) ([]asset.Asset, error) {
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
	list := make([]asset.Asset, len(r.paths))
	for i, source := range r.paths {
		a := asset.Asset{Source: source}
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
func (g *getter) cloudFile(ctx context.Context) (tasks.Value, error) {
	r, err := readRequest(g.p)
	if err != nil {
		return nil, err
	}
	got := make([]tasks.File, len(r.paths))
	for i := range r.paths {
		file, err := g.asset(ctx, r.paths[i], r.dests[i])
		if err != nil {
			return nil, fmt.Errorf("%.300s: %w", r.paths[i], err)
		}
		got[i] = tasks.File{Path: file}
	}
	return r.value(got), nil
}

// asset returns where a file lies, after fetching it if need be.
func (g *getter) asset(ctx context.Context, source, name string) (string, error) {
	if _, ok := g.o.inSuite(source); ok {
		return g.suiteFile(source, name)
	}
	folder, err := g.o.taskFolder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, filepath.FromSlash(name))
	if folder == "" {
		if file, err = g.place(name); err != nil {
			return "", err
		}
	}
	return file, asset.Get(ctx, source, file, &asset.Options{Offline: g.o.Offline, Client: g.o.Client, MaxBytes: g.o.MaxFile})
}

// suiteFile copies a file of the suite. Neither its name nor symbolic links can
// lead out of the folder.
func (g *getter) suiteFile(source, name string) (string, error) {
	if g.o.Suite == "" {
		return "", errors.New("it is no URL, and no folder of a suite is given")
	}
	dest, err := g.place(name)
	if err != nil {
		return "", err
	}
	file, _ := g.o.inSuite(source)
	inside, err := filepath.Rel(g.o.Suite, file)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(g.o.Suite)
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
	return dest, asset.Save(from, dest, g.o.MaxFile)
}
