package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"time"

	"golang.org/x/term"

	"desktop-agent/internal/confirm"
	"desktop-agent/internal/shlex"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/planner/planfile"
)

// planApprover returns how a person is asked on the terminal whether a plan may be
// executed; nil where there is no terminal.
func (w *work) planApprover(c console) planner.Approver {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	return func(ctx context.Context, plan *planner.Plan, check func(*planner.Plan) error) (planner.Decision, error) {
		if w.show != nil {
			defer w.show.Pause()()
		}
		desk := planDesk{console: c, line: readLine, edit: edit, by: userName()}
		return desk.ask(ctx, plan, check)
	}
}

// userName is that of who is at the terminal; "a person" where the system does not tell.
func userName() string {
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "a person"
	}
	return llm.OneLine(u.Username)
}

// readLine reads a line from the terminal. io.EOF means that nobody is there.
func readLine(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() { // ends with the program if no answer comes
		text, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if text != "" && errors.Is(err, io.EOF) {
			err = nil
		}
		done <- answer{strings.TrimSpace(text), err}
	}()
	select {
	case a := <-done:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// edit has a person edit a file, in the editor that they like.
func edit(ctx context.Context, file string) error {
	line := os.Getenv("VISUAL")
	if line == "" {
		line = os.Getenv("EDITOR")
	}
	if line == "" {
		line = "vi"
	}
	words, err := shlex.Split(line)
	if err != nil || len(words) == 0 {
		return fmt.Errorf("the editor %q cannot be started; set EDITOR to a program", line)
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the editor %s: %w", words[0], err)
	}
	return nil
}

// A planDesk is where a person looks at a plan.
type planDesk struct {
	console
	line func(context.Context) (string, error)
	edit func(ctx context.Context, file string) error
	by   string // who is there
}

// ask shows a plan until it is approved or rejected. What is edited counts only if it is
// valid.
func (d planDesk) ask(ctx context.Context, plan *planner.Plan, check func(*planner.Plan) error) (planner.Decision, error) {
	shown := plan
	var draft []byte // that is not valid yet
	fmt.Fprintln(d.Err, terminalText(shown.Text()))
	for {
		fmt.Fprint(d.Err, "answer yes to execute this plan, no (and why), edit, or show: ")
		text, err := d.line(ctx)
		if err != nil {
			if ctx.Err() != nil {
				fmt.Fprintln(d.Err, "\nno answer in time")
			}
			return planner.Decision{}, err
		}
		word, rest := confirm.Read(text)
		switch word {
		case confirm.Yes:
			if rest != "" {
				fmt.Fprintln(d.Err, "a yes with a condition is none: edit the plan, or answer no and why")
				continue
			}
			return planner.Decision{Plan: shown, By: d.by}, nil
		case confirm.No:
			return planner.Decision{Reason: rest, By: d.by}, nil
		case "s", "show":
			fmt.Fprintln(d.Err, terminalText(shown.Text()))
		case "e", "edit":
			edited, text, err := d.change(ctx, shown, draft, check)
			if ctx.Err() != nil {
				return planner.Decision{}, context.Cause(ctx)
			}
			if err != nil {
				fmt.Fprintf(d.Err, "nothing has changed: %s\n", terminalText(err.Error()))
				if draft = text; draft != nil {
					fmt.Fprintln(d.Err, "edit goes on with what you wrote")
				}
				continue
			}
			shown, draft = edited, nil
			fmt.Fprintln(d.Err, terminalText(shown.Text()))
		}
	}
}

// problemMark begins the lines that tell in a file what was wrong with it.
const problemMark = "#! "

// change has a person edit a plan. With an error comes the text that they wrote, if it is
// worth going on with.
func (d planDesk) change(ctx context.Context, plan *planner.Plan, draft []byte, check func(*planner.Plan) error) (*planner.Plan, []byte, error) {
	if draft == nil {
		var err error
		if draft, err = planfile.Encode(plan); err != nil {
			return nil, nil, err
		}
	}
	text, err := d.edited(ctx, draft)
	if err != nil {
		return nil, nil, err
	}
	text = withoutProblems(text)
	next, err := planfile.Decode("the edited plan", text)
	if err == nil && next.Task != strings.TrimSpace(plan.Task) {
		err = errors.New("the task is what you asked for, and stays: change the steps")
	}
	if err == nil {
		next.Task, next.ID, next.CreatedAt, next.Direct = plan.Task, plan.ID, plan.CreatedAt, plan.Direct
		err = check(next)
	}
	if err != nil {
		var b strings.Builder
		for line := range strings.Lines(err.Error()) {
			b.WriteString(problemMark + printable(strings.TrimRight(line, "\n")) + "\n")
		}
		return nil, append([]byte(b.String()), text...), err
	}
	return next, nil, nil
}

// withoutProblems takes out the lines that told what was wrong.
func withoutProblems(text []byte) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, problemMark) {
			b.WriteString(line)
		}
	}
	return []byte(b.String())
}

// edited has a person edit a text.
func (d planDesk) edited(ctx context.Context, text []byte) ([]byte, error) {
	f, err := os.CreateTemp("", "desktop-agent-plan-*.toml")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := d.edit(ctx, f.Name()); err != nil {
		return nil, err
	}
	after, err := os.Open(f.Name())
	if err != nil {
		return nil, err
	}
	defer after.Close()
	return io.ReadAll(io.LimitReader(after, planfile.MaxSize+1))
}
