package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"desktop-agent/internal/filelock"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// ErrEnded reports a run that has come to its end: there is nothing to go on with.
var ErrEnded = errors.New("the run has ended already")

// Reopen takes the journal of a run up again whose program was ended: from now on this
// process writes it, after the last event that is whole. What was being written then is
// left out, and so are frames of which no event tells and that cannot be read.
//
// A run that ended is an [ErrEnded], one that is being written an [ErrWriter], which names
// the process, and one of another version an [ErrSchema].
func Reopen(dir string) (*Journal, error) {
	j, err := reopen(dir)
	if err != nil {
		return nil, fmt.Errorf("take the run in %s up again: %w", dir, err)
	}
	return j, nil
}

func reopen(dir string) (_ *Journal, err error) {
	r := &Run{Dir: dir}
	if err := r.load(); err != nil {
		return nil, err
	}
	j := &Journal{dir: dir}
	if j.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			if j.events != nil {
				_ = filelock.Close(j.events)
			}
			j.root.Close()
		}
	}()
	if j.events, err = j.root.OpenFile(eventsFile, os.O_RDWR, 0); err != nil {
		return nil, hint(err)
	}
	if err := lock(j.events); err != nil {
		return nil, errors.Join(err, writerOf(j.events))
	}
	// Now nobody else writes: what was read before may have changed.
	if err := r.load(); err != nil {
		return nil, err
	}
	if err := j.continues(r); err != nil {
		return nil, err
	}
	if err := errors.Join(j.events.Truncate(j.size), j.events.Sync()); err != nil {
		return nil, hint(err)
	}
	if _, err := j.events.Seek(j.size, io.SeekStart); err != nil {
		return nil, err
	}
	j.frames.start(j.root)
	if err := j.adopt(r); err != nil {
		return nil, err
	}
	i := &j.info
	*i = Info{Schema: r.Info.Schema, ID: r.Info.ID, State: Running, Created: r.Info.Created, Asked: r.Info.Asked}
	if err := i.save(j.root); err != nil {
		return nil, err
	}
	return j, nil
}

// continues reads what the next event goes on from.
func (j *Journal) continues(r *Run) error {
	r.Info.Asked = r.asked()
	var last run.Event
	for e, err := range r.Events() {
		if err != nil {
			return err
		}
		last = e
	}
	if ended, ok := last.Data.(run.RunEnded); ok {
		return fmt.Errorf("%w: %s", ErrEnded, ended.Outcome.Words(ended.Grade))
	}
	j.written, j.size = last.Seq, r.whole
	f, err := r.open(eventsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := scanLines(f, r.whole)
	lines.Split(wholeLines)
	var line []byte
	for lines.Scan() {
		line = append(line[:0], lines.Bytes()...)
	}
	if len(line) > 0 {
		j.head = hashOf(line)
	}
	return lines.Err()
}

// adopt takes the frames that no event gives a hash for: those that are whole belong to the
// next event, and others go.
func (j *Journal) adopt(r *Run) error {
	known, err := r.hashed()
	if err != nil {
		return err
	}
	dir, err := j.root.Open(framesDir)
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, e := range entries {
		name := framesDir + "/" + e.Name()
		if known[name] || !e.Type().IsRegular() || !frameFile.MatchString(name) {
			continue
		}
		data, err := r.read(name, maxImage)
		if err != nil {
			return err
		}
		if _, err := DecodeImage(data); err != nil {
			if err := j.root.Remove(name); err != nil {
				return err
			}
			continue
		}
		if j.frames.hashes == nil {
			j.frames.hashes = map[string]string{}
		}
		j.frames.hashes[name], known[name] = hashOf(data), true
	}
	for name := range known {
		if !strings.Contains(name, ".sent.") {
			j.frames.stored++
		}
	}
	return nil
}

// hashed returns the files that lines give hashes for.
func (r *Run) hashed() (map[string]bool, error) {
	known := map[string]bool{}
	f, err := r.open(eventsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := scanLines(f, r.whole)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(`"files":{`)) {
			continue
		}
		l, err := eventjson.Parse(lines.Bytes())
		if err != nil {
			return nil, err
		}
		for name := range l.Files {
			known[name] = true
		}
	}
	return known, lines.Err()
}

// writerOf says which process has the lock of a file; nil if nobody can tell.
func writerOf(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	inode := inodeOf(info)
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 4711 fd:01:5243 0 EOF
		w := strings.Fields(line)
		if len(w) < 6 || w[1] != "FLOCK" || !strings.HasSuffix(w[5], ":"+inode) {
			continue
		}
		if pid, err := strconv.Atoi(w[4]); err == nil && pid > 0 {
			return fmt.Errorf("it is process %d", pid)
		}
	}
	return nil
}

// ErrNotResumable is wrapped by the error of a run that cannot be gone on with.
var ErrNotResumable = errors.New("the run cannot be resumed")

// Resumable returns what was asked of a run that an agent or an engine can go on with, or an
// [ErrNotResumable] that says why nobody can. Whether it has ended, or is being written, is
// another question: [Reopen] says that.
func (r *Run) Resumable() (*run.RunStarted, error) {
	asked, why := r.asked(), ""
	switch {
	case asked == nil:
		why = "its journal does not tell what was asked, as the program ended before it began: do the task anew"
	case asked.Replay != nil:
		why = "it does the run " + asked.Replay.Run + " again: replay that one"
	case asked.Parser == "" && asked.Models["actor"] == "person":
		why = "it is a recording of a person, and no task to be finished"
	case asked.Parser == "":
		why = "no model decided in it"
	case !slices.Contains([]string{"suggestive", "off", string(planner.Deliberate)}, asked.Planning):
		why = fmt.Sprintf("this program does not know planning %q", asked.Planning)
	default:
		return asked, nil
	}
	return nil, fmt.Errorf("%w: %s: %s", ErrNotResumable, r.Info.ID, why)
}

// asked is what was asked: also where the program was ended between the first event and the
// note of it in run.json. nil if no event tells.
func (r *Run) asked() *run.RunStarted {
	if r.Info.Asked != nil {
		return r.Info.Asked
	}
	for e, err := range r.Events() {
		if started, ok := e.Data.(run.RunStarted); ok && err == nil {
			return &started
		}
		break
	}
	return nil
}
