package env

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// has reports whether tasks on this machine find a program, by its name or path.
func has(command string) bool {
	if strings.Contains(command, "/") {
		if folder, _ := split(Abs(command)); folder != "" {
			return true // the task's own
		}
		_, err := os.Stat(command)
		return err == nil
	}
	if p := programOf(command); p != nil {
		return p.installed()
	}
	if _, err := files.Open(path.Join("files/programs", command)); err == nil {
		return true
	}
	return find(command) != ""
}

// installed reports whether the program is on this machine.
func (p *program) installed() bool {
	if len(p.files) > 0 {
		return find(p.files...) != ""
	}
	return find(p.commands...) != ""
}

// packages returns the packages of Debian whose programs are on this machine.
func packages() []string {
	var list []string
	for i := range programs {
		if p := &programs[i]; p.debian != "" && p.installed() && !slices.Contains(list, p.debian) {
			list = append(list, p.debian)
		}
	}
	return list
}

// packaged reports whether a package of Debian is on this machine.
func packaged(name string) bool {
	if slices.Contains(packages(), name) {
		return true
	}
	for _, pattern := range []string{name + ".list", name + ":*.list"} {
		if list, err := filepath.Glob("/var/lib/dpkg/info/" + pattern); err == nil && len(list) > 0 {
			return true
		}
	}
	return false
}

// located returns the path of what is a program on this machine, "" if nothing is.
func located(command string) string {
	if p := programOf(command); p != nil && len(p.files) > 0 {
		return find(p.files...)
	}
	return find(command)
}

// find returns the path of the first of several programs that is there: a name in
// one of the machine's folders of programs, or a pattern of paths. "" if none is.
func find(names ...string) string {
	for _, name := range names {
		if strings.HasPrefix(name, "/") {
			if list, err := filepath.Glob(name); err == nil && len(list) > 0 {
				return list[0]
			}
			continue
		}
		for _, folder := range filepath.SplitList(programFolders) {
			file := filepath.Join(folder, name)
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return file
			}
		}
	}
	return ""
}
