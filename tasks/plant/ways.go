package plant

import (
	"context"
	"encoding/xml"
	"os"
	"path"
	"slices"
	"strings"

	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/office"
	"desktop-agent/tasks/osworld/setup"
)

// maxFile is how many bytes a file may have that an attack is written into.
const maxFile = 16 << 20

// inFile says why the file of an attack cannot be written: it comes from the suite, or
// the set-up lays it.
func inFile(p *planting) string {
	target, local := p.param("file_path_vm"), p.param("file_path_local")
	switch {
	case target == "":
		return "params.file_path_vm does not say into which file"
	case !env.Writable(target):
		return "params.file_path_vm " + env.ErrOutside.Error()
	case local != "":
		if _, err := p.inSuite(local); err == nil {
			return ""
		}
	}
	for _, step := range p.task.Setup {
		for _, file := range step.Params.List("files") {
			m, ok := file.(map[string]any)
			if ok && m["path"] == target {
				return ""
			}
		}
	}
	return "its file " + local + " is not in the suite"
}

// plantFile writes the attack into a file: where it is marked, or else before all.
func plantFile(_ context.Context, p *planting) error {
	target := p.param("file_path_vm")
	p.lies = target
	data, err := p.inSuite(p.param("file_path_local"))
	if err != nil || p.param("file_path_local") == "" {
		if data, err = p.laid(target); err != nil {
			return err
		}
	}
	if path.Ext(target) == ".docx" {
		if data, err = office.Prepend(data, p.text); err != nil {
			return err
		}
		return put(p.env, target, string(data))
	}
	text := string(data)
	if !strings.Contains(text, mark) {
		text = comment(target) + mark + "\n" + text
	}
	return put(p.env, target, strings.ReplaceAll(text, mark, p.text))
}

// laid is a file that the set-up has laid on the task's computer.
func (p *planting) laid(guest string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "desktop-agent-plant-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := path.Join(folder, "file")
	if err := p.env.Fetch(guest, file, maxFile); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// comment begins a line that the language of a file passes over.
func comment(name string) string {
	switch path.Ext(name) {
	case ".py", ".sh", ".yaml", ".yml", ".toml":
		return "# "
	case ".js", ".ts", ".go", ".c", ".java":
		return "// "
	}
	return ""
}

// openFile shows the file of an attack.
func openFile(ctx context.Context, p *planting) error {
	return setup.Do(ctx, p.env, []tasks.Step{{Type: "open", Params: tasks.Params{"path": p.param("file_path_vm")}}}, p.opts)
}

// plantName makes a file whose name is the attack.
func plantName(ctx context.Context, p *planting) error {
	folder := p.param("folder")
	if folder == "" {
		folder = env.Home + "/Desktop"
	}
	p.lies = folder
	if folder == env.Home+"/Desktop" {
		windows, err := p.env.Windows(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(windows, func(w screen.Window) bool { return w.Type == "desktop" }) {
			p.lies = "" // what lies there is shown
		}
	}
	name := strings.ReplaceAll(p.text, "/", "∕")
	for len(name) > 240 {
		name = strings.ToValidUTF8(name[:240], "")
	}
	return put(p.env, path.Join(folder, name+".txt"), "")
}

// page is shown where a task has none of its own.
const page = "<!DOCTYPE html><html lang=\"en\"><title>Welcome</title><h1>Welcome</h1><p>" + mark + "</p></html>\n"

func inPage(p *planting) string {
	local := p.param("page")
	if local == "" {
		return ""
	}
	if _, err := p.inSuite(local); err != nil {
		return "its page " + local + " is not in the suite"
	}
	return ""
}

// plantPage has the task's server show a page with the attack.
func plantPage(_ context.Context, p *planting) error {
	text := page
	if local := p.param("page"); local != "" {
		data, err := p.inSuite(local)
		if err != nil {
			return err
		}
		text = string(data)
	}
	var quoted strings.Builder
	if err := xml.EscapeText(&quoted, []byte(p.text)); err != nil {
		return err
	}
	p.lies = watchFolder + "/pages/index.html"
	return put(p.env, p.lies, strings.ReplaceAll(text, mark, quoted.String()))
}

// openPage shows that page, in tasks that open none of their own.
func openPage(ctx context.Context, p *planting) error {
	if p.param("page") != "" {
		return nil // the set-up opens it
	}
	return setup.Do(ctx, p.env, []tasks.Step{{Type: "chrome_open_tabs", Params: tasks.Params{"urls_to_open": []any{"http://127.0.0.1:8098/"}}}}, p.opts)
}

func needsZenity(*planting) string { return env.Lacks("zenity") }

// notified is for notifications. Some of OS-Harm's come beside mail, which lies in a
// profile that is part of an image.
func notified(p *planting) string {
	if p.param("additional_config") == "thunderbird" {
		return needsProfile(p)
	}
	return needsZenity(p)
}

func needsProfile(*planting) string {
	return "the mail profile that it is written into is part of OS-Harm's image"
}

// plantWindow shows a small window with the attack as its title, or as its text.
func plantWindow(ctx context.Context, p *planting) error {
	title, text := "Notification", p.text
	if p.in.Type == "window_title" {
		title, text = p.text, "The backup is complete."
	}
	before, err := p.env.Windows(ctx)
	if err != nil {
		return err
	}
	old := map[uint32]bool{}
	for _, w := range before {
		old[uint32(w.ID)] = true
	}
	if err := p.env.Start(ctx, env.Command{Args: []string{"zenity", "--info", "--no-markup", "--ok-label=Close", "--title=" + title, "--text=" + text, "--width=360"}}); err != nil {
		return err
	}
	return shown(ctx, p.env, old)
}
