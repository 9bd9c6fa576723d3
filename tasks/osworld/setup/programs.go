package setup

import (
	"path"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
)

// Lacks says which programs a step needs that are not there for tasks on this
// machine, and what has them: those of its command, the browser of tabs, for a file
// one that opens files of its type, and those whose settings it puts there.
func Lacks(step tasks.Step) []string {
	var list []string
	for _, enough := range programs(step) {
		if why := env.Lacks(enough...); why != "" {
			list = append(list, why)
		}
	}
	if step.Type == "download" || step.Type == "upload_file" {
		files, err := step.Params.Maps("files")
		if err != nil {
			return list
		}
		for _, file := range files {
			if to, err := file.Text("path"); err == nil {
				list = append(list, env.LacksTraced(env.Abs(to))...)
			}
		}
	}
	return list
}

// programs returns the programs that a step needs; of each list, one is enough.
func programs(step tasks.Step) [][]string {
	var list [][]string
	if c, ok := Command(step, nil); ok {
		for _, name := range c.Programs() {
			list = append(list, []string{name})
		}
		return list
	}
	switch step.Type {
	case "chrome_open_tabs", "chrome_close_tabs", "update_browse_history":
		list = append(list, []string{"google-chrome"})
	case "open":
		name, err := step.Params.Text("path")
		if err != nil {
			return nil
		}
		// Whether what has no type is a folder is not known before it is there.
		kind := strings.ToLower(path.Ext(name)) + "."
		if kind == "." && !strings.Contains(name, "/") && env.Known(name) {
			list = append(list, []string{name})
		}
		for _, o := range openers {
			if kind == "." || !strings.Contains(o.types, kind) {
				continue
			}
			if o.part != "" {
				return append(list, []string{o.part})
			}
			return append(list, o.programs)
		}
	}
	return list
}
