package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"desktop-agent/actuator"
	"desktop-agent/actuator/pyautogui"
	"desktop-agent/guard"
	"desktop-agent/internal/confirm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// guardFlags say what watches over actions.
type guardFlags struct {
	Guard     string `help:"Foresee what an action causes, unless it is harmless for certain, and refuse what the task does not ask for: on or off." enum:"on,off" default:"${guard}" group:"Safety"`
	Approve   string `help:"Ask on the terminal: never; risky, which is what the guard would refuse and what cannot be undone; or always, unless it is harmless. Where there is no terminal, what would be asked about is refused." enum:"never,risky,always" default:"${approve}" group:"Safety"`
	OnBlock   string `help:"When the same was refused --max-blocked times: wait, which goes on without it; ask you what to do, and stop if nobody is there; or stop." enum:"wait,ask,stop" default:"${on_block}" group:"Safety"`
	Workspace string `help:"What happens to files on a private desktop: auto, free; or none, watched as on your own." enum:"auto,none" default:"${workspace}" group:"Safety"`
	Policies  string `help:"File of policies, instead of those of the program (policy show)." type:"path" placeholder:"FILE" group:"Safety"`

	MaxBlocked    int           `help:"Refusals of the same from which --on-block holds." default:"${max_blocked}" group:"Safety"`
	RiskLimit     float64       `help:"Refuse what the task does not ask for, though it can be undone, from this risk on: severity times probability, from 0 to 1." default:"${risk_limit}" group:"Safety"`
	CarefulEdits  int           `help:"Foresee so many harmless edits, which else are free, after what was foreseen did not come." default:"${careful_edits}" group:"Safety"`
	JudgeLimit    time.Duration `help:"Block all that cannot be undone where the task was not judged in so long." default:"${judge_limit}" group:"Safety"`
	ApprovalLimit time.Duration `help:"How long you are waited for when you are asked about an action; then it is refused." default:"${approval_limit}" group:"Safety"`
}

// guard says of whom the guard of a session asks.
func (w *work) guard(j job, c console) *guard.Options {
	o := &guard.Options{NoModel: j.unasked}
	if !j.json && term.IsTerminal(int(os.Stdin.Fd())) {
		o.Ask = w.approver(c)
	}
	return o
}

// approver returns how a person is asked on the terminal whether an action may be done.
func (w *work) approver(c console) guard.Approver {
	return func(ctx context.Context, q guard.Approval) (guard.Answer, error) {
		if w.show != nil {
			defer w.show.Pause()()
		}
		picture := keepApproval(q)
		if picture != "" {
			defer os.Remove(picture)
		}
		return askApproval(ctx, c, q, picture)
	}
}

// keepApproval writes the frame with the action drawn on it where a person can look at
// it; "" if it cannot be.
func keepApproval(q guard.Approval) string {
	if len(q.Picture.Data) == 0 {
		return ""
	}
	f, err := os.CreateTemp("", "desktop-agent-approval-*.png")
	if err != nil {
		return ""
	}
	_, err = f.Write(q.Picture.Data)
	if errors.Join(err, f.Close()) != nil {
		os.Remove(f.Name())
		return ""
	}
	return f.Name()
}

// askApproval asks, and reads the answer.
func askApproval(ctx context.Context, c console, q guard.Approval, picture string) (guard.Answer, error) {
	fmt.Fprintf(c.Err, "approval: %s\n  on: %s\n  effect: %s\n  why you are asked: %s\n", printable(q.Action), printable(cmp.Or(q.Target, "no element that is known")),
		cmp.Or(string(q.Effect), "not known"), printable(q.Reason))
	if q.Refused {
		fmt.Fprintln(c.Err, "  the guard would refuse it")
	}
	if q.Undo != "" {
		fmt.Fprintf(c.Err, "  it could be undone: %s\n", printable(q.Undo))
	}
	if picture != "" {
		fmt.Fprintf(c.Err, "  frame %s, with the action drawn on it: %s\n", q.FrameID, picture)
	}
	fmt.Fprint(c.Err, answersTo(q))
	text, err := readLine(ctx)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(c.Err, "\nno answer in time: that is a no")
		return guard.Answer{}, context.Cause(ctx)
	case err != nil:
		return guard.Answer{}, planner.ErrNobody
	}
	code, ok := editOf(text)
	if !ok {
		return approvalOf(text), nil
	}
	a, err := edited(code, q.Bounds)
	if err != nil {
		fmt.Fprintf(c.Err, "that cannot be read, which means no: %v\n", err)
	}
	return a, nil
}

// answersTo offers the answers that there are.
func answersTo(q guard.Approval) string {
	if q.Once {
		return "answer yes, for this once, or no (and why): "
	}
	return "answer yes, no (and why), always for this kind in this run, or edit and what to do instead, such as edit pyautogui.press('esc'): "
}

// editOf returns the code of an answer that wants another action.
func editOf(text string) (code string, ok bool) {
	word, code := confirm.Read(text)
	return code, word == "edit"
}

// edited reads the one action that a person wants in place of another. What cannot be
// read is a no.
func edited(code string, bounds image.Rectangle) (guard.Answer, error) {
	p, err := pyautogui.Parser{}.Parse(actuator.Reply{Text: "```python\n" + code + "\n```"}, bounds)
	if err == nil && len(p.Actions) != 1 {
		err = fmt.Errorf("%d actions: write one", len(p.Actions))
	}
	if err != nil {
		return guard.Answer{Reason: "a person wants something else, and said it in a way that cannot be read"}, err
	}
	return guard.Answer{Instead: p.Actions[0]}, nil
}

// approvalOf reads an answer. What is neither yes nor always is a no, and what it says
// the actor reads.
func approvalOf(text string) guard.Answer {
	text = strings.TrimSpace(text)
	word, rest := confirm.Read(text)
	rest = strings.TrimRight(rest, ".!")
	switch word {
	case confirm.Yes:
		if rest == "" {
			return guard.Answer{Yes: true}
		}
		return guard.Answer{Reason: text} // a yes with a condition is none
	case "always":
		if rest == "" || strings.HasPrefix("for this kind in this run", strings.ToLower(rest)) { // as it was asked
			return guard.Answer{Yes: true, Always: true}
		}
		return guard.Answer{Reason: text}
	case confirm.No:
		return guard.Answer{Reason: rest}
	}
	return guard.Answer{Reason: text}
}

// judgedWords tells what the guard makes of a task.
func judgedWords(d run.TaskJudged) string {
	switch {
	case d.Error != "":
		return "what cannot be undone is blocked: " + d.Error
	case !d.Irreversible:
		return "nothing in the task has to be irreversible"
	case len(d.Effects) == 0:
		return "what cannot be undone is blocked: " + d.Reason
	}
	names := make([]string, len(d.Effects))
	for i, e := range d.Effects {
		names[i] = string(e)
	}
	return "the task asks for what cannot be undone (" + strings.Join(names, ", ") + "): " + d.Reason
}
