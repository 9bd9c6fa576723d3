package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Meta says what a benchmark was run with.
type Meta struct {
	Suite    string            `json:"suite"`
	Time     time.Time         `json:"time"`    // when it began
	Repeats  int               `json:"repeats"` // of each trial that were asked for; 0 takes the most seen
	Configs  []Config          `json:"configs"` // in the order to show them
	Host     map[string]string `json:"host,omitempty"`
	Versions map[string]string `json:"versions,omitempty"` // of programs
}

// A Config is what a configuration consists of.
type Config struct {
	Name        string            `json:"name"`                   // as results call it
	Models      map[string]string `json:"models,omitempty"`       // model by role
	Planning    string            `json:"planning"`               // "off", or how the plan is used; "" is not known
	Shell       bool              `json:"shell"`                  // the agent may use a shell
	Guard       string            `json:"guard"`                  // "none", or what reviews actions
	Settings    map[string]any    `json:"settings,omitempty"`     // each by its path, such as "detectors.window"
	ActionSpace string            `json:"action_space,omitempty"` // as OSWorld's folders call it, such as "pyautogui"
	Observation string            `json:"observation,omitempty"`  // such as "screenshot"
	Unknown     bool              `json:"unknown,omitempty"`      // set by [New]: only its name is known
}

// plans reports whether a configuration plans; known is false if neither its
// settings nor its name tell.
func (c *Config) plans() (on, known bool) {
	if c.Planning != "" {
		return c.Planning != "off", true
	}
	for _, part := range nameParts(c.Name) {
		switch part {
		case "plan=on", "planning=on":
			return true, true
		case "plan=off", "planning=off":
			return false, true
		}
	}
	return false, false
}

// besidesPlan is the name without what it says of planning; ok is false if it
// says nothing of it.
func (c *Config) besidesPlan() (rest string, ok bool) {
	all := nameParts(c.Name)
	parts := slices.DeleteFunc(slices.Clone(all), func(part string) bool {
		return strings.HasPrefix(part, "plan=") || strings.HasPrefix(part, "planning=")
	})
	return strings.Join(parts, " "), len(parts) < len(all)
}

func nameParts(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" ,;+&", r) })
}

// differences lists what else than planning two configurations differ in, in
// words. Roles and settings that belong to planning may be absent in b, which
// does not plan, if the two are compared for that.
func differences(a, b *Config, planning bool) []string {
	var list []string
	note := func(what string, in, other any) {
		if whole(in) != whole(other) {
			list = append(list, fmt.Sprintf("%s: %s in %s, %s in %s", what, short(in), name(a.Name), short(other), name(b.Name)))
		}
	}
	for _, role := range keys(a.Models, b.Models) {
		_, there := b.Models[role]
		if _, here := a.Models[role]; planning && here && !there && strings.HasPrefix(role, "plan") {
			continue
		}
		note("model for "+clip(role, 60), a.Models[role], b.Models[role])
	}
	for _, key := range keys(a.Settings, b.Settings) {
		if low := strings.ToLower(key); planning && (strings.HasPrefix(low, "plan") || strings.HasPrefix(low, "execution.")) {
			continue
		}
		note("setting "+clip(key, 60), a.Settings[key], b.Settings[key])
	}
	if !planning {
		note("planning", a.Planning, b.Planning)
	}
	note("shell", shellWords(a.Shell), shellWords(b.Shell))
	note("guard", a.Guard, b.Guard)
	note("action space", a.ActionSpace, b.ActionSpace)
	note("observation", a.Observation, b.Observation)
	return list
}

// ShellWords says whether the agent may use a shell.
func (c *Config) ShellWords() string {
	if c.Unknown {
		return "not known"
	}
	return shellWords(c.Shell)
}

func shellWords(allowed bool) string {
	if allowed {
		return "allowed"
	}
	return "not allowed"
}

// keys returns the keys of two maps in order.
func keys[V any](a, b map[string]V) []string {
	return slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, m := range []map[string]V{a, b} {
			for k := range maps.Keys(m) {
				if !yield(k) {
					return
				}
			}
		}
	}))
}

// short writes a setting in a few words.
func short(v any) string { return clip(whole(v), 80) }

// whole writes a setting, as long as it is.
func whole(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return cmp.Or(v, "none")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return string(data)
}

// name shows the name of a configuration in a sentence.
func name(config string) string {
	if config == "" {
		return "the one without a name"
	}
	return "“" + clip(config, 60) + "”"
}
