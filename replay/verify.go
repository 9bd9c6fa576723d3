package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// A Verification tells whether the files of a run are those that were written.
//
// It finds damage, not forgery: who changes a line and computes all hashes after
// it anew is not found, unless Head is compared with one kept elsewhere.
type Verification struct {
	ID       string    `json:"id"`
	Schema   int       `json:"schema"`
	Events   int       `json:"events"`             // whole lines
	Frames   int       `json:"frames"`             // frame files that are as they were written
	Head     string    `json:"head"`               // SHA-256 of the last line, which stands for all lines and for the files that they name; "" without lines
	Problems []Problem `json:"problems,omitempty"` // the first hundred
	More     int       `json:"more,omitempty"`     // problems beyond these
	Notes    []string  `json:"notes,omitempty"`    // what cannot be told, and why
	Others   []string  `json:"others,omitempty"`   // files that are no evidence
}

// A Problem is something in the folder of a run that does not fit the rest.
type Problem struct {
	File string `json:"file"`           // its path in the folder
	Line int    `json:"line,omitempty"` // of events.jsonl, from 1; 0 for the whole file
	What string `json:"what"`
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s line %d: %s", p.File, p.Line, p.What)
	}
	return p.File + ": " + p.What
}

// Whole reports whether nothing is damaged.
func (v *Verification) Whole() bool { return len(v.Problems) == 0 }

// maxProblems is how many problems are told one by one.
const maxProblems = 100

// Verify checks the chain of hashes from line to line, every frame file, and
// run.json against the events. What it finds is in the result; an error says that
// it could not look.
//
// It reads everything once, and keeps in memory one turn and the names of the
// files.
func (r *Run) Verify(ctx context.Context) (*Verification, error) {
	v := verifier{run: r, files: map[string]bool{}, frames: map[string]int{}, lost: map[string]bool{}}
	v.ID, v.Schema = r.Info.ID, r.Info.Schema
	for _, part := range []func(context.Context) error{v.lines, v.tail, v.summary, v.named, v.turns, v.strangers} {
		if err := cmp.Or(part(ctx), context.Cause(ctx)); err != nil {
			return nil, fmt.Errorf("verify the run in %s: %w", r.Dir, err)
		}
	}
	return &v.Verification, nil
}

// A verifier is one run of Verify.
type verifier struct {
	Verification
	run     *Run
	files   map[string]bool // those that a hash was given for
	frames  map[string]int  // the observed frames that have no hash: the line
	stored  int             // whole screens with a hash
	acting  int             // the line of the newest act: the frames before it were safe
	lost    map[string]bool // frames that were being written when the program ended, before the run was taken up again
	seq     int             // of the line before
	head    string          // hash of the line before
	broken  bool            // a line could not be read
	started *run.RunStarted
	ended   *run.RunEnded
}

func (v *verifier) problem(file string, line int, format string, args ...any) {
	if len(v.Problems) == maxProblems {
		v.More++
		return
	}
	v.Problems = append(v.Problems, Problem{file, line, fmt.Sprintf(format, args...)})
}

// told reports whether the newest problem is one of a line of the journal.
func (v *verifier) told(line int) bool {
	n := len(v.Problems)
	return n > 0 && v.Problems[n-1].File == eventsFile && v.Problems[n-1].Line == line
}

// lines checks the journal line by line.
func (v *verifier) lines(ctx context.Context) error {
	f, err := v.run.open(eventsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := scanLines(f, v.run.whole)
	lines.Split(wholeLines)
	for lines.Scan() && ctx.Err() == nil {
		v.Events++
		v.line(ctx, lines.Bytes())
		v.head = hashOf(lines.Bytes())
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		v.broken = true
		v.problem(eventsFile, v.Events+1, "%v; it and what follows were not checked", clearer(lines.Err()))
		return nil
	}
	v.Head = v.head
	return lines.Err()
}

// wholeLines splits into lines with their line breaks.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func (v *verifier) line(ctx context.Context, text []byte) {
	n := v.Events
	raw, err := eventjson.Parse(text)
	if err != nil {
		v.broken = true
		v.problem(eventsFile, n, "it was changed: %v", err)
		v.seq++
		return
	}
	switch {
	case raw.Seq > v.seq+1:
		v.problem(eventsFile, n, "%s missing before it: it is event %d, after event %d", counted(raw.Seq-v.seq-1, "event is", "events are"), raw.Seq, v.seq)
	case raw.Seq != v.seq+1:
		v.problem(eventsFile, n, "it is event %d, after event %d", raw.Seq, v.seq)
	case raw.Prev != v.head && n == 1:
		v.problem(eventsFile, n, "the first event does not begin a chain: it was changed")
	case raw.Prev != v.head && !v.told(n-1):
		v.problem(eventsFile, n-1, "it is not the line that line %d was written after: one of the two was changed", n)
	}
	v.seq = raw.Seq
	for _, name := range slices.Sorted(maps.Keys(raw.Files)) {
		v.file(ctx, eventsFile, n, name, raw.Files[name])
	}
	e, err := event(raw)
	if err != nil {
		v.broken = true
		v.problem(eventsFile, n, "%v", err)
		return
	}
	v.event(n, e)
}

func (v *verifier) event(n int, e run.Event) {
	if _, first := e.Data.(run.RunStarted); first != (n == 1) {
		v.problem(eventsFile, n, "the first event, and no other, must be run_started: it is %s", e.Kind)
	}
	switch data := e.Data.(type) {
	case run.RunStarted:
		v.started = &data
	case run.RunEnded:
		v.ended = &data
	case run.Observed:
		v.observed(n, data)
	case run.Acting:
		v.acting = n
	case run.Resumed:
		for id, line := range v.frames {
			v.lost[id] = v.lost[id] || line > v.acting && !v.files[framePath(id)]
		}
	}
}

// observed remembers the frame of an observation until all hashes are known,
// and compares its size with what the event says.
func (v *verifier) observed(n int, o run.Observed) {
	if err := checkFrameID(o.FrameID); err != nil {
		v.problem(eventsFile, n, "%v", err)
		return
	}
	if _, twice := v.frames[o.FrameID]; twice {
		v.problem(eventsFile, n, "frame %s was observed before", o.FrameID)
	}
	v.frames[o.FrameID] = n
	size, err := v.run.frameSize(o.FrameID)
	if err == nil && size != o.Frame {
		v.problem(framePath(o.FrameID), 0, "it has %d×%d pixels; line %d of %s says %d×%d", size.X, size.Y, n, eventsFile, o.Frame.X, o.Frame.Y)
	}
}

// frameSize reads the size of a frame, without its pixels.
func (r *Run) frameSize(id string) (image.Point, error) {
	f, err := r.open(framePath(id))
	if err != nil {
		return image.Point{}, err
	}
	defer f.Close()
	c, _, err := image.DecodeConfig(io.LimitReader(f, maxImage))
	return image.Pt(c.Width, c.Height), err
}

// frameFile is the path of a file that a journal writes beside its events.
var frameFile = regexp.MustCompile(`^` + framesDir + `/[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\.png|\.sent\.png|\.sent\.jpg)$`)

// file compares a frame file with its hash, given in a line of a file.
func (v *verifier) file(ctx context.Context, in string, n int, name, want string) {
	switch {
	case !frameFile.MatchString(name):
		v.problem(in, n, "it names a file %.80q, which is none of a run; it was not opened", name)
		return
	case v.files[name]:
		v.problem(in, n, "it gives a second hash for %s", name)
		return
	}
	v.files[name] = true
	if !strings.Contains(name, ".sent.") {
		v.stored++
	}
	got, err := v.run.hashFile(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.problem(name, 0, "it is missing")
	case err != nil:
		v.problem(name, 0, "%v", err)
	case got != want:
		where := in
		if n > 0 {
			where = fmt.Sprintf("line %d of %s", n, in)
		}
		v.problem(name, 0, "it was changed: its hash is not the one in %s", where)
	default:
		v.Frames++
	}
}

// hashFile returns the SHA-256 of a file of the run.
func (r *Run) hashFile(ctx context.Context, name string) (string, error) {
	f, err := r.openPlain(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	buf := make([]byte, min(256<<10, info.Size()+1))
	for total := int64(0); total <= maxImage && ctx.Err() == nil; {
		n, err := f.Read(buf)
		sum.Write(buf[:n])
		total += int64(n)
		if err == io.EOF {
			return hex.EncodeToString(sum.Sum(nil)), nil
		} else if err != nil {
			return "", err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	return "", fmt.Errorf("it has more than %d MB, which no frame has", maxImage>>20)
}

// openPlain opens a file that must be there itself: a link is refused, even one
// inside the folder.
func (r *Run) openPlain(name string) (*os.File, error) {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return root.Open(name)
}

// tail checks where the journal ends.
func (v *verifier) tail(ctx context.Context) error {
	info := v.run.Info
	for _, name := range slices.Sorted(maps.Keys(info.Files)) {
		v.file(ctx, infoFile, 0, name, info.Files[name])
	}
	if info.State == Running {
		v.note(v.run.Busy, "the run is being written: it was checked up to its newest event",
			"the run has no end: the program was killed, or could not write any more, as on a full disk: nothing tells which event was the last; the %d that are there fit", v.Events)
		if v.run.Cut > 0 && !v.run.Busy {
			v.note(true, fmt.Sprintf("after them come %d bytes of an event that was not finished", v.run.Cut), "")
		}
		return nil
	}
	switch {
	case v.run.Cut > 0:
		v.problem(eventsFile, v.Events+1, "the line has no end: the file was cut off")
	case info.Head != v.head && v.seq == info.Events:
		v.problem(eventsFile, v.Events, "the last line was changed: its hash is not the head in %s", infoFile)
	}
	switch {
	case v.seq < info.Events:
		v.problem(eventsFile, 0, "its tail is missing: %d of %s", info.Events-v.seq, counted(info.Events, "event", "events"))
	case v.seq > info.Events:
		v.problem(eventsFile, v.Events, "%s after the last one of which %s tells", counted(v.seq-info.Events, "event comes", "events come"), infoFile)
	}
	return nil
}

// note keeps one of two remarks.
func (v *verifier) note(first bool, yes, no string, args ...any) {
	if first {
		v.Notes = append(v.Notes, yes)
		return
	}
	v.Notes = append(v.Notes, fmt.Sprintf(no, args...))
}

// summary compares run.json with the events.
func (v *verifier) summary(context.Context) error {
	info := v.run.Info
	if v.started != nil && v.started.Schema != info.Schema {
		v.problem(infoFile, 0, "schema %d; the first event says %d", info.Schema, v.started.Schema)
	}
	compare := func(key string, told, event any, none bool) {
		if !none && !reflect.DeepEqual(told, event) {
			v.problem(infoFile, 0, "%q is not what the event says", key)
		}
	}
	// An event that could not be read has been told of.
	compare("asked", info.Asked, v.started, v.started == nil && v.broken || info.State == Running)
	compare("ended", info.Ended, v.ended, v.ended == nil && v.broken || info.State == Running)
	if info.State == Ended != (info.Ended != nil) {
		v.problem(infoFile, 0, "its state is %q, but it tells of no such end", info.State)
	}
	if info.State != Running && info.Frames != v.stored {
		v.problem(infoFile, 0, "it counts %s; hashes are given for %d", counted(info.Frames, "frame", "frames"), v.stored)
	}
	return nil
}

// named checks the frames that events name and that have no hash.
func (v *verifier) named(ctx context.Context) error {
	for _, id := range slices.SortedFunc(maps.Keys(v.frames), func(a, b string) int { return v.frames[a] - v.frames[b] }) {
		if ctx.Err() != nil {
			return nil
		}
		name := framePath(id)
		if v.files[name] {
			continue
		}
		f, err := v.run.openPlain(name)
		if err == nil {
			f.Close()
			if v.run.Info.State == Running {
				_, err = v.run.Frame(id)
			}
		}
		switch {
		case err != nil && (v.run.Info.State != Ended || v.lost[id]):
			v.note(true, fmt.Sprintf("%s, of line %d, is not there or not whole: the run was cut off while it was written", name, v.frames[id]), "")
		case errors.Is(err, fs.ErrNotExist):
			v.problem(name, 0, "it is missing; line %d of %s names it", v.frames[id], eventsFile)
		case err != nil:
			v.problem(name, 0, "%v", err)
		case v.run.Info.State == Running:
			v.note(true, name+" was written after the last event, so no hash tells whether it is as it was", "")
		default:
			v.problem(name, 0, "no line gives its hash")
		}
		v.files[name] = true
	}
	return nil
}

// turns checks that the events make turns, where each of them can be read.
func (v *verifier) turns(context.Context) error {
	if v.broken || !v.Whole() {
		return nil
	}
	for _, err := range v.run.Steps() {
		if err != nil {
			v.problem(eventsFile, 0, "%v", err)
		}
	}
	return nil
}

// strangers looks for files that nothing tells of.
func (v *verifier) strangers(ctx context.Context) error {
	root, err := os.OpenRoot(v.run.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return fs.SkipAll
		case name == "." || name == infoFile || name == eventsFile || v.files[name]:
			return nil
		case name == framesDir && d.IsDir():
			return nil
		case !strings.HasPrefix(name, framesDir+"/"):
			v.other(name, d)
		case v.run.Info.State == Running && frameFile.MatchString(name) && d.Type().IsRegular():
			v.note(true, name+" was written after the last event, so no hash tells whether it is as it was", "")
		default:
			v.problem(name, 0, "nothing in the run tells of it")
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// other lists what lies beside the evidence.
func (v *verifier) other(name string, d fs.DirEntry) {
	if d.IsDir() {
		name += "/"
	}
	if len(v.Others) < maxProblems {
		v.Others = append(v.Others, name)
	}
}

// hashOf returns the SHA-256 of data in hexadecimal digits.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
