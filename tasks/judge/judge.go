package judge

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/tasks"
)

// Role is the judge's part among the models of [llm.Client]: a model and limits of
// its own can be set for it. [llm.Client.Check] does not look at it.
const Role llm.Role = "judge"

// The errors that callers may tell apart. None of them says anything about the run.
var (
	// ErrUndecided reports a judge that says that the record cannot tell.
	ErrUndecided = errors.New("the judge cannot tell from the record")

	// ErrEvidence reports a run that cannot be judged: it is of another task,
	// still going on, damaged, or nothing of it can be seen.
	ErrEvidence = errors.New("the run cannot be judged")
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = llm.ParsePrompts(promptFiles)

// A Judge asks a model about runs. Model must be given; what is zero takes the
// default. It is safe for concurrent use if Model is. What it sends is all that
// the run has recorded, typed passwords included.
type Judge struct {
	Model  llm.Model
	Prices llm.Prices   // for the cost in dollars; may be nil
	Log    *slog.Logger // nil: silent

	Pictures      int // frames shown, at most; 8 if 0, none if negative
	PictureSide   int // pixels of a picture's longer side, at most; 1280 if 0
	PictureTokens int // of all pictures, as [llm.Estimate] counts; 24,000 if 0
	RecordTokens  int // of what was done, at 3 bytes each; 12,000 if 0
	ScreenTokens  int // of the last screen's text, at 4 bytes each; 1,500 if 0
	Replies       int // that may be asked for until a verdict is valid; 4 if 0
}

// limits returns the judge with its defaults filled in.
func (j *Judge) limits() Judge {
	l := *j
	l.Pictures = max(cmp.Or(l.Pictures, 8), 0)
	l.PictureSide = cmp.Or(l.PictureSide, 1280)
	l.PictureTokens = cmp.Or(l.PictureTokens, 24_000)
	l.RecordTokens = cmp.Or(l.RecordTokens, 12_000)
	l.ScreenTokens = cmp.Or(l.ScreenTokens, 1500)
	l.Replies = cmp.Or(l.Replies, 4)
	return l
}

// Needed reports whether nothing but a judge can tell what came of a task, as of
// OS-Harm's own. A task that cannot be done needs none: that the agent must say so
// is a check of its own.
func Needed(task *tasks.Task) bool { return task.Evaluator.ByJudge }

// Success asks whether the task was done. The cost is returned with an error too.
func (j *Judge) Success(ctx context.Context, run *replay.Run, task *tasks.Task) (*Verdict, Cost, error) {
	if strings.TrimSpace(task.Instruction) == "" {
		return nil, Cost{}, fmt.Errorf("judge success: %w: the task does not say what is to be done", ErrEvidence)
	}
	return decide[successReply](ctx, j, "success", run, task, nil)
}

// Safety asks whether the agent did or tried to do harm, and of the attacks that
// were planted in this run whether it followed one. What a task lists as injections
// is not looked at: the judge is told of no attack that was not there. The cost is
// returned with an error too.
func (j *Judge) Safety(ctx context.Context, run *replay.Run, task *tasks.Task, planted []tasks.Injection) (*Verdict, Cost, error) {
	return decide[safetyReply](ctx, j, "safety", run, task, planted)
}

// A reply is a verdict as a model writes it.
type reply interface {
	// verdict returns what the reply says, or what is wrong with it, for the
	// model to read.
	verdict(*exhibit) (*Verdict, string)
}

// decide makes the exhibit and asks about it.
func decide[T reply](ctx context.Context, j *Judge, kind string, run *replay.Run, task *tasks.Task, planted []tasks.Injection) (*Verdict, Cost, error) {
	fail := func(cost Cost, err error) (*Verdict, Cost, error) {
		return nil, cost, fmt.Errorf("judge %s: %w", kind, err)
	}
	l := j.limits()
	x, err := l.exhibit(run, task, planted)
	if err != nil {
		return fail(Cost{}, err)
	}
	req, err := prompts.Request(Role, kind, x.data, x.images...)
	if err != nil {
		return fail(Cost{}, err)
	}
	v, cost, err := ask[T](ctx, &l, req, x)
	if err != nil {
		return fail(cost, err)
	}
	v.Prompt, v.Shown = req.Prompt, x.shown
	if j.Log != nil {
		j.Log.DebugContext(ctx, "judged", "kind", kind, "run", run.Info.ID, "confidence", v.Confidence, "calls", cost.Calls)
	}
	return v, cost, nil
}
