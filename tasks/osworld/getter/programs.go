package getter

import (
	"encoding/json"
	"slices"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
)

// programs are the programs whose settings, windows or answers a getter reads; of
// each list, one is enough.
var programs = map[string][]string{
	"gimp_config_file": {"gimp"},
	"vlc_config":       {"vlc"},
	"vlc_playing_info": {"vlc"},

	// Terminals that tell their text.
	"vm_terminal_output": {"gnome-terminal", "xfce4-terminal", "mate-terminal", "lxterminal", "tilix", "terminator", "kgx", "ptyxis", "konsole"},

	"default_search_engine":           browsers,
	"profile_name":                    browsers,
	"chrome_language":                 browsers,
	"chrome_font_size":                browsers,
	"chrome_color_scheme":             browsers,
	"chrome_appearance_mode_ui":       browsers,
	"enable_do_not_track":             browsers,
	"enable_safe_browsing":            browsers,
	"enable_enhanced_safety_browsing": browsers,
	"new_startup_page":                browsers,
	"data_delete_automacally":         browsers,
	"enabled_experiments":             browsers,
	"bookmarks":                       browsers,
	"cookie_data":                     browsers,
	"history":                         browsers,
	"find_unpacked_extension_path":    browsers,
	"find_installed_extension_name":   browsers,
	"extensions_installed_from_shop":  browsers,
	"active_url_from_accessTree":      browsers,
	"active_tab_url_parse":            browsers,
	"url_dashPart":                    browsers,
	"url_path_parse":                  browsers,
	"open_tabs_info":                  browsers,
	"active_tab_info":                 browsers,
	"active_tab_html_parse":           browsers,
	"chrome_saved_address":            browsers,
	"page_info":                       browsers,
	"pdf_from_url":                    browsers,
	"info_from_website":               browsers,
}

var browsers = []string{"google-chrome"}

// Lacks says which programs a getter needs that are not there for tasks on this
// machine, and what has them: those that it asks, those whose settings it reads by
// a path or a command, and known ones that its command starts. What else a command
// starts may be for the agent to make.
func Lacks(g *tasks.Getter) []string {
	if g == nil {
		return nil
	}
	var list []string
	add := func(why string) {
		if why != "" && !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	add(env.Lacks(programs[name(g)]...))
	read := g.Params["path"]
	if g.Type == "vm_command_line" || g.Type == "vm_command_error" {
		read = g.Params["command"]
		c, err := readCommand(g.Params, 0)
		if err != nil {
			return list
		}
		for _, program := range c.Programs() {
			if env.Known(program) {
				add(env.Lacks(program))
			}
		}
	}
	if g.Type == "cloud_file" {
		return list
	}
	text, err := json.Marshal(read)
	if err != nil {
		return list
	}
	for _, why := range env.LacksTraced(string(text)) {
		add(why)
	}
	return list
}
