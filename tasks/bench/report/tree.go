package report

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"desktop-agent/tasks"
)

// saveTree writes OSWorld's tree of result.txt into a folder, with a file for each
// trial that has a score: results/ACTIONS/OBSERVATION/MODEL/DOMAIN/TASK. Nothing
// outside the folder is written, whatever the names are.
func (r *Report) saveTree(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for file, res := range r.tree() {
		if err := root.MkdirAll(path.Dir(file), 0o700); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := root.WriteFile(file, []byte(pythonFloat(res.Score)+"\n"), fs.FileMode(0o600)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// tree returns the files of OSWorld's tree. A name that would be taken twice,
// also where capitals are all the same, gets a number.
func (r *Report) tree() map[string]*tasks.Result {
	files, taken := map[string]*tasks.Result{}, map[string]bool{}
	places := map[string]string{} // of a configuration and repeat
	used := map[string]bool{}
	for i := range r.Results {
		res := &r.Results[i]
		if res.Status != tasks.Scored {
			continue
		}
		key := fmt.Sprintf("%d %s", res.Repeat, res.Config)
		if places[key] == "" {
			places[key] = free(used, r.place(res))
		}
		folder := path.Join(places[key], folderName(res.Domain, "none"), folderName(res.Task, "none"))
		files[path.Join(free(taken, folder), "result.txt")] = res
	}
	return files
}

// place is the folder of a configuration and repeat.
func (r *Report) place(res *tasks.Result) string {
	c := &Config{}
	for i := range r.Meta.Configs {
		if r.Meta.Configs[i].Name == res.Config {
			c = &r.Meta.Configs[i]
		}
	}
	model := cmp.Or(c.Models["actor"], c.Models["planner"])
	if names := keys(c.Models, nil); model == "" && len(names) > 0 {
		model = c.Models[names[0]]
	}
	model = cmp.Or(model, "unknown")
	if len(r.Meta.Configs) > 1 {
		model += "-" + res.Config
	}
	if r.Meta.Repeats > 1 {
		model += "-" + strconv.Itoa(res.Repeat)
	}
	return path.Join("results", folderName(c.ActionSpace, "native"), folderName(c.Observation, "screenshot"), folderName(model, "none"))
}

// free returns a path, or one with a number behind it if it is taken.
func free(taken map[string]bool, name string) string {
	for n, try := 2, name; ; n++ {
		if !taken[strings.ToLower(try)] {
			taken[strings.ToLower(try)] = true
			return try
		}
		try = name + "~" + strconv.Itoa(n)
	}
}

// folderName makes a text the name of a folder on any system.
func folderName(text, otherwise string) string {
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || r == utf8.RuneError || strings.ContainsRune(`/\:*?"<>|~`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
	for len(text) > 120 {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	text = strings.TrimRight(text, ". ")
	if strings.HasPrefix(text, ".") {
		text = "_" + text
	}
	if text == "" {
		return otherwise
	}
	stem, _, _ := strings.Cut(strings.ToUpper(text), ".")
	if len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) ||
		stem == "CON" || stem == "NUL" || stem == "AUX" || stem == "PRN" {
		text = "_" + text // names of devices on Windows
	}
	return text
}

// pythonFloat writes a score as Python does, which is who reads the tree.
func pythonFloat(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
