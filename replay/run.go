package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // images sent to models
	_ "image/png"  // frames
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"desktop-agent/internal/filelock"
	"desktop-agent/run"
)

// Limits on what is read, so that a damaged or hostile folder costs little.
const (
	maxInfo   = 16 << 20  // bytes of run.json
	maxImage  = 256 << 20 // bytes of an image file
	maxPixels = 64 << 20  // pixels of an image
)

// ErrWriter reports a journal that another process writes.
var ErrWriter = errors.New("another process is writing this run: wait until it ends")

// lock makes this process the only writer of a journal until [filelock.Close]; the error is
// [ErrWriter] if there is another.
func lock(f *os.File) error {
	err := filelock.Lock(f)
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w", f.Name(), ErrWriter)
	}
	return err
}

// A Run is a recorded run, read from its folder. Nothing outside the folder is
// opened, whatever the journal says.
type Run struct {
	Dir  string
	Info Info
	// Cut is how many bytes of an unfinished last event were left out: the
	// program was ended in mid-write. 0 for a journal that is whole.
	Cut int64
	// Busy says that its journal is being written at this moment. A run whose
	// state is [Running] and that is not busy was killed.
	Busy bool

	whole int64 // bytes of events.jsonl up to the end of the last whole event
}

// Open reads the folder of a run. The run may still be going on, or may have
// been cut off; its events up to then can be read.
func Open(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	if err := r.load(); err != nil {
		return nil, fmt.Errorf("open the run in %s: %w", dir, err)
	}
	return r, nil
}

func (r *Run) load() error {
	data, err := r.read(infoFile, maxInfo)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		begun, ok := r.justBegun()
		if !ok {
			return fmt.Errorf("%w: it is not the folder of a run", err)
		}
		r.Info = begun
	case err != nil:
		return err
	default:
		if r.Info, err = decodeInfo(data); err != nil {
			return fmt.Errorf("%s: %w", infoFile, err)
		}
	}
	f, err := r.open(eventsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	r.whole, err = lastLine(f, size)
	r.Cut, r.Busy = size-r.whole, filelock.Locked(f)
	return err
}

// justBegun is what the first run.json would say, where [Create] has not written it yet, or
// its program was killed before: the folder has the name of a run, and events.jsonl is empty.
func (r *Run) justBegun() (Info, bool) {
	dir, err := filepath.Abs(r.Dir)
	id := filepath.Base(dir)
	created, named := createdOf(id)
	if err != nil || !named {
		return Info{}, false
	}
	f, err := r.open(eventsFile)
	if err != nil {
		return Info{}, false
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	return Info{Schema: run.Schema, ID: id, State: Running, Created: created}, err == nil && size == 0
}

// lastLine returns the offset after the last line break of the first size bytes.
// Where more bytes follow than a line can have, it is size: a reader is to meet
// them and say in which line.
func lastLine(f io.ReaderAt, size int64) (int64, error) {
	const chunk = 64 << 10
	buf := make([]byte, min(chunk, size))
	for end := size; end > 0; {
		if size-end > maxLine {
			return size, nil
		}
		start := max(0, end-chunk)
		part := buf[:end-start]
		if _, err := f.ReadAt(part, start); err != nil && err != io.EOF {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// Events yields the events that were whole when the run was opened, in order.
// After an error, which names the line, it ends. It is an error, too, if there
// are fewer than run.json says.
func (r *Run) Events() iter.Seq2[run.Event, error] {
	return func(yield func(run.Event, error) bool) {
		f, err := r.open(eventsFile)
		if err != nil {
			yield(run.Event{}, err)
			return
		}
		defer f.Close()
		lines := scanLines(f, r.whole)
		n := 0
		for lines.Scan() {
			n++
			e, err := Decode(lines.Bytes())
			if err == nil && e.Seq != n {
				err = fmt.Errorf("its number is %d: an event is missing or out of order", e.Seq)
			}
			if err != nil {
				yield(run.Event{}, fmt.Errorf("%s line %d: %w", eventsFile, n, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case err != nil:
			yield(run.Event{}, fmt.Errorf("%s line %d: %w", eventsFile, n+1, clearer(err)))
		case r.Info.State != Running && n < r.Info.Events:
			yield(run.Event{}, fmt.Errorf("%s: it ends after event %d of %d: the others are missing", eventsFile, n, r.Info.Events))
		}
	}
}

// scanLines reads the lines of the first size bytes, with no more room than they take.
func scanLines(f io.Reader, size int64) *bufio.Scanner {
	lines := bufio.NewScanner(io.LimitReader(f, size))
	lines.Buffer(make([]byte, 0, min(64<<10, size+1)), maxLine+1)
	return lines
}

// clearer says of a line that is too long what is wrong with it.
func clearer(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("it is longer than an event can be (%d MB): the file is damaged", maxLine>>20)
	}
	return err
}

// Frame returns the whole screen of a frame, in device pixels.
func (r *Run) Frame(id string) (image.Image, error) {
	data, err := r.framePNG(id)
	if err != nil {
		return nil, err
	}
	img, err := DecodeImage(data)
	if err != nil {
		return nil, fmt.Errorf("frame %s: %w", id, err)
	}
	return img, nil
}

// Sent returns the image of a frame as it was sent to a model, encoded, with
// its MIME type: where it was the whole screen at its own size, that of Frame.
func (r *Run) Sent(id string) (data []byte, mime string, err error) {
	if err := checkFrameID(id); err != nil {
		return nil, "", err
	}
	for _, mime := range []string{"image/png", "image/jpeg"} {
		ext, _ := sentExt(mime)
		data, err := r.read(sentPath(id, ext), maxImage)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return data, mime, err
	}
	data, err = r.framePNG(id)
	return data, "image/png", err
}

func (r *Run) framePNG(id string) ([]byte, error) {
	if err := checkFrameID(id); err != nil {
		return nil, err
	}
	return r.read(framePath(id), maxImage)
}

// DecodeImage decodes a PNG or JPEG, unless it is absurdly large.
func DecodeImage(data []byte) (image.Image, error) {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if c.Width*c.Height > maxPixels {
		return nil, fmt.Errorf("%d×%d pixels are more than a frame has", c.Width, c.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	return img, err
}

// Keep writes a file into the run's folder, beside the evidence, or replaces it.
func (r *Run) Keep(name string, data []byte) error {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return writeFile(root, name, data, os.O_TRUNC)
}

// open opens a file of the run. Links out of the folder are not followed, and
// what is no regular file is refused.
func (r *Run) open(name string) (*os.File, error) {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name) // before the opening, which would wait at a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	return root.Open(name)
}

func (r *Run) read(name string, limit int64) ([]byte, error) {
	f, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d MB", name, limit>>20)
	}
	return data, err
}
