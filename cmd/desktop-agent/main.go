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

// cli is the command line: each field is a command.
type cli struct {
	Config  string           `help:"Configuration file (TOML). Default: desktop-agent/config.toml in the user's configuration folder." placeholder:"FILE"`
	Verbose bool             `short:"v" help:"Log what happens to standard error."`
	Version kong.VersionFlag `help:"Print the version and exit." env:"-"`

	Run    runCmd    `cmd:"" help:"Do a task."`
	Demo   demoCmd   `cmd:"" help:"Watch a task being done in a real editor on a private desktop, without a model."`
	Doctor doctorCmd `cmd:"" help:"Check the display, the input, the clipboard and the model; say what to do."`
}

// A console is where a command writes: results to Out, all else to Err.
type console struct {
	Out io.Writer
	Err io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A second Ctrl-C ends the program the hard way.
	context.AfterFunc(ctx, stop)
	os.Exit(execute(ctx, os.Args[1:], console{os.Stdout, os.Stderr}))
}

// errNotDone ends a command whose task was not done; it has been reported.
var errNotDone = errors.New("task not done")

// execute runs a command line and returns the exit code.
func execute(ctx context.Context, args []string, c console) (code int) {
	err := dispatch(ctx, args, c, func(status int) { code = status })
	var usage *usageError
	switch {
	case err == nil:
		return code
	case errors.Is(err, errNotDone):
		return exitNotDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage):
		code = exitUsage
	default:
		code = exitError
	}
	fmt.Fprintf(c.Err, "desktop-agent: %v\n", err)
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(c.Err, "hint: %s\n", hint)
	}
	return code
}

// A usageError is a mistake in what the user wrote: flags or a file.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// exited carries kong's wish to end the program, after --help for example.
type exited int

// dispatch parses a command line and runs its command. exit is told the code if
// the parser already did all there was to do.
func dispatch(ctx context.Context, args []string, c console, exit func(int)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			status, ok := r.(exited)
			if !ok {
				panic(r)
			}
			exit(int(status))
		}
	}()
	path, err := configPath(args)
	if err != nil {
		return &usageError{err}
	}
	settings, err := readSettings(path)
	if err != nil {
		return &usageError{err}
	}
	var commands cli
	parser, err := kong.New(&commands,
		kong.Name("desktop-agent"),
		kong.Description("Does tasks on a desktop by looking at the screen and using mouse and keyboard.\n\n"+exitCodes),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.DefaultEnvars("DESKTOP_AGENT"), kong.Resolvers(settings),
		kong.Vars{"version": version()},
		kong.Writers(c.Out, c.Err), kong.Exit(func(status int) { panic(exited(status)) }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(c),
	)
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if err != nil {
		return &usageError{err}
	}
	return command.Run(&commands)
}

const exitCodes = "Exit codes: 0 the task is done; 1 error; 2 usage; 3 the task is not done; 130 interrupted."

// configPath finds the configuration file's name before the flags are parsed,
// because the file is a source of flags.
func configPath(args []string) (string, error) {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if arg == "--config" {
			if i+1 == len(args) {
				return "", hintError{errors.New("--config needs a file"), "write --config FILE"}
			}
			return args[i+1], nil
		}
		if len(arg) > 9 && arg[:9] == "--config=" {
			return arg[9:], nil
		}
	}
	return os.Getenv("DESKTOP_AGENT_CONFIG"), nil
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return info.Main.Version + " " + s.Value
		}
	}
	return info.Main.Version
}
