// Command desktop-agent does tasks on a desktop with mouse and keyboard.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// The exit codes, as the help lists them.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitNotDone     = 3
	exitInterrupted = 130
)

const exitCodes = "Exit codes: 0 the task is done; 1 error; 2 usage; 3 the task is not done; 130 interrupted."

// cli is the command line: each field is a command.
type cli struct {
	Config  string           `help:"Configuration file (TOML). Default: desktop-agent/config.toml in the user's configuration folder." placeholder:"FILE"`
	Verbose bool             `short:"v" help:"Log what happens to standard error; typed text is not in it."`
	Version kong.VersionFlag `help:"Print the version and exit." env:"-"`

	Run    runCmd    `cmd:"" help:"Do a task."`
	Resume resumeCmd `cmd:"" help:"Go on with a run whose program was ended, on the same desktop or a new private one; nothing is done twice."`
	Record recordCmd `cmd:"" help:"Record what you do yourself, as a run to look at and to replay."`
	Replay replayCmd `cmd:"" help:"Do a recorded run again: offline, with its replies on a live desktop, or its actions alone."`
	Demo   demoCmd   `cmd:"" help:"Watch a task being done in a real editor on a private desktop, without a model."`
	Runs   runsCmd   `cmd:"" help:"List, show, compare, check, export and remove recorded runs."`
	Suite  suiteCmd  `cmd:"" help:"Look at task suites."`
	Bench  benchCmd  `cmd:"" help:"Do whole task suites, and say how well."`
	Plan   planCmd   `cmd:"" help:"Have a plan written that is executed step by step, and check and show plans in files."`
	Policy policyCmd `cmd:"" help:"Show, check and draft the policies that actions are held against."`
	Tools  toolsCmd  `cmd:"" help:"Look at what can be called beside mouse and keyboard: MCP servers, files, programs."`
	Stop   stopCmd   `cmd:"" help:"Stop whatever acts on a display, at once, and keep it stopped until a person lifts that."`
	Doctor doctorCmd `cmd:"" help:"Check the display, the input, the clipboard and the model; say what to do."`
}

// BeforeResolve reads the settings that are not on the command line.
func (c *cli) BeforeResolve(ctx *kong.Context) error {
	if err := checkEnvironment(ctx.Model, os.Environ()); err != nil {
		return err
	}
	// The hook runs before flags are stored in c.
	var path string
	for _, flag := range ctx.Model.Flags {
		if flag.Name == "config" {
			path, _ = ctx.FlagValue(flag).(string)
		}
	}
	settings, err := readSettings(path)
	if err != nil {
		return err
	}
	ctx.AddResolver(settings)
	ctx.AddResolver(hidden{})
	return nil
}

// A console is where a command writes: results to Out, all else to Err.
type console struct {
	Out io.Writer
	Err io.Writer
}

func main() {
	if err := hide(); err != nil {
		fmt.Fprintf(os.Stderr, "desktop-agent: warning: other programs may look into this one: %v\n", err)
	}
	ctx, stop := ended()
	// A second Ctrl-C ends the program the hard way.
	context.AfterFunc(ctx, stop)
	// A pipe that breaks is an error of the write to it, and no signal that ends the
	// program: programs on a desktop come and go. It is not ignored, which they
	// would inherit, but never looked at.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(ctx)
	os.Exit(execute(ctx, os.Args[1:], console{&stream{os.Stdout, cancel}, &stream{os.Stderr, cancel}}))
}

// ended returns a context that ends with the first signal that asks the program to end. A
// signal that whoever started the program has it ignore stays ignored: nohup has it outlive
// its terminal, and a shell its background jobs a Ctrl-C that is meant for another.
func ended() (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	if len(signals) == 0 { // to listen for none is to listen for all
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), signals...)
}

// A stream is where the program writes. A reader who goes away ends what goes on in
// an orderly way, with every key let go.
type stream struct {
	*os.File
	gone context.CancelFunc
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.File.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		s.gone()
	}
	return n, err
}

// WriteString is [stream.Write]: the file has one of its own.
func (s *stream) WriteString(text string) (int, error) { return s.Write([]byte(text)) }

// Errors of which everything has been said; they only choose the exit code.
var (
	errNotDone  = errors.New("task not done")
	errReported = errors.New("reported")
)

// A usageError is a mistake in what the user wrote: flags, variables or a file.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, args []string, c console) int {
	code, err := dispatch(ctx, args, c)
	switch {
	case err == nil:
		return code
	case errors.Is(err, errNotDone):
		return exitNotDone
	case errors.Is(err, errReported):
		return exitError
	case errors.Is(err, context.Canceled) || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return exitInterrupted
	}
	fmt.Fprintf(c.Err, "desktop-agent: %s\n", oneLine(err))
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(c.Err, "hint: %s\n", hint)
	}
	var usage *usageError
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitError
}

// oneLine is an error on a line, without those of joined errors that repeat
// one before.
func oneLine(err error) string {
	var text string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		switch {
		case text == "":
			text = line
		case !strings.Contains(text, line):
			text += "; " + line
		}
	}
	return printable(text)
}

// exited carries kong's wish to end the program, after --help for example.
type exited int

// dispatch parses a command line and runs its command. The code is that of a
// command line that asked for nothing but help.
func dispatch(ctx context.Context, args []string, c console) (code int, err error) {
	defer func() {
		if r := recover(); r != nil {
			status, ok := r.(exited)
			if !ok {
				panic(r)
			}
			code = int(status)
		}
	}()
	if len(args) == 0 {
		args, c.Out, code = []string{"--help"}, c.Err, exitUsage
	}
	var commands cli
	parser, err := newParser(&commands,
		kong.Name("desktop-agent"),
		kong.Description("Does tasks on a desktop by looking at the screen and using mouse and keyboard.\n\n"+firstSteps+"\n\n"+everyFlag+"\n\n"+exitCodes),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ValueFormatter(func(v *kong.Value) string { return v.Help }), // without the variable, which everyFlag tells
		kong.DefaultEnvars("DESKTOP_AGENT"),
		kong.Vars{"version": version()},
		kong.Writers(c.Out, c.Err), kong.Exit(func(status int) { panic(exited(max(status, code))) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(c),
	)
	if err != nil {
		return exitError, err
	}
	command, err := parser.Parse(args)
	if err != nil {
		if e, ok := errors.AsType[*kong.ParseError](err); ok && hintOf(err) == "" {
			name := "desktop-agent"
			if e.Context != nil && e.Context.Selected() != nil {
				name = e.Context.Selected().FullPath()
			}
			err = hintError{err, name + " --help shows what can be written"}
		}
		return exitUsage, &usageError{err}
	}
	if err := finite(command); err != nil {
		return exitUsage, &usageError{err}
	}
	return exitDone, command.Run(&commands)
}

const firstSteps = `First steps: "desktop-agent demo" shows it at work without a model; "desktop-agent doctor --model NAME" ` +
	`tells whether everything is there; "desktop-agent run --model NAME TASK" does a task.`

const everyFlag = `Every flag can be set in the environment (--max-steps as DESKTOP_AGENT_MAX_STEPS) ` +
	`and in the configuration file (as max-steps = 30).`

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
