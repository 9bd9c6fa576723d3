package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld"
	"desktop-agent/tasks/trial"
)

// suiteCmd is about task suites.
type suiteCmd struct {
	Check suiteCheckCmd `cmd:"" help:"Say of each task whether it loads, has its files, can be set up and judged, and why not."`
}

// suiteFlags say which tasks, and what they may use.
type suiteFlags struct {
	AllowHost []string `help:"Let tasks download from this host, although it is on this machine or the network around it." placeholder:"HOST" group:"Suite"`
	Cache     string   `help:"Folder of what tasks download, in OSWorld's layout." default:"cache" type:"path" group:"Suite"`
	Offline   bool     `help:"Take what is not in the cache from nowhere." group:"Suite"`
	Network   bool     `help:"Let the tasks' programs use the network." group:"Suite"`
	Only      []string `help:"Only these tasks, by ID or its beginning; can be given again." placeholder:"ID" env:"-" group:"Suite"`
	Domain    []string `help:"Only tasks of these domains." placeholder:"NAME" env:"-" group:"Suite"`
	// What is left of isolation is asked for on the command line alone.
	Unisolated bool `help:"Run the tasks' commands on this machine itself, with the rights of this user, or as nobody if that is root; without it they are kept apart, which takes bubblewrap." env:"-" json:",omitempty" group:"Suite"`
	Compat     bool `help:"Repeat OSWorld's defects in set-up, getters and metrics." group:"Suite"`
}

// load reads a suite and chooses its tasks. digest names the whole suite by its
// content.
func (f suiteFlags) load(path string) (suite *tasks.Suite, digest string, problems osworld.Problems, err error) {
	suite, err = osworld.Load(path)
	problems, _ = errors.AsType[osworld.Problems](err)
	if err != nil && problems == nil {
		return nil, "", nil, &usageError{hintError{err, "name the folder of a suite, one of its test_*.json, or the file of a task"}}
	}
	if digest, err = digestOf(suite); err != nil {
		return nil, "", nil, err
	}
	var chosen []*tasks.Task
	for _, t := range suite.Tasks {
		if f.wants(t) {
			chosen = append(chosen, t)
		}
	}
	if len(chosen) == 0 && len(problems) == 0 {
		return nil, "", nil, &usageError{hintError{errors.New("no task is chosen"), "see which there are: desktop-agent suite check SUITE"}}
	}
	suite.Tasks = chosen
	return suite, digest, problems, nil
}

// digestOf names the tasks of a suite by their content.
func digestOf(suite *tasks.Suite) (string, error) {
	list := make([]tasks.Task, len(suite.Tasks))
	for i, t := range suite.Tasks {
		list[i] = *t
		list[i].Dir = ""
	}
	data, err := json.Marshal(list)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

func (f suiteFlags) wants(t *tasks.Task) bool {
	only, domain := len(f.Only) == 0, len(f.Domain) == 0
	for _, id := range f.Only {
		only = only || id != "" && strings.HasPrefix(t.ID, id)
	}
	for _, name := range f.Domain {
		domain = domain || t.Domain == name
	}
	return only && domain
}

// runner returns what does the trials of a suite.
func (f suiteFlags) runner(suite *tasks.Suite) *trial.Runner {
	return &trial.Runner{Suite: suite, Unisolated: f.Unisolated, Network: f.Network, Offline: f.Offline, Cache: f.Cache, Compat: f.Compat}
}

// isolation says how far tasks are kept apart from this machine, or why they cannot be.
func (f suiteFlags) isolation(ctx context.Context) (env.Isolation, error) {
	found, err := env.Probe(ctx, &env.Options{Unisolated: f.Unisolated, Network: f.Network})
	if no, ok := errors.AsType[*env.NoIsolationError](err); ok {
		err = hintError{errors.New("tasks cannot be kept apart from this machine: " + no.Why),
			no.Do + "; or pass --unisolated, if the suite's commands may do whatever this user may"}
	}
	return found, err
}

// isolationText says it in a line.
func (f suiteFlags) isolationText(ctx context.Context) string {
	found, err := f.isolation(ctx)
	switch {
	case err != nil:
		text := "isolation: NONE, so that bench refuses: " + oneLine(err)
		if hint := hintOf(err); hint != "" {
			text += ": " + hint
		}
		return text
	case found.Why != "":
		return "isolation: " + strings.Replace(found.Why, "not isolated", "NOT ISOLATED", 1) + "; limits: " + found.Limits
	case !found.Network:
		return "isolation: files, processes, devices and memory of their own, and the network of this machine; limits: " + found.Limits
	}
	return "isolation: files, processes, devices, memory and network of their own; limits: " + found.Limits
}

// suiteCheckCmd looks at a suite without doing anything but, if asked, its controls.
type suiteCheckCmd struct {
	Suite string `arg:"" help:"The suite: its folder, one of its test_*.json, or the file of a task." type:"path"`
	JSON  bool   `name:"json" help:"Write each task as a line of JSON."`
	Try   bool   `name:"run" help:"Set each task up that can be done, do nothing, and say where that scores above 0 or breaks."`

	suiteFlags
}

// Run prints a row for each task.
func (s *suiteCheckCmd) Run(ctx context.Context, c console) error {
	suite, _, problems, err := s.load(s.Suite)
	if err != nil {
		return err
	}
	runner := s.runner(suite)
	list := make([]trial.Checked, len(suite.Tasks))
	for i, task := range suite.Tasks {
		list[i] = runner.Check(task)
	}
	tried, err := s.tryAll(ctx, runner, list)
	if err != nil {
		return err
	}
	if s.JSON {
		err = checkedLines(c.Out, list)
	} else {
		err = checkedTable(c.Out, list)
	}
	for _, p := range problems {
		fmt.Fprintln(c.Err, "does not load:", printable(p.String()))
	}
	fmt.Fprintln(c.Err, printable(s.isolationText(ctx)))
	ready := 0
	for _, row := range list {
		if row.Ready() {
			ready++
		}
	}
	if s.Try {
		fmt.Fprintf(c.Err, "%s with nothing done\n", counted(tried, "trial"))
	}
	fmt.Fprintf(c.Err, "%s loaded, %d of them can be done here; %s\n", counted(len(list), "task"), ready, counted(len(problems), "problem"))
	if err == nil && len(problems) > 0 {
		err = errReported
	}
	return err
}

// tryAll has nothing done in each task that can be done, and says how often it did.
func (s *suiteCheckCmd) tryAll(ctx context.Context, runner *trial.Runner, list []trial.Checked) (tried int, err error) {
	if !s.Try {
		return 0, nil
	}
	if _, err := s.isolation(ctx); err != nil {
		return 0, err
	}
	runner.Etc = &env.Etc{}
	defer func() { err = errors.Join(err, runner.Etc.Close()) }()
	for i, task := range runner.Suite.Tasks {
		if err := runner.Control(ctx, task, &list[i]); err != nil {
			return tried, err
		}
		if list[i].Control != nil {
			tried++
		}
	}
	return tried, nil
}

func checkedLines(w io.Writer, list []trial.Checked) error {
	out := json.NewEncoder(jsonTo{w})
	out.SetEscapeHTML(false)
	for _, row := range list {
		if err := out.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

func checkedTable(w io.Writer, list []trial.Checked) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DOMAIN\tTASK\tFILES\tSET-UP\tJUDGED\tWHY NOT")
	for _, row := range list {
		why := strings.Join(row.Why, "; ")
		fmt.Fprintf(table, "%s\t%s\t%d/%d\t%s\t%s\t%s\n", printable(row.Domain), printable(row.Task), row.Files-row.Lacks, row.Files,
			yesNo(row.Setup), judgedBy(row), printable(why))
	}
	return table.Flush()
}

// judgedBy says whether a result can be judged, and if so whether by a model alone.
func judgedBy(row trial.Checked) string {
	if row.Judged && row.Judge {
		return "model"
	}
	return yesNo(row.Judged)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "NO"
}
