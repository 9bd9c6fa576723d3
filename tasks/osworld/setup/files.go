package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
	"desktop-agent/tasks/env"

	"github.com/google/uuid"
)

// checkFiles returns the check of a list of files, each with a source and a path.
func checkFiles(source string) func(tasks.Params) error {
	return func(p tasks.Params) error {
		files, err := p.Maps("files")
		if err == nil && len(files) == 0 {
			err = errors.New("files is missing")
		}
		if err != nil {
			return err
		}
		for _, file := range files {
			from, err1 := need(file, source)
			to, err2 := need(file, "path")
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
			if err := checkGuest(to); err != nil {
				return err
			}
			if source == "local_path" && !filepath.IsAbs(from) && !filepath.IsLocal(from) {
				return fmt.Errorf("local_path %q leaves the folder of the suite", from)
			}
		}
		return nil
	}
}

// checkGuest says whether a file can be written in the task.
func checkGuest(guest string) error {
	if env.Writable(guest) {
		return nil
	}
	return fmt.Errorf("path %q: %w", guest, env.ErrOutside)
}

// Assets returns the files that a step needs, and whether they are there.
func Assets(step tasks.Step, o *Options) ([]asset.Asset, error) {
	s := o.withDefaults()
	if step.Type != "download" && step.Type != "upload_file" {
		return nil, nil
	}
	if err := Check(step); err != nil {
		return nil, err
	}
	files, err := step.Params.Maps("files")
	if err != nil {
		return nil, err
	}
	var list []asset.Asset
	for _, file := range files {
		var a asset.Asset
		if step.Type == "download" {
			a.Source, _ = file.Text("url")
			to, _ := file.Text("path")
			a.File, err = s.cached(a.Source, to)
		} else {
			a.Source, _ = file.Text("local_path")
			a.File, err = s.local(a.Source)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		info, statErr := os.Stat(a.File)
		a.Lacks = err != nil || statErr != nil || !info.Mode().IsRegular()
		list = append(list, a)
	}
	return list, nil
}

// cached returns where the cache keeps a file.
func (o *Options) cached(url, guest string) (string, error) {
	folder, err := asset.Folder(o.Cache, o.TaskID)
	if err != nil {
		return "", err
	}
	name := path.Base(env.Abs(guest))
	if name == "/" || strings.ContainsAny(name, "\\\x00\n\t") {
		return "", fmt.Errorf("path %q has no name for a file", guest)
	}
	return filepath.Join(folder, uuid.NewSHA1(uuid.NameSpaceURL, []byte(url)).String()+"_"+name), nil
}

// local returns a file of the suite. Symbolic links may not leave its folder.
func (o *Options) local(name string) (string, error) {
	if o.Dir == "" {
		return "", errors.New("no folder of a suite is given")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, filepath.FromSlash(name))
	}
	file, err := filepath.EvalSymlinks(name)
	if err != nil {
		return name, err
	}
	if rest, err := filepath.Rel(dir, file); err != nil || !filepath.IsLocal(rest) {
		return "", fmt.Errorf("local_path %q leaves the folder of the suite", name)
	}
	return file, nil
}

// download puts files from the cache, or else the network, into the task.
func (r *run) download(ctx context.Context, p tasks.Params) error {
	return r.each(p, "url", func(url, guest string) error {
		file, err := r.o.cached(url, guest)
		if err != nil {
			return err
		}
		err = asset.Get(ctx, url, file, &asset.Options{Offline: r.o.Offline, Client: r.o.Client, MaxBytes: r.o.MaxDownload})
		if err != nil {
			return fmt.Errorf("%s: %w", url, err)
		}
		return r.e.Put(file, guest)
	})
}

// upload puts files of the suite into the task.
func (r *run) upload(_ context.Context, p tasks.Params) error {
	return r.each(p, "local_path", func(name, guest string) error {
		file, err := r.o.local(name)
		if err != nil {
			return err
		}
		return r.e.Put(file, guest)
	})
}

// each goes through a list of files.
func (r *run) each(p tasks.Params, source string, do func(from, guest string) error) error {
	files, err := p.Maps("files")
	if err != nil {
		return err
	}
	for _, file := range files {
		from, err1 := file.Text(source)
		guest, err2 := file.Text("path")
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if err := do(from, guest); err != nil {
			return err
		}
	}
	return nil
}
