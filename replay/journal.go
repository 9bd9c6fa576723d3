package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"desktop-agent/internal/filelock"
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
	"desktop-agent/screen"
)

// maxLine is the longest event that is written or read, in bytes.
const maxLine = 64 << 20

// maxDepth is how deep the values of an event lie at most; deeper ones are those
// of a ring, which the encoder refuses.
const maxDepth = 100

// A Journal writes a run to its folder while it happens. Its methods may be
// called from several goroutines.
//
// What is acknowledged is kept: Event returns once the line is with the
// operating system, which survives the end of this program. Before an
// [run.Acting] is acknowledged, it and everything before it, the frames
// included, are also synced to the disk, which survives the end of the machine.
// After an error nothing more is written, and every call returns that error.
type Journal struct {
	dir  string
	root *os.Root

	mu      sync.Mutex // guards the fields below
	events  *os.File
	size    int64  // of events.jsonl
	written int    // Seq of the last event
	head    string // hash of the last line
	broken  error  // the first error; the journal has ended with it
	closed  bool
	info    Info
	frame   *screen.Observation // the last one that was stored
	seen    *screen.Observation // the last one that an event tells of
	seenIn  int                 // the step of that event

	frames frames
}

// Create makes the folder of a new run inside dir, which is made too if it is
// missing. Only the owner can read what is written.
func Create(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("folder for runs: %w", hint(err))
	}
	now := time.Now()
	id, err := makeFolder(dir, now)
	if err != nil {
		return nil, err
	}
	j := &Journal{
		dir:  filepath.Join(dir, id),
		info: Info{Schema: run.Schema, ID: id, State: Running, Created: now},
	}
	if err := j.open(); err != nil {
		return nil, fmt.Errorf("start a journal in %s: %w", j.dir, err)
	}
	return j, nil
}

// stampLayout is the form of the moment that begins the name of a run's folder.
const stampLayout = "20060102T150405Z"

// makeFolder makes a folder that no other run has, named by time and chance.
func makeFolder(dir string, now time.Time) (id string, err error) {
	for range 10 {
		var chance [3]byte
		rand.Read(chance[:]) // never fails
		id = fmt.Sprintf("%s-%x", now.UTC().Format(stampLayout), chance)
		err = os.Mkdir(filepath.Join(dir, id), dirMode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("folder of the run: %w", hint(err))
	}
	return id, nil
}

// open makes the files of a new run.
func (j *Journal) open() (err error) {
	if j.root, err = os.OpenRoot(j.dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			j.root.Close()
		}
	}()
	if err = j.root.Mkdir(framesDir, dirMode); err != nil {
		return err
	}
	if j.events, err = j.root.OpenFile(eventsFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode); err != nil {
		return err
	}
	if err = lock(j.events); err == nil {
		err = j.info.save(j.root)
	}
	if err != nil {
		_ = filelock.Close(j.events)
		return err
	}
	j.frames.start(j.root)
	return nil
}

// Dir returns the folder of the run.
func (j *Journal) Dir() string { return j.dir }

// ID returns the name of the run.
func (j *Journal) ID() string { return j.info.ID }

// Latest returns the newest observation that was recorded, and the step of the
// loop in which it was taken; nil before the first. A [Recorded] model looks at it.
func (j *Journal) Latest() (*screen.Observation, int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen, j.seenIn
}

// Frame stores the frame of an observation, and the image sent to a model where
// that is another one. The picture is encoded and written beside the caller,
// who must not change the observation; an [run.Acting] waits for it, and
// returns its error.
func (j *Journal) Frame(ctx context.Context, o *screen.Observation) error {
	if err := checkFrameID(o.FrameID); err != nil {
		return j.fail(fmt.Errorf("store a frame: %w", err))
	}
	j.mu.Lock()
	err := j.usable()
	if err == nil {
		j.frame = o
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	if err := j.frames.add(ctx, o); err != nil {
		return j.fail(err)
	}
	return nil
}

// Event writes one event. Events come in the order of Seq, from 1 and without gaps:
// another one is refused, and changes nothing.
func (j *Journal) Event(_ context.Context, e run.Event) error {
	line, err := encodeEvent(e)
	if err != nil {
		return j.fail(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	if e.Seq != j.written+1 {
		return fmt.Errorf("event %d (%s) is out of order: the next of %s is event %d", e.Seq, e.Kind, j.dir, j.written+1)
	}
	if err := j.write(e, line); err != nil {
		j.broken = fmt.Errorf("write event %d (%s) of %s: %w", e.Seq, e.Kind, j.dir, hint(err))
	}
	return j.broken
}

// Append writes an event that has no number yet: it gets the next one, and the
// present time. It is for a writer that is alone.
func (j *Journal) Append(ctx context.Context, step int, data run.EventData) error {
	j.mu.Lock()
	seq := j.written + 1
	j.mu.Unlock()
	return j.Event(ctx, run.Event{Seq: seq, Time: time.Now(), Step: step, Kind: run.Kind(data), Data: data})
}

// encodeEvent returns the line of an event, without what chains it to those
// before.
func encodeEvent(e run.Event) ([]byte, error) {
	if heavier(reflect.ValueOf(e.Data), maxLine) {
		return nil, fmt.Errorf("encode event %d (%s): it is more than a journal keeps in one event (%d MB)",
			e.Seq, e.Kind, maxLine>>20)
	}
	line, err := eventjson.Encode(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %d (%s): %w", e.Seq, e.Kind, err)
	}
	if len(line) > maxLine {
		return nil, fmt.Errorf("encode event %d (%s): %d MB are more than a journal keeps in one event (%d MB)",
			e.Seq, e.Kind, len(line)>>20, maxLine>>20)
	}
	return line, nil
}

// heavier reports whether a value has more than limit bytes of text. Encoding
// would take several times as much memory just to find out.
func heavier(v reflect.Value, limit int) bool {
	var add func(v reflect.Value, depth int)
	add = func(v reflect.Value, depth int) {
		if limit--; limit < 0 || depth > maxDepth {
			return
		}
		switch v.Kind() {
		case reflect.String:
			limit -= v.Len()
		case reflect.Slice, reflect.Array:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				limit -= v.Len()
				return
			}
			for i := 0; i < v.Len() && limit >= 0; i++ {
				add(v.Index(i), depth+1)
			}
		case reflect.Map:
			for m := v.MapRange(); limit >= 0 && m.Next(); {
				add(m.Key(), depth+1)
				add(m.Value(), depth+1)
			}
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				add(v.Elem(), depth+1)
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for _, field := range v.Fields() {
				add(field, depth+1)
			}
		}
	}
	add(v, 0)
	return limit < 0
}

// usable returns why the journal takes nothing more. j.mu is held.
func (j *Journal) usable() error {
	switch {
	case j.broken != nil:
		return j.broken
	case j.closed:
		return fmt.Errorf("journal of %s: %w", j.info.ID, fs.ErrClosed)
	}
	return nil
}

// fail ends the journal with an error.
func (j *Journal) fail(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = hint(err)
	}
	return j.broken
}

// write appends a line, and does what its kind asks for. j.mu is held.
func (j *Journal) write(e run.Event, line []byte) error {
	_, acting := e.Data.(run.Acting)
	if acting {
		if _, err := j.frames.wait(); err != nil {
			return err
		}
	}
	line, err := eventjson.Link(line, j.frames.take(), j.head)
	if err != nil {
		return err
	}
	if err := j.append(line); err != nil {
		return err
	}
	j.written, j.head = e.Seq, hashOf(line)
	switch data := e.Data.(type) {
	case run.Acting:
		return j.events.Sync()
	case run.Observed:
		if j.frame != nil && j.frame.FrameID == data.FrameID {
			j.seen, j.seenIn = j.frame, e.Step
		}
	case run.RunStarted:
		j.info.Asked = &data
		return j.info.save(j.root)
	case run.RunEnded:
		j.info.Ended = &data
	}
	return nil
}

// append writes a line at the end, or nothing of it.
func (j *Journal) append(line []byte) error {
	_, err := j.events.Write(line)
	if err != nil {
		// Without the broken line the journal stays whole. If this fails too,
		// a reader leaves the line out.
		_ = j.events.Truncate(j.size)
		return err
	}
	j.size += int64(len(line))
	return nil
}

// Close ends the journal: run.json tells how the run ended. It is safe to call
// it twice.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	defer j.root.Close()

	stored, err := j.frames.wait()
	if j.broken == nil && err != nil {
		j.broken = hint(err)
	}
	err = errors.Join(j.events.Sync(), filelock.Close(j.events))
	j.info.State, j.info.Closed = Interrupted, time.Now()
	j.info.Events, j.info.Frames = j.written, stored
	j.info.Head, j.info.Files = j.head, j.frames.take()
	if j.info.Ended != nil {
		j.info.State = Ended
	}
	if j.broken != nil {
		j.info.Error = j.broken.Error()
	}
	if err = errors.Join(err, j.info.save(j.root)); err != nil {
		return fmt.Errorf("close the journal of %s: %w", j.dir, hint(err))
	}
	return nil
}
