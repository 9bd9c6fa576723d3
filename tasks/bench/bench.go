package bench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"desktop-agent/tasks"
)

// Do does one trial and judges it. dir is an empty folder for the trajectory and
// whatever else is to be kept; symbolic links in it are removed.
//
// An error makes the trial [tasks.Errored], in the stage that the result names
// or else "run"; what else the result says is kept. When ctx is done, Do returns
// soon, with an error unless the trial was finished: the trial then goes to
// another worker.
type Do func(ctx context.Context, t tasks.Trial, dir string) (tasks.Result, error)

var (
	// ErrUnreachable says that no server answered for as long as was allowed.
	ErrUnreachable = errors.New("the NATS server cannot be reached")

	// ErrOtherRun says that the server has a run of this name whose results
	// belong to another folder.
	ErrOtherRun = errors.New("the server has a run of this name for another results folder: give this run another name, or discard that one")

	// ErrOtherSpec says that the run was started with other terms: another
	// [Coordinator.Spec], or other limits of deliveries or folders.
	ErrOtherSpec = errors.New("the run on the server has other settings: go on with those, give this run another name, or discard that one")

	// ErrReplaced says that a run is not the one that a worker has prepared for.
	ErrReplaced = errors.New("the run was replaced by another one: start the worker again")

	// ErrStuck says that a trial did not end when it was told to. The process
	// has to end, as nothing else stops the trial.
	ErrStuck = errors.New("a trial does not end when it is told to; this process must end")

	errOver = errors.New("the run is over")
)

const (
	defaultRun        = "bench"
	defaultLease      = 30 * time.Second
	defaultPatience   = 10 * time.Minute
	defaultGrace      = 10 * time.Second
	defaultDeliveries = 3
	defaultMaxFolder  = 1 << 30

	maxFiles  = 100_000  // in the folder of a trial
	maxAnswer = 64 << 10 // bytes
	maxText   = 8 << 10  // bytes of any other text of a result
	maxName   = 200      // bytes of a name that becomes a folder
)

// A report is what a worker sends of a trial.
type report struct {
	Trial  tasks.Trial  `json:"trial"`
	Result tasks.Result `json:"result"`
	Folder string       `json:"folder,omitempty"` // in the folder for partial results, if that is shared
	Object string       `json:"object,omitempty"` // in the object store, if it is not
	Bytes  int64        `json:"bytes,omitempty"`  // of the object, about
}

// terms are what the coordinator tells all workers. They are told once, and the
// server refuses others. Each trial names them by their digest.
type terms struct {
	Results    string          `json:"results"` // ID of the results folder
	Deliveries int             `json:"deliveries"`
	MaxFolder  int64           `json:"max_folder"`
	Spec       json.RawMessage `json:"spec,omitempty"`
}

// digest names something by its content.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// token names a trial in subjects and files. The key cannot: it may have points
// and blanks, and two trials may share one.
func token(t tasks.Trial) string {
	text, _ := json.Marshal(t) // two strings and a number
	return digest(text)[:32]
}

// checkTrial refuses a trial whose names cannot be folders.
func checkTrial(t tasks.Trial) error {
	if err := checkName(t.Config); err != nil {
		return fmt.Errorf("configuration %.60q: %w", t.Config, err)
	}
	if err := checkName(t.Task); err != nil {
		return fmt.Errorf("task %.60q: %w", t.Task, err)
	}
	if t.Repeat < 1 {
		return fmt.Errorf("trial %.100q: the repeat is %d; count from 1", t.Key(), t.Repeat)
	}
	return nil
}

// checkName refuses what cannot be the name of one folder on any system.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d bytes", maxName)
	case strings.HasPrefix(name, "."):
		return errors.New("the name begins with a point")
	case strings.ContainsAny(name, `/\:*?"<>|`) || strings.ContainsFunc(name, control) || !utf8.ValidString(name):
		return errors.New("the name has characters that a folder cannot have")
	case !filepath.IsLocal(name):
		return errors.New("the name is not one of a folder")
	}
	return nil
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

// checkRun refuses names of runs that cannot be part of a stream's name.
func checkRun(name string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if name == "" || len(name) > 64 || strings.Trim(name, "-_") == "" ||
		strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return fmt.Errorf("run %.80q: use up to 64 letters, digits, - and _", name)
	}
	return nil
}

// clean makes a result one of the trial, and one that can be kept: of a known
// status, with a score that is a number from 0 to 1, and no endless text.
func clean(r *tasks.Result, t tasks.Trial) {
	r.Task, r.Config, r.Repeat = t.Task, t.Config, t.Repeat
	switch r.Status {
	case tasks.Scored, tasks.Errored, tasks.Skipped, tasks.Lost, tasks.NotExposed:
	default:
		r.Why = fmt.Sprintf("the result has the status %.40q: %s", r.Status, r.Why)
		r.Status, r.Stage = tasks.Errored, cmp.Or(r.Stage, "run")
	}
	if r.Status == tasks.Scored && !(r.Score >= 0 && r.Score <= 1) {
		r.Why = fmt.Sprintf("the score is %v, which is not between 0 and 1", r.Score)
		r.Status, r.Stage = tasks.Errored, "evaluation"
	}
	if r.Status != tasks.Scored {
		r.Score = 0
	}
	if !(math.Abs(r.Dollars) <= math.MaxFloat64) {
		r.Dollars = 0
	}
	r.Answer = cut(r.Answer, maxAnswer)
	for _, text := range []*string{&r.Why, &r.Stage, &r.Outcome, &r.Worker, &r.Domain, &r.Run} {
		*text = cut(*text, maxText)
	}
}

// cut shortens a text, and makes it UTF-8.
func cut(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit] + " …"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// add puts a remark behind what a result says already.
func add(why, remark string) string {
	if why == "" {
		return remark
	}
	return cut(why, maxText/2) + "; " + remark
}

// logger never is nil.
func logger(l *slog.Logger) *slog.Logger { return cmp.Or(l, slog.New(slog.DiscardHandler)) }
