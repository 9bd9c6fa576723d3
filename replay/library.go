package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"desktop-agent/internal/filelock"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// A Summary is a run in a few words, from run.json and the sizes of its files.
type Summary struct {
	ID     string `json:"id"` // the name of its folder
	Dir    string `json:"dir"`
	Task   string `json:"task"`
	State  State  `json:"state"`
	Killed bool   `json:"killed"` // its state is [Running], but nobody writes it
	// Resumable says that it did not come to an end, and that [Run.Resumable] lets it be gone on
	// with. Whether there is somebody who can, it does not know: who reads the form of the
	// actor's replies, executes its plan, or opens its desktop.
	Resumable bool        `json:"resumable,omitempty"`
	Outcome   run.Outcome `json:"outcome,omitempty"` // "" unless its last event is there
	Steps     int         `json:"steps"`
	Calls     int         `json:"calls"` // of models
	Dollars   float64     `json:"dollars"`
	// Unpriced says that Dollars is 0 because no price of the models is known.
	Unpriced bool `json:"unpriced,omitempty"`

	Created time.Time     `json:"created"`
	Elapsed time.Duration `json:"elapsed"`          // nanoseconds; 0 if unknown
	Bytes   int64         `json:"bytes"`            // of all its files
	Replay  *Replayed     `json:"replay,omitempty"` // nil if the run is no replay
	Error   string        `json:"error,omitempty"`  // why it cannot be read; then the rest is unknown
}

// Replayed is which run a summarized one does again, as [run.Replay].
type Replayed struct {
	Run string `json:"run"` // its ID
	How string `json:"how"`
}

// Status is the state in a word or two: "done", "out of steps", "running",
// "interrupted", "killed" or "damaged".
func (s Summary) Status() string {
	switch {
	case s.Error != "":
		return "damaged"
	case s.Outcome != "":
		return strings.ReplaceAll(string(s.Outcome), "_", " ")
	case s.Killed:
		return "killed"
	}
	return string(s.State)
}

// runID is the name of a folder that [Create] makes.
var runID = regexp.MustCompile(`^\d{8}T\d{6}Z-[0-9a-f]{6}$`)

// createdOf is when the run of a folder with this name was begun, to the second, and
// whether [Create] gives such names.
func createdOf(id string) (time.Time, bool) {
	stamp, _, _ := strings.Cut(id, "-")
	created, err := time.Parse(stampLayout, stamp)
	return created, err == nil && runID.MatchString(id)
}

// List tells of all runs in a folder, the newest first. A run that cannot be
// read is among them, with its error. Links are not followed, and folders that
// hold no run are left out.
func List(dir string) ([]Summary, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var list []Summary
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && isRun(path) {
			list = append(list, Summarize(path))
		}
	}
	slices.SortFunc(list, func(a, b Summary) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.ID, a.ID))
	})
	return list, nil
}

// isRun reports whether a folder holds a run, if a damaged one.
func isRun(dir string) bool {
	for _, name := range []string{infoFile, eventsFile} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return runID.MatchString(filepath.Base(dir))
}

// Summarize tells of one run.
func Summarize(dir string) Summary {
	name := filepath.Base(dir)
	if abs, err := filepath.Abs(dir); err == nil {
		name = filepath.Base(abs)
	}
	s := Summary{ID: name, Dir: dir}
	s.Created, _ = createdOf(name) // for a run that tells no time
	s.Bytes = sizeOf(dir)
	r, err := Open(dir)
	if err != nil {
		s.Error = cutPrefix(err)
		return s
	}
	s.State, s.Created = r.Info.State, r.Info.Created
	s.Killed = r.Info.State == Running && !r.Busy
	if asked := r.asked(); asked != nil {
		s.Task, s.Replay = asked.Task, (*Replayed)(asked.Replay)
	}
	end := r.Info.Ended
	if end == nil {
		if end, err = s.count(r); err != nil {
			s.Error = err.Error()
		}
	}
	if end != nil {
		s.Outcome, s.Steps, s.Calls, s.Dollars = end.Outcome, end.Steps, end.Calls, end.Dollars
		s.Elapsed = time.Duration(end.Millis) * time.Millisecond
	} else if err == nil && !r.Busy {
		_, why := r.Resumable()
		s.Resumable = why == nil
	}
	s.Unpriced = r.Info.Unpriced(s.Calls, s.Dollars)
	return s
}

// cutPrefix is the cause of an error of Open: where the run lies is known.
func cutPrefix(err error) string {
	if cause := errors.Unwrap(err); cause != nil {
		return cause.Error()
	}
	return err.Error()
}

// count reads what the last event of a run would tell from those that are there. If that one
// is, it returns it: its program was ended before run.json told of it.
func (s *Summary) count(r *Run) (*run.RunEnded, error) {
	f, err := r.open(eventsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := scanLines(f, r.whole)
	n, worked := 0, run.Worked{}
	for lines.Scan() {
		n++
		e, err := inBrief(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s line %d: %w", eventsFile, n, err)
		}
		worked.Add(e)
		switch data := e.Data.(type) {
		case run.ModelCalled:
			s.Calls++
			s.Dollars += data.Dollars
		case run.RunEnded:
			return &data, nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s line %d: %w", eventsFile, n+1, clearer(err))
	}
	s.Steps, s.Elapsed = worked.Steps, worked.Time
	return nil, nil
}

// inBrief reads an event as far as it counts: of most, the data is left out.
func inBrief(line []byte) (run.Event, error) {
	l, err := eventjson.Parse(line)
	if err != nil {
		return run.Event{}, err
	}
	switch l.Kind {
	case run.Kind(run.ModelCalled{}), run.Kind(run.Resumed{}), run.Kind(run.RunEnded{}):
		return l.Event()
	}
	return run.Event{Time: l.Time, Step: l.Step}, nil
}

// sizeOf returns the bytes of all files of a folder, as far as they can be seen.
func sizeOf(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be seen is not counted
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}

// Find returns the folder of the run that a person names: by "last", the
// newest; by its ID, the beginning of it or the six digits at its end; or by
// the path of its folder. dir is the folder of runs. The error says what to
// write instead.
func Find(dir, name string) (string, error) {
	if name == "" {
		return "", errors.New("the name of a run is missing: write its ID, the path of its folder, or last")
	}
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) || name == "." || name == ".." {
		return folder(name)
	}
	if !strings.HasPrefix(name, ".") && isRun(filepath.Join(dir, name)) {
		return folder(filepath.Join(dir, name))
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for run %q: %w", name, err)
	}
	if name == "last" {
		return last(dir)
	}
	var fits []string
	for _, e := range entries {
		id := e.Name()
		if e.IsDir() && !strings.HasPrefix(id, ".") && (strings.HasPrefix(id, name) || strings.HasSuffix(id, "-"+name)) && isRun(filepath.Join(dir, id)) {
			fits = append(fits, id)
		}
	}
	switch {
	case len(fits) == 1:
		return filepath.Join(dir, fits[0]), nil
	case len(fits) > 1:
		const shown = 5
		more := ""
		if len(fits) > shown {
			more = fmt.Sprintf(" and %d more", len(fits)-shown)
		}
		return "", fmt.Errorf("%q is the beginning of %d runs (%s%s): write more of it", name, len(fits), strings.Join(fits[:min(len(fits), shown)], ", "), more)
	}
	if isRun(name) {
		return name, nil
	}
	return "", fmt.Errorf("there is no run %.80q in %s: %w", name, dir, fs.ErrNotExist)
}

func folder(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder: name the folder of a run", path)
	}
	return path, nil
}

// last returns the newest run of a folder.
func last(dir string) (string, error) {
	list, err := List(dir)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", fmt.Errorf("there is no run in %s: %w", dir, fs.ErrNotExist)
	}
	return list[0].Dir, nil
}

// PruneOptions say which runs are removed. The zero value removes none.
type PruneOptions struct {
	// Keep is how many runs, the newest, stay whatever else is said. If
	// neither OlderThan nor MaxBytes is set, all others are removed.
	Keep int
	// OlderThan removes the runs that began longer ago.
	OlderThan time.Duration
	// MaxBytes removes the oldest runs until the others have no more bytes.
	MaxBytes int64
	// DryRun removes nothing, and returns what would be.
	DryRun bool
	// Confirm is asked before the first run is removed; its error ends it all.
	// nil agrees.
	Confirm func([]Summary) error
	// Now is the time to count from; time.Now if nil.
	Now func() time.Time
}

// pruned begins the name of a folder that is being removed.
const pruned = ".pruned-"

// Prune removes runs from a folder of runs, the oldest first, and returns those
// that it removed, also beside an error. It removes whole folders of runs that
// can be read, and nothing else: not a run that is being written or damaged,
// not what is reached by a link. A folder is renamed first, so that no half run
// is left if the program is ended; the next Prune removes it for good.
func Prune(ctx context.Context, dir string, opts *PruneOptions) ([]Summary, error) {
	if opts == nil {
		opts = &PruneOptions{}
	}
	list, err := List(dir)
	if err != nil {
		return nil, err
	}
	doomed := opts.choose(list)
	if opts.DryRun {
		return doomed, nil
	}
	if opts.Confirm != nil && len(doomed) > 0 {
		if err := opts.Confirm(doomed); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := sweep(root); err != nil {
		return nil, fmt.Errorf("remove runs: %w", err)
	}
	var removed []Summary
	for _, s := range doomed {
		err := context.Cause(ctx)
		if err == nil {
			err = remove(root, s)
		}
		if errors.Is(err, ErrWriter) {
			continue
		}
		if err != nil {
			return removed, fmt.Errorf("remove run %s: %w", s.ID, err)
		}
		removed = append(removed, s)
	}
	return removed, nil
}

// choose returns the runs to remove, the oldest first. list begins with the
// newest.
func (o *PruneOptions) choose(list []Summary) (doomed []Summary) {
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	var total int64
	for _, s := range list {
		total += s.Bytes
	}
	for i := len(list) - 1; i >= max(0, o.Keep); i-- {
		s := list[i]
		if s.Error != "" || s.State == Running && !s.Killed {
			continue
		}
		old := o.OlderThan > 0 && now().Sub(s.Created) > o.OlderThan
		much := o.MaxBytes > 0 && total > o.MaxBytes
		rest := o.Keep > 0 && o.OlderThan <= 0 && o.MaxBytes <= 0
		if old || much || rest {
			doomed = append(doomed, s)
			total -= s.Bytes
		}
	}
	return doomed
}

// remove removes the folder of a run that nobody writes.
func remove(root *os.Root, s Summary) error {
	r, err := Open(s.Dir)
	if err != nil {
		return err
	}
	f, err := r.open(eventsFile)
	if err != nil {
		return err
	}
	err = lock(f)
	if !filelock.Held {
		f.Close() // here an open file could not be renamed
	} else {
		defer filelock.Close(f)
	}
	if err != nil {
		return err
	}
	name := filepath.Base(s.Dir)
	if err := root.Rename(name, pruned+name); err != nil {
		return err
	}
	return root.RemoveAll(pruned + name)
}

// sweep removes what an earlier Prune began to remove.
func sweep(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), pruned) && isRunName(root, e.Name()) {
			err = errors.Join(err, root.RemoveAll(e.Name()))
		}
	}
	return err
}

// isRunName reports whether a folder that is being removed was one of a run.
func isRunName(root *os.Root, name string) bool {
	if runID.MatchString(strings.TrimPrefix(name, pruned)) {
		return true
	}
	_, err := root.Lstat(name + "/" + eventsFile)
	return err == nil
}
