package env

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"
)

// The folder files holds what every task finds: programs, those that stand before
// the machine's own; missing, those that stand behind them and say that there is
// no such program; and home, the settings of programs.
//
//go:embed all:files
var files embed.FS

const (
	// binFolder is where programs see those of the environment.
	binFolder = "/run/task/bin"
	// missingFolder is where they see those that say that a program is missing.
	missingFolder = "/run/task/missing"
	// programFolders are where programs are looked for after it.
	programFolders = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/games:/usr/games"
)

// homeFolders are in every HOME.
var homeFolders = []string{"Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos", ".cache", ".config", ".local/share", ".local/state"}

// prepare writes what a task finds, in the folder of the desktop.
func (e *Env) prepare() error {
	e.folder = filepath.Join(e.desktop.Folder(), "guest")
	var err error
	if e.bounds, err = newBounds(e.options.Limits.withDefaults(machineMemory()), e.desktop.Folder()); err != nil {
		return err
	}
	e.isolation.Limits = e.bounds.String()
	for _, name := range []string{"bin", "missing", "tmp", "var-tmp"} {
		if err := os.MkdirAll(e.within(name), 0o755); err != nil {
			return err
		}
	}
	for _, name := range homeFolders {
		if err := os.MkdirAll(filepath.Join(e.desktop.Home(), name), 0o755); err != nil {
			return err
		}
	}
	var system error
	if e.isolation.Files {
		system = e.layEtc()
	}
	err = errors.Join(
		system,
		e.lay("files/home", e.desktop.Home(), 0o644),
		e.lay("files/programs", e.within("bin"), 0o755),
		e.lay("files/missing", e.within("missing"), 0o755),
		// The tasks' programs may be another user's.
		e.giveAway(e.desktop.Home()), e.giveAway(e.within("tmp")), e.giveAway(e.within("var-tmp")),
		e.giveAway(e.within("bin")), e.giveAway(e.within("missing")), os.Chmod(e.folder, 0o755),
		os.Chmod(e.desktop.Home(), 0o755), os.Chmod(e.within("tmp"), 0o777|os.ModeSticky), os.Chmod(e.within("var-tmp"), 0o777|os.ModeSticky),
	)
	if err != nil {
		return fmt.Errorf("prepare home: %w", err)
	}
	return nil
}

// giveAway makes the user of the programs the owner of a file or folder.
func (e *Env) giveAway(path string) error {
	if e.user == 0 {
		return nil
	}
	return filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, e.user, e.user)
	})
}

// lay writes a folder of embedded files, see [render]. Files that come out empty
// are left out: they stand for a program that this machine lacks.
func (e *Env) lay(from, to string, mode fs.FileMode) error {
	return fs.WalkDir(files, from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := render(name)
		if err != nil || len(text) == 0 {
			return err
		}
		file := filepath.Join(to, filepath.FromSlash(strings.TrimPrefix(name, from)))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, text, mode)
	})
}

// render returns an embedded file as this machine has it. They are templates,
// which may use program: the path of what is the program on this machine, "" if
// nothing is; terminal; list, of texts; callings; packages; and name, of the file.
func render(name string) ([]byte, error) {
	t, err := template.New(path.Base(name)).Funcs(template.FuncMap{"program": located, "callings": callings, "packages": packages,
		"terminal": terminal, "list": func(texts ...string) []string { return texts },
		"name": func() string { return path.Base(name) }}).ParseFS(files, name)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = t.Execute(&text, nil)
	return text.Bytes(), err
}

// writeUsers writes the lists of users and groups that programs see: those of the
// system, and user.
func (e *Env) writeUsers() error {
	number := e.owner()
	for _, list := range []struct{ name, line string }{
		{"passwd", fmt.Sprintf("user:x:%d:%d:User,,,:%s:/bin/bash\n", number, e.group(), Home)},
		{"group", fmt.Sprintf("user:x:%d:\n", e.group())},
	} {
		text, err := os.ReadFile("/etc/" + list.name)
		if err != nil {
			return err
		}
		var kept strings.Builder
		kept.WriteString(list.line)
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(line, ":")
			// Other people are none of the task's business.
			if len(fields) > 2 && fields[0] != "user" && len(fields[2]) <= 3 && fields[2] != fmt.Sprint(number) {
				kept.WriteString(line)
			}
		}
		if err := os.WriteFile(e.within("own/"+list.name), []byte(kept.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// group returns the number of the group that programs run as.
func (e *Env) group() int {
	if e.user != 0 {
		return e.user
	}
	return os.Getgid()
}
