package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"desktop-agent/replay"
	"desktop-agent/run"
)

// A Redaction says what is masked in a copy of a run. Whatever it asks for,
// what was typed into password fields is masked too.
//
// A text is masked wherever it occurs: in actions, thoughts, what models were
// told and replied, the accessibility tree, titles of windows, plan,
// assessments, answers and results. "•••" stands in its place, in upper and
// lower case, also for each of its lines, for pieces of 16 and more characters
// of it, and for the ways in which JSON, Python, HTML and addresses write it. A
// text of one or two characters is masked where it stands as a word. A reply
// from which a text was typed that the reply does not plainly show is masked as a whole.
//
// On frames, and on the images sent to models, the boxes of the accessibility nodes
// that show a masked text are black, as are title bars with one, password fields, and
// what a masked text was typed into. Where the tree does not tell what that was,
// the whole window is black, and where no window is known, the whole frame. A text
// that was read from the picture there is masked wherever the list for a model has it,
// and where it is more than a word, everywhere: it may be a masked one, read wrong.
//
// What it cannot know: a text that only pixels show and that was not typed; a
// masked text that a program shows in another window, without telling so over
// the accessibility bus; what a program made of it (a sum, 1,234.50 of 1234.5);
// accents composed otherwise; the keys of shortcuts. For the screen there are
// Regions, for texts Secrets and Patterns: look at the copy before you give it away.
type Redaction struct {
	Regions   []Region
	Typed     bool             // all text entered by Type, Paste, SetClipboard and by pressing keys of characters
	Passwords bool             // only what was typed into password fields, if nothing else is asked for
	Secrets   []string         // texts to mask
	Patterns  []*regexp.Regexp // what matches is masked
}

// A Region is a part of the screen that is black on all frames, or on those
// that show a certain window.
type Region struct {
	Box   image.Rectangle // device pixels of the frame; empty means the whole window
	Title string          // only while a window is shown whose title contains this; "" means any
	Class string          // only while a window of this class is shown; "" means any
}

func (r Redaction) none() bool {
	return len(r.Regions)+len(r.Secrets)+len(r.Patterns) == 0 && !r.Typed && !r.Passwords
}

// check refuses a redaction that would mask less than it seems to.
func (r Redaction) check() error {
	for i, s := range r.Secrets {
		if newMasker(Redaction{Secrets: []string{s}}).empty() {
			return fmt.Errorf("secret %d of %d is empty: give the text to mask", i+1, len(r.Secrets))
		}
	}
	for i, p := range r.Patterns {
		if p == nil || p.MatchString("") {
			return fmt.Errorf("pattern %d of %d matches nothing in particular: write one that needs at least a character", i+1, len(r.Patterns))
		}
	}
	for i, b := range r.Regions {
		if b.Box.Empty() && b.Title == "" && b.Class == "" {
			return fmt.Errorf("region %d of %d is empty: give a box, or the title or class of a window", i+1, len(r.Regions))
		}
	}
	return nil
}

func (m *masker) empty() bool { return len(m.needles)+len(m.short) == 0 }

func character(digits string, base int) string {
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || code > 0x10ffff {
		return digits
	}
	return string(rune(code))
}

// Redacted writes a copy of a run with everything masked that red names, as a
// new run inside the folder dir, and returns its ID. The copy has hashes of its own, and its events keep their times. Only what events name is copied.
//
// It fails rather than leave something unmasked: if an event or a frame cannot
// be read, if a frame is not as its event says, or if the copy, read back, still
// shows a masked text. Then nothing is left of the copy. A frame that is
// missing altogether is an error too, unless the run was cut off.
func Redacted(ctx context.Context, dir string, stored *replay.Run, red Redaction) (id string, err error) {
	if err := red.check(); err != nil {
		return "", fmt.Errorf("redaction: %w", err)
	}
	if stored.Busy {
		return "", fmt.Errorf("redact %s: %w", stored.Info.ID, replay.ErrWriter)
	}
	if err := whole(ctx, stored); err != nil {
		return "", fmt.Errorf("copy %s: %w", stored.Info.ID, err)
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(dir, ".redacting-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	id, err = redact(ctx, temp, stored, red)
	if err != nil {
		return "", fmt.Errorf("copy %s: %w", stored.Info.ID, err)
	}
	if err := os.Rename(filepath.Join(temp, id), filepath.Join(dir, id)); err != nil {
		return "", err
	}
	return id, nil
}

func redact(ctx context.Context, dir string, stored *replay.Run, red Redaction) (id string, err error) {
	m := newMasker(red)
	if err := m.collect(ctx, stored); err != nil {
		return "", err
	}
	j, err := replay.Create(dir)
	if err != nil {
		return "", err
	}
	err = (&copier{masker: m, run: stored, journal: j, painter: newPainter(m)}).copy(ctx)
	if err := errors.Join(err, j.Close()); err != nil {
		return "", err
	}
	return j.ID(), m.verify(ctx, j.Dir())
}

// A copier writes the masked events and frames.
type copier struct {
	*masker
	painter painter
	run     *replay.Run
	journal *replay.Journal
}

func (c *copier) copy(ctx context.Context) error {
	for e, err := range c.run.Events() {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		switch data := e.Data.(type) {
		case run.Acting:
			c.painter.acts(data)
		case run.Observed:
			black := c.painter.redacted(&data)
			if err := c.frame(ctx, &data, black); err != nil {
				return fmt.Errorf("event %d: frame %q: %w", e.Seq, data.FrameID, err)
			}
			data.Covered, data.Targets = uncovered(data.Covered, black), unread(data.Targets, black)
			e.Data = data
		}
		if e.Data, err = c.event(e.Data); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
		}
		e.Agent, e.Display = c.mask(e.Agent), c.mask(e.Display)
		if err := c.journal.Event(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// verify reads the copy back and looks for what should not be there.
func (m *masker) verify(ctx context.Context, dir string) error {
	stored, err := replay.Open(dir)
	if err != nil {
		return err
	}
	for step, err := range steps(ctx, stored) {
		if err != nil {
			return fmt.Errorf("the copy cannot be read: %w", err)
		}
		for _, e := range step.Events {
			where := m.left(e.Data)
			if m.shows(e.Agent) || m.shows(e.Display) {
				where = "who acted where"
			}
			if where != "" {
				return fmt.Errorf("event %d (%s): %s could not be masked", e.Seq, e.Kind, where)
			}
		}
	}
	return nil
}
