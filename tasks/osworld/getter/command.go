package getter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/internal/shlex"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
)

func checkCommand(p tasks.Params) error {
	_, err := readCommand(p, 0)
	return err
}

// readCommand reads what is to be run. A list with bars is a pipe.
func readCommand(p tasks.Params, of defect.Set) (env.Command, error) {
	c, err := env.ReadCommand(p)
	if err == nil && !c.Shell && !of.Has(barAsArgument) && slices.Contains(c.Args, "|") {
		return env.Command{Args: []string{pipe(c.Args)}, Shell: true}, nil
	}
	return c, err
}

// pipe returns a script in which bars join commands, and all else is as it is.
func pipe(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		if quoted[i] = arg; arg != "|" {
			quoted[i] = shlex.Quote(arg)
		}
	}
	return strings.Join(quoted, " ")
}

// stdout is vm_command_line: what a command prints.
func (g *getter) stdout(ctx context.Context) (tasks.Value, error) {
	return g.output(ctx, func(out env.Output) []byte { return out.Stdout })
}

// stderr is vm_command_error: what a command complains about.
func (g *getter) stderr(ctx context.Context) (tasks.Value, error) {
	return g.output(ctx, func(out env.Output) []byte { return out.Stderr })
}

// output runs a command. A program that does not exist, and one that runs for too
// long, gives nothing; any exit code will do.
func (g *getter) output(ctx context.Context, of func(env.Output) []byte) (tasks.Value, error) {
	c, err := readCommand(g.p, g.o.Defects)
	if err != nil {
		return nil, err
	}
	c.Limit = g.o.Limit
	out, err := g.e.Run(ctx, c)
	switch {
	case errors.Is(err, env.ErrLimit) && ctx.Err() == nil:
		g.o.Log.InfoContext(ctx, "no output", "err", err)
		return nil, nil
	case err != nil:
		return nil, err
	case out.Code == 127 && !c.Shell && len(out.Stdout) == 0:
		g.o.Log.InfoContext(ctx, "no output", "err", string(out.Stderr))
		return nil, nil
	}
	return strings.ToValidUTF8(string(of(out)), "\uFFFD"), nil
}

// script runs a script of this package, and returns what it prints; "" if it
// prints nothing or fails. One that does not end in time is an error: what it would have
// printed would count as not there.
func (g *getter) script(ctx context.Context, args ...string) (string, error) {
	out, err := g.e.Run(ctx, env.Command{Args: args, Limit: g.o.Limit})
	if err != nil {
		return "", fmt.Errorf("%s: %w", args[0], err)
	}
	return string(out.Stdout), nil
}
