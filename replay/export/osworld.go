package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/disintegration/imaging"

	"desktop-agent/actuator"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// An entry is a line of OSWorld's traj.jsonl.
type entry struct {
	Step       int            `json:"step_num"` // from 1
	Time       string         `json:"action_timestamp"`
	Action     string         `json:"action"`   // Python, or WAIT, DONE or FAIL
	Response   string         `json:"response"` // of the model, as it wrote it
	Reward     float64        `json:"reward"`   // always 0, as in OSWorld
	Done       bool           `json:"done"`
	Info       map[string]any `json:"info"`
	Screenshot string         `json:"screenshot_file"`
}

// stamp is how OSWorld writes times.
const stamp = "20060102@150405.000000"

// OSWorld writes a run as OSWorld's runner keeps it: traj.jsonl with one line
// for each code that was performed, step_N_TIMESTAMP.png with the screen after
// it, and initial_state.png.
//
// The actions of a turn are one code, in pixels of the screen. A turn in which
// nothing was done is WAIT. The last turn ends with DONE or FAIL if the run did.
// What pyautogui cannot do is written as near as it can: text that is not ASCII
// is pasted, and zooming is left out. A step whose frame is missing has an
// empty screenshot_file.
//
// result.txt is written only if [Options.Score] is given: a run that nobody
// evaluated has no result, and OSWorld counts tasks with a result.txt only.
// Neither are recording.mp4 and runtime.log written; see [Video].
func OSWorld(ctx context.Context, dir string, stored *replay.Run, o *Options) error {
	opts := o.withDefaults()
	return folder(dir, func(temp string) error {
		return redacted(ctx, stored, opts.Redact, func(stored *replay.Run) error {
			w := osworld{dir: temp, run: stored, opts: opts}
			if err := w.write(ctx); err != nil {
				return fmt.Errorf("OSWorld layout of %s: %w", stored.Info.ID, err)
			}
			return nil
		})
	})
}

type osworld struct {
	dir   string
	run   *replay.Run
	opts  Options
	lines bytes.Buffer
	n     int
}

func (w *osworld) write(ctx context.Context) error {
	initial := false
	for step, err := range steps(ctx, w.run) {
		if err != nil {
			return err
		}
		if step.N == 0 {
			if step.After != nil {
				initial = true
				if _, err := w.picture("initial_state.png", step.After); err != nil {
					return err
				}
			}
			continue
		}
		if !initial && step.Before != nil {
			initial = true
			if _, err := w.picture("initial_state.png", step.Before); err != nil {
				return err
			}
		}
		if err := w.step(step); err != nil {
			return fmt.Errorf("step %d: %w", step.N, err)
		}
	}
	if w.n == 0 {
		return errors.New("there is no step in it")
	}
	if err := os.WriteFile(filepath.Join(w.dir, "traj.jsonl"), w.lines.Bytes(), fileMode); err != nil {
		return err
	}
	if w.opts.Score == nil {
		return nil
	}
	score := strconv.FormatFloat(*w.opts.Score, 'f', -1, 64)
	if !strings.Contains(score, ".") {
		score += ".0" // as Python writes it
	}
	return os.WriteFile(filepath.Join(w.dir, "result.txt"), []byte(score+"\n"), fileMode)
}

// step writes the lines of a turn: what was done, and how the run ended.
func (w *osworld) step(s *replay.Step) error {
	var acts []actuator.Action
	at := s.Events[0].Time
	for _, a := range s.Acts {
		acts = append(acts, a.Action.Action)
	}
	for _, e := range s.Events {
		if e.Kind == "acting" {
			at = e.Time
			break
		}
	}
	code, err := source(acts, device(s))
	if err != nil {
		return err
	}
	e := entry{Action: code, Response: response(s), Info: info(s)}
	if e.Action == "" {
		e.Action = "WAIT"
	}
	end := ""
	if s.Ended != nil {
		switch s.Ended.Outcome {
		case run.OutcomeDone:
			end = "DONE"
		case run.OutcomeInfeasible:
			end = "FAIL"
		}
	}
	seen := s.After
	if seen == nil {
		seen = s.Before
	}
	if e.Action != "WAIT" || end == "" {
		if err := w.line(e, at, seen); err != nil {
			return err
		}
	}
	if end == "" {
		return nil
	}
	e.Action, e.Done, e.Info = end, true, map[string]any{map[string]string{"DONE": "done", "FAIL": "fail"}[end]: true}
	return w.line(e, s.Events[len(s.Events)-1].Time, seen)
}

func (w *osworld) line(e entry, at time.Time, seen *run.Observed) (err error) {
	w.n++
	e.Step = w.n
	e.Time = strings.Replace(at.UTC().Format(stamp), ".", "", 1)
	if seen != nil {
		if e.Screenshot, err = w.picture(fmt.Sprintf("step_%d_%s.png", e.Step, e.Time), seen); err != nil {
			return err
		}
	}
	enc := json.NewEncoder(&w.lines)
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}

// picture writes a frame, and returns the file's name: "" if the run was cut
// off before the frame was stored.
func (w *osworld) picture(name string, seen *run.Observed) (string, error) {
	img, err := w.run.Frame(seen.FrameID)
	if errors.Is(err, fs.ErrNotExist) && w.run.Info.State != replay.Ended {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return name, savePNG(filepath.Join(w.dir, name), img, w.opts.Width)
}

// savePNG writes a picture, made smaller if it is wider than that; 0 is no limit.
func savePNG(path string, img image.Image, width int) error {
	if width > 0 && img.Bounds().Dx() > width {
		img = imaging.Resize(img, width, 0, imaging.CatmullRom)
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		return err
	}
	return os.WriteFile(path, buf.Bytes(), fileMode)
}

// device maps points of the image that the model saw to the screen.
func device(s *replay.Step) func(image.Point) image.Point {
	seen := s.Seen()
	if seen == nil {
		return func(p image.Point) image.Point { return p }
	}
	return seen.Mapping.ToDevice
}

// response returns what the actor replied.
func response(s *replay.Step) string {
	for i := len(s.Calls) - 1; i >= 0; i-- {
		if c := s.Calls[i]; c.Proposal != nil && c.Response != nil {
			var text strings.Builder
			text.WriteString(c.Response.Text)
			for _, call := range c.Response.Calls {
				text.WriteString("\n" + call.Name + "(" + call.Arguments + ")")
			}
			return strings.TrimSpace(text.String())
		}
	}
	if p := s.Proposal(); p != nil {
		return p.Thought
	}
	return ""
}

// info tells what OSWorld has no place for.
func info(s *replay.Step) map[string]any {
	list := map[string]any{}
	if p := s.Proposal(); p != nil && p.Error != "" {
		list["error"] = p.Error
	}
	if s.Stopped != nil {
		list["stopped"] = s.Stopped.Reason
	}
	return list
}
