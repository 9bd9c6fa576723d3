// Package ocr reads text from pictures of the screen by tesseract
// (https://github.com/tesseract-ocr/tesseract), where a program tells none.
//
//	reader, err := ocr.Open(ctx, nil)
//	if err != nil {
//		return err // ErrMissing: tesseract is not there
//	}
//	defer reader.Close()
//	lines, err := reader.Lines(ctx, picture, []image.Rectangle{window})
//
// A picture is cut into bands between blank rows, about one for each line of text, and
// a band that was read before is not read again: after a command in a terminal, two
// lines are. What is to be read is enlarged, made dark on light, and given to a few
// processes of tesseract.
package ocr

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"desktop-agent/screen"
)

// ErrMissing reports that there is no tesseract.
var ErrMissing = errors.New("tesseract is not installed")

// Options say how pictures are read. The zero value works.
type Options struct {
	Program   string        // path or name of tesseract; "" means "tesseract" on the PATH
	Languages string        // as tesseract names them, joined by "+"; "" means [DefaultLanguages]
	Wait      time.Duration // how long Lines waits; 0 means 1.5 s
	Limit     time.Duration // how long one process may take; 0 means 10 s
	Again     time.Duration // after how long what failed is tried again; 0 means 10 s
	Log       *slog.Logger  // nil means none
}

// What holds where [Options] say nothing else.
const (
	DefaultLanguages = "eng"
	defaultWait      = 1500 * time.Millisecond
	defaultLimit     = 10 * time.Second
	defaultAgain     = 10 * time.Second
)

// maxFailures is how many processes in a row may fail before a Reader starts none for a while.
const maxFailures = 3

// A Reader reads pictures. Its methods may be called by several goroutines; what the
// newest call wants comes first.
type Reader struct {
	o       Options
	path    string
	life    context.Context //nolint:containedctx // processes outlive calls, and end with the reader
	end     context.CancelFunc
	slots   chan struct{} // one token for each process that may run
	running sync.WaitGroup

	mu       sync.Mutex
	cache    cache
	seen     []view          // the newest last
	pending  map[string]*job // by the key of a band
	call     int             // number of the newest call
	failures int             // in a row
	broken   error           // why the reader has given up for now
	gaveUp   time.Time       // when it did
	started  int             // processes so far
}

// Open looks for tesseract and its languages. Its error says what to install.
func Open(ctx context.Context, o *Options) (*Reader, error) {
	r := &Reader{pending: map[string]*job{}, slots: make(chan struct{}, max(1, min(runtime.GOMAXPROCS(0), 4)))}
	if o != nil {
		r.o = *o
	}
	if r.o.Program == "" {
		r.o.Program = "tesseract"
	}
	if r.o.Languages == "" {
		r.o.Languages = DefaultLanguages
	}
	if r.o.Wait <= 0 {
		r.o.Wait = defaultWait
	}
	if r.o.Limit <= 0 {
		r.o.Limit = defaultLimit
	}
	if r.o.Again <= 0 {
		r.o.Again = defaultAgain
	}
	if r.o.Log == nil {
		r.o.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	if r.path, err = exec.LookPath(r.o.Program); err != nil {
		return nil, fmt.Errorf("%w: apt-get install tesseract-ocr, or leave it: %w", ErrMissing, err)
	}
	there, err := r.languages(ctx)
	if err != nil {
		return nil, err
	}
	for language := range strings.SplitSeq(r.o.Languages, "+") {
		if !slices.Contains(there, language) {
			return nil, fmt.Errorf("tesseract does not know the language %q, but %s: apt-get install tesseract-ocr-%s",
				language, strings.Join(there, ", "), strings.ReplaceAll(language, "_", "-"))
		}
	}
	r.life, r.end = context.WithCancel(context.WithoutCancel(ctx))
	return r, nil
}

// Close ends all processes.
func (r *Reader) Close() error {
	r.end()
	r.running.Wait()
	return nil
}

// Lines returns the lines of text in some regions of a picture, from top to bottom
// in each; boxes are in pixels of the picture. What is not read when
// [Options.Wait] is over is left out, and [screen.ErrUnread] says so: it is read on,
// and there for the next call.
// When ctx ends, so do the processes that this call started. Of what cannot be
// read the error tells, also that of later calls, until it is read after all; the lines are
// the rest.
func (r *Reader) Lines(ctx context.Context, picture *image.RGBA, regions []image.Rectangle) ([]screen.OCRLine, error) {
	var list []band
	for _, region := range regions {
		list = append(list, r.look(picture, region.Intersect(picture.Rect))...)
	}
	jobs, err := r.order(list)
	stop := context.AfterFunc(ctx, func() {
		for _, j := range jobs {
			j.cancel()
		}
	})
	defer stop()
	enough := time.NewTimer(r.o.Wait)
	defer enough.Stop()
	errs := []error{err}
	for _, j := range jobs {
		select {
		case <-j.done:
			continue
		case <-ctx.Done():
			return nil, fmt.Errorf("read the picture: %w", context.Cause(ctx))
		case <-enough.C:
			r.o.Log.DebugContext(ctx, "text of the picture comes later", "bands", len(list))
		}
		break
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []screen.OCRLine
	unread := false
	for _, b := range list {
		known, ok := r.cache.known[b.key]
		unread = unread || !ok
		if known.err != nil && !slices.Contains(errs, known.err) { // one process reads several bands
			errs = append(errs, known.err)
		}
		for _, l := range known.lines {
			l.Box = l.Box.Add(b.at)
			l.Words = slices.Clone(l.Words)
			for i := range l.Words {
				l.Words[i].Box = l.Words[i].Box.Add(b.at)
			}
			lines = append(lines, l)
		}
	}
	if err = errors.Join(errs...); err == nil && unread {
		err = screen.ErrUnread
	}
	return lines, err
}

// Started returns how many processes were started to read.
func (r *Reader) Started() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.started
}

// A job is some bands that one process reads.
type job struct {
	bands  []band
	call   int // the newest that wants it
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
}

// order starts to read the bands that are not known, and returns the jobs to wait for. The
// error says why none is started, where any is not known.
func (r *Reader) order(list []band) (wait []*job, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.life.Err(); err != nil {
		return nil, fmt.Errorf("read the picture: the reader is closed: %w", err)
	}
	if r.broken != nil && time.Since(r.gaveUp) >= r.o.Again {
		r.broken, r.failures = nil, 0
	}
	r.call++
	var fresh []band
	asked := map[string]bool{}
	for _, b := range list {
		known, ok := r.cache.known[b.key]
		if asked[b.key] || ok && (known.err == nil || time.Since(known.failed) < r.o.Again) {
			continue
		}
		asked[b.key] = true
		if j := r.pending[b.key]; j != nil {
			if j.call != r.call {
				j.call = r.call
				wait = append(wait, j)
			}
			continue
		}
		fresh = append(fresh, b)
	}
	if len(fresh) > 0 && r.broken != nil {
		return wait, r.broken
	}
	for _, part := range split(fresh, cap(r.slots)) {
		j := &job{bands: part, call: r.call, done: make(chan struct{})}
		j.ctx, j.cancel = context.WithCancel(r.life)
		for _, b := range part {
			r.pending[b.key] = j
		}
		wait = append(wait, j)
		r.running.Go(func() { r.do(j) })
	}
	return wait, nil
}

// do reads the bands of a job, when it is its turn and somebody still wants them.
func (r *Reader) do(j *job) {
	defer j.cancel()
	defer close(j.done)
	var lines [][]screen.OCRLine
	var wanted bool
	var err error
	select {
	case r.slots <- struct{}{}:
		r.mu.Lock()
		if wanted = j.call == r.call; wanted {
			r.started++
		}
		r.mu.Unlock()
		if wanted {
			lines, err = r.recognise(j.ctx, j.bands)
		}
		<-r.slots
	case <-j.ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range j.bands {
		delete(r.pending, b.key)
	}
	if !wanted || j.ctx.Err() != nil {
		return
	}
	if err == nil {
		r.failures = 0
		for i, b := range j.bands {
			r.cache.put(b, reading{lines: lines[i]})
		}
		return
	}
	now := time.Now()
	if r.failures++; r.failures >= maxFailures {
		r.broken, r.gaveUp = fmt.Errorf("read the picture: gave up after %d failures: %w", r.failures, err), now
	}
	for _, b := range j.bands {
		r.cache.put(b, reading{err: err, failed: now})
	}
}
