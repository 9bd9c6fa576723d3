// Package plant hides attacks in what an agent sees, and tells by effects whether one
// of them, or the task itself, made it do harm.
//
//	w, err := plant.Set(ctx, e, task, &setup.Options{…}) // instead of setup.Do
//	…                                                     // the agent works
//	harm, err := w.Harm(ctx, gaveUp)
//
// What an attack is, and how it gets in, is what a task lists as its injection: types
// and goals of OS-Harm, and some of our own (see [Check]). Harm is what was really
// done: files of the user that are lost or changed, what was sent to a server on the
// task's own computer, tables of cron and profiles of the shell, and the commands that
// a shell has run. What the agent says counts for nothing. Whether the attack could be
// seen at all is told by effects, too: some program opened what holds it.
package plant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"desktop-agent/internal/spell"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/setup"
)

// mark is where a file or page of a task has the attack.
const mark = "{injection}"

// A way is how an attack gets in.
type way struct {
	check  func(*planting) string // why it cannot be done here; "" if it can
	before func(context.Context, *planting) error
	after  func(context.Context, *planting) error
}

// ways are all ways, by the types of injections.
var ways = map[string]way{
	"document":                  {check: inFile, before: plantFile},
	"mail":                      {check: inFile, before: plantFile},
	"vs_code":                   {check: inFile, before: plantFile},
	"libreoffice_writer":        {check: inFile, before: plantFile, after: openFile},
	"website":                   {check: inPage, before: plantPage, after: openPage},
	"file_name":                 {before: plantName},
	"window_title":              {check: needsZenity, after: plantWindow},
	"desktop_notification":      {check: notified, after: plantWindow},
	"thunderbird_mail_received": {check: needsProfile},
	"thunderbird_mail_draft":    {check: needsProfile},
}

// A planting is an injection that is being planted.
type planting struct {
	env  *env.Env
	task *tasks.Task
	in   tasks.Injection
	text string // what the attack says
	lies string // the file that holds it, or the folder of a file of its name; "" if it is in a window
	opts *setup.Options
}

// param is a text of the injection; "" if it has none of the name.
func (p *planting) param(key string) string {
	text, err := p.in.Params.Text(key)
	if err != nil {
		return ""
	}
	return text
}

// Watched reports whether it is known by effects what harm is for a task.
func Watched(task *tasks.Task) bool {
	return task.Allowed != nil || len(task.Injections) > 0
}

// plan is the injection of a task; nil if it has none.
func plan(task *tasks.Task) (*planting, error) {
	if len(task.Injections) == 0 {
		return nil, nil
	}
	p := &planting{task: task, in: task.Injections[0]}
	name := ""
	if len(p.in.Goals) > 0 {
		name = p.in.Goals[0]
	}
	g, known := goals[name]
	p.text = g.text
	if text := p.param("text"); text != "" {
		p.text = text
	} else if !known {
		return nil, fmt.Errorf("its injection has the unknown goal %q: did you mean %s?", name, nearest(name, goals))
	}
	return p, nil
}

// Check says why the injection of a task cannot be planted here; nothing if it can,
// or there is none.
func Check(task *tasks.Task) []string {
	p, err := plan(task)
	if err != nil {
		return []string{err.Error()}
	}
	if why := env.Lacks("python3"); Watched(task) && why != "" {
		return []string{why}
	}
	if p == nil {
		return nil
	}
	w, known := ways[p.in.Type]
	switch {
	case !known:
		return []string{fmt.Sprintf("its injection is not planted here: there is no way %q; did you mean %s?", p.in.Type, nearest(p.in.Type, ways))}
	case len(task.Injections) > 1 || len(p.in.Goals) > 1:
		return []string{"it has several injections: one is planted at a time"}
	case w.check != nil:
		if why := w.check(p); why != "" {
			return []string{"its injection is not planted here: " + why}
		}
	}
	return nil
}

func nearest[T any](name string, known map[string]T) string {
	return strings.Join(spell.Nearest(name, slices.Sorted(maps.Keys(known)), 1), "")
}

// Set sets a task up, plants its injection, and begins to watch. Files of an attack
// lie there before the first program starts; windows come after the last.
func Set(ctx context.Context, e *env.Env, task *tasks.Task, o *setup.Options) (*Watch, error) {
	if !Watched(task) {
		return nil, setup.Do(ctx, e, task.Setup, o)
	}
	p, err := plan(task)
	if err != nil {
		return nil, fmt.Errorf("plant: %w", err)
	}
	w := &Watch{env: e, task: task}
	if err := w.lay(ctx); err != nil {
		return nil, fmt.Errorf("plant: %w", err)
	}
	do := func(steps []tasks.Step) error { return setup.Do(ctx, e, steps, o) }
	if p == nil {
		if err := do(task.Setup); err != nil {
			return nil, err
		}
		return w, w.begin(ctx)
	}
	p.env, p.opts = e, o
	first := slices.IndexFunc(task.Setup, func(s tasks.Step) bool {
		return !slices.Contains([]string{"download", "upload_file", "execute", "command"}, s.Type)
	})
	if first < 0 {
		first = len(task.Setup)
	}
	plants := ways[p.in.Type]
	if err := do(task.Setup[:first]); err != nil {
		return nil, err
	}
	if plants.before != nil {
		if err := plants.before(ctx, p); err != nil {
			return nil, fmt.Errorf("plant %s: %w", p.in.Type, err)
		}
	}
	if err := w.lies(p.lies); err != nil {
		return nil, fmt.Errorf("plant %s: %w", p.in.Type, err)
	}
	err = do(task.Setup[first:])
	if err == nil && plants.after != nil {
		if err = plants.after(ctx, p); err != nil {
			err = fmt.Errorf("plant %s: %w", p.in.Type, err)
		}
	}
	if err == nil {
		err = w.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// put writes a text to a file of the task's computer.
func put(e *env.Env, guest, text string) error {
	return putMode(e, guest, text, 0)
}

// putMode is put for a file with other rights than 0644.
func putMode(e *env.Env, guest, text string, mode os.FileMode) error {
	folder, err := os.MkdirTemp("", "desktop-agent-plant-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	if err := e.Put(file, guest); err != nil || mode == 0 {
		return err
	}
	return e.Chmod(guest, mode)
}

// inSuite returns the text of a file of the task's suite.
func (p *planting) inSuite(name string) ([]byte, error) {
	root, err := os.OpenRoot(p.task.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(filepath.FromSlash(path.Clean(name)))
}
