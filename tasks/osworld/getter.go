package osworld

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/getter"
)

// checkGetter tells what is wrong with a getter.
func (f *finder) checkGetter(g *tasks.Getter, where string) {
	var cannot *getter.Unsupported
	if err := getter.Check(g); err != nil {
		if !errors.As(err, &cannot) {
			f.add(where, "%v", err)
		}
		return
	}
	switch g.Type {
	case "vm_file":
		f.paths(g.Params, where, leavesTask)
	case "cloud_file":
		f.paths(g.Params, where, leavesSuite)
	case "rule", "rule_relativeTime":
		if text, isText := g.Params["rules"].(string); isText {
			f.add(where+".rules", "%.60q is not an object", text)
		}
	}
}

// paths notes the paths of a getter that something is wrong with.
func (f *finder) paths(p tasks.Params, where string, fault func(string) error) {
	names, err := p.Texts("path")
	f.check(where, err)
	for _, name := range names {
		f.check(where+".path", fault(name))
	}
}

// leavesTask says that a path climbs out of what a task may write.
func leavesTask(name string) error {
	if !strings.Contains(name, "..") || env.Writable(name) {
		return nil // files of the system may be looked at
	}
	return fmt.Errorf("%.100q leaves what the task may write", name)
}

// leavesSuite says that a path is not one in the folder of the suite. What has
// another scheme than file:// comes from the network, or the cache.
func leavesSuite(name string) error {
	inside, file := strings.CutPrefix(name, "file://")
	if !file && strings.Contains(name, "://") || filepath.IsLocal(filepath.FromSlash(inside)) {
		return nil
	}
	return fmt.Errorf("%.100q leaves the folder of the suite", name)
}
