package setup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
)

const (
	// openLimit is how long a file may take to be shown.
	openLimit = 120 * time.Second
	// missLimit is how long a window that is to be activated may take to come.
	missLimit = 10 * time.Second
	// maxSleep bounds what a task may ask for.
	maxSleep = 600 * time.Second
)

func checkWindow(p tasks.Params) error {
	_, err := need(p, "window_name")
	_, err1 := p.Bool("strict")
	_, err2 := p.Bool("by_class")
	return errors.Join(err, err1, err2)
}

func checkSleep(p tasks.Params) error {
	seconds, err := p.Number("seconds")
	switch {
	case err != nil:
		return err
	case !p.Has("seconds"):
		return errors.New("seconds is missing")
	case !(seconds >= 0 && seconds <= maxSleep.Seconds()):
		return fmt.Errorf("seconds: %v is not between 0 and %v", seconds, maxSleep.Seconds())
	}
	return nil
}

func checkOpen(p tasks.Params) error {
	name, err := need(p, "path")
	if err == nil && strings.Contains(name, "/") {
		return checkGuest(name)
	}
	return err
}

// activate brings a window to the front. One that is about to come is waited
// for; one that does not is ignored, as a task may name windows of programs in
// other languages or versions. That it does not get the focus is noted.
func (r *run) activate(ctx context.Context, p tasks.Params) error {
	return r.window(ctx, p, func(ctx context.Context, name string, strict, byClass bool) error {
		limited, cancel := context.WithTimeout(ctx, missLimit)
		defer cancel()
		for {
			err := r.e.Activate(ctx, name, strict, byClass)
			if !errors.Is(err, env.ErrNoWindow) || limited.Err() != nil {
				return err
			}
			// A desktop that has become quiet brings no window any more.
			if r.e.Quiet(limited) == nil && !r.pending {
				return r.e.Activate(ctx, name, strict, byClass)
			}
		}
	})
}

// closeWindow closes a window. One that is not there is ignored, and one that stays is noted.
func (r *run) closeWindow(ctx context.Context, p tasks.Params) error {
	return r.window(ctx, p, r.e.CloseWindow)
}

func (r *run) window(ctx context.Context, p tasks.Params, do func(context.Context, string, bool, bool) error) error {
	name, err := p.Text("window_name")
	strict, err1 := p.Bool("strict")
	byClass, err2 := p.Bool("by_class")
	if err := errors.Join(err, err1, err2); err != nil {
		return err
	}
	err = do(ctx, name, strict, byClass)
	if errors.Is(err, env.ErrNoWindow) && !r.o.Strict {
		r.o.Log.WarnContext(ctx, "no such window", "name", name)
		return nil
	}
	return r.lenient(err)
}

// lenient notes a window that does not do what it is told, and goes on, as OSWorld does.
func (r *run) lenient(err error) error {
	if errors.Is(err, env.ErrNotYet) && !r.o.Strict {
		r.e.Note(err.Error())
		return nil
	}
	return err
}

// sleep gives the desktop time to become quiet.
func (r *run) sleep(ctx context.Context, p tasks.Params) error {
	seconds, err := p.Number("seconds")
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	defer cancel()
	if r.o.Defects.Has(sleeps) {
		<-limited.Done()
	} else if err := r.e.Quiet(limited); err != nil && limited.Err() == nil {
		return err
	}
	return ctx.Err()
}

// openers are the programs for types of files: of each list, the first that is
// installed.
var openers = []struct {
	types    string // extensions, with a dot before and behind each
	programs []string
	part     string // the command of the part of the programs that must be there too; "" for the whole
}{
	{".xlsx.xls.xlsm.ods.csv.tsv.", []string{"soffice", "libreoffice"}, "localc"},
	{".docx.doc.odt.rtf.", []string{"soffice", "libreoffice"}, "lowriter"},
	{".pptx.ppt.odp.", []string{"soffice", "libreoffice"}, "loimpress"},
	{".odg.", []string{"soffice", "libreoffice"}, ""},
	{".pdf.", []string{"evince", "okular", "atril", "google-chrome"}, ""},
	{".html.htm.svg.", []string{"google-chrome"}, ""},
	{".png.jpg.jpeg.gif.bmp.webp.tif.tiff.", []string{"eog", "ristretto", "gpicview", "gimp"}, ""},
	{".xcf.psd.", []string{"gimp"}, ""},
	{".mp3.mp4.avi.mkv.mov.wav.ogg.flac.webm.m4a.m3u.", []string{"vlc"}, ""},
	{".txt.md.py.json.log.sh.c.cpp.h.js.css.xml.yaml.yml.ini.conf.srt.", []string{"gedit", "gnome-text-editor", "mousepad", "xed"}, ""},
	{"/", []string{"nautilus", "thunar", "pcmanfm", "nemo"}, ""}, // a folder
}

// open opens a file with the program for its type, or a program, waits for the
// window whose title has its name, and brings it to the front.
func (r *run) open(ctx context.Context, p tasks.Params) error {
	name, err := p.Text("path")
	if err != nil {
		return err
	}
	args, err := r.opener(ctx, name)
	if err != nil {
		return err
	}
	if err := r.e.Start(ctx, env.Command{Args: args}); err != nil {
		return err
	}
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	limited, cancel := context.WithTimeoutCause(ctx, openLimit, fmt.Errorf("no window with %q in its title after %v", stem, openLimit))
	defer cancel()
	w, err := r.e.WaitWindow(limited, func(w screen.Window) bool {
		return strings.Contains(w.Title, base) || stem != "" && strings.Contains(w.Title, stem) ||
			strings.EqualFold(w.Class, base) // a program that was opened by its name
	})
	if err != nil {
		return err
	}
	if err := r.e.Activate(ctx, w.Title, true, false); !errors.Is(err, env.ErrNoWindow) { // a title may change meanwhile
		if err := r.lenient(err); err != nil {
			return err
		}
	}
	return r.settled(ctx)
}

// opener returns the command that opens a file, or starts a program.
func (r *run) opener(ctx context.Context, name string) ([]string, error) {
	found, err := r.e.Run(ctx, env.Command{Args: []string{"test", "-e", env.Abs(name)}})
	if err != nil {
		return nil, err
	}
	if found.Code != 0 {
		if !strings.Contains(name, "/") && r.e.Has(name) {
			return []string{name}, nil
		}
		return nil, fmt.Errorf("%s: no such file or program", name)
	}
	guest := env.Abs(name)
	kind := strings.ToLower(path.Ext(guest)) + "."
	if folder, err := r.e.Run(ctx, env.Command{Args: []string{"test", "-d", guest}}); err == nil && folder.Code == 0 {
		kind = "/"
	}
	for _, o := range openers {
		if kind == "." || !strings.Contains(o.types, kind) {
			continue
		}
		for _, program := range o.programs {
			if r.e.Has(program) {
				return []string{program, guest}, nil
			}
		}
		return nil, fmt.Errorf("%s: %w: one of %s", name, sandbox.ErrNotInstalled, strings.Join(o.programs, ", "))
	}
	return []string{"xdg-open", guest}, nil
}
