package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"desktop-agent/internal/child"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A Memory keeps facts for the run.
type Memory interface {
	// Remember keeps a fact; an error says why it is not kept.
	Remember(ctx context.Context, fact string) error
}

// An Asker puts a question to the user.
type Asker func(ctx context.Context, question string) (answer string, err error)

// builtIn makes a tool of a function of typed arguments.
func builtIn[A any](name string, effect worldmodel.Effect, description string, call func(context.Context, A) (Result, error)) (Tool, error) {
	schema, err := llm.SchemaFor[A]()
	if err != nil {
		return Tool{}, err
	}
	return Tool{
		Name: name, Description: description, Parameters: schema, Effect: effect,
		Call: func(ctx context.Context, arguments json.RawMessage) (Result, error) {
			var a A
			if err := json.Unmarshal(arguments, &a); err != nil {
				return Result{}, fmt.Errorf("%w: %w", ErrArguments, err)
			}
			return call(ctx, a)
		},
	}, nil
}

// maxFile is how many bytes of a file are read or written in a call.
const maxFile = 1 << 20

// The arguments of the tools for files.
type (
	readArguments struct {
		Path string `json:"path" jsonschema:"of the file, from the workspace"`
	}
	writeArguments struct {
		Path    string `json:"path" jsonschema:"of the file, from the workspace; folders are made"`
		Text    string `json:"text" jsonschema:"the whole text of the file"`
		Replace bool   `json:"replace" jsonschema:"whether a file that is there is replaced"`
	}
	listArguments struct {
		Path string `json:"path" jsonschema:"of the folder, from the workspace; . is the workspace"`
	}
)

// Files returns the tools that read, write and list the files of a folder. Nothing
// outside of it can be reached, by links neither.
func Files(folder string) ([]Tool, error) {
	read, err1 := builtIn("read_file", worldmodel.EffectNone, "Reads a text file of the workspace.",
		func(_ context.Context, a readArguments) (Result, error) {
			return inside(folder, func(root *os.Root) (Result, error) { return readFile(root, a.Path) })
		})
	write, err2 := builtIn("write_file", worldmodel.EffectEdit, "Writes a text file of the workspace.",
		func(_ context.Context, a writeArguments) (Result, error) {
			return inside(folder, func(root *os.Root) (Result, error) { return writeFile(root, a) })
		})
	list, err3 := builtIn("list_files", worldmodel.EffectNone, "Lists a folder of the workspace.",
		func(_ context.Context, a listArguments) (Result, error) {
			return inside(folder, func(root *os.Root) (Result, error) { return listFiles(root, a.Path) })
		})
	return []Tool{read, write, list}, errors.Join(err1, err2, err3)
}

// inside opens the workspace for a call. What the file system refuses is a result
// that the caller reads.
func inside(folder string, call func(*os.Root) (Result, error)) (Result, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return Result{}, fmt.Errorf("%w: the workspace: %w", ErrNotDone, err)
	}
	defer root.Close()
	result, err := call(root)
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return Result{Failed: true, Text: fmt.Sprintf("%s: %v", excerpt(path.Path), path.Err)}, nil
	}
	return result, err
}

func readFile(root *os.Root, path string) (Result, error) {
	info, err := root.Stat(path)
	if err != nil {
		return Result{}, err
	}
	if !info.Mode().IsRegular() {
		return Result{Failed: true, Text: path + " is no file"}, nil
	}
	f, err := root.Open(path)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return Result{}, err
	case len(data) > maxFile:
		return Result{Failed: true, Text: fmt.Sprintf("%s has more than %d bytes", path, maxFile)}, nil
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return Result{Failed: true, Text: fmt.Sprintf("%s is no text: it has %d bytes", path, len(data))}, nil
	}
	return Result{Text: string(data)}, nil
}

func writeFile(root *os.Root, a writeArguments) (Result, error) {
	if len(a.Text) > maxFile {
		return Result{Failed: true, Text: fmt.Sprintf("the text has more than %d bytes", maxFile)}, nil
	}
	if err := root.MkdirAll(filepath.Dir(a.Path), 0o700); err != nil {
		return Result{}, err
	}
	flags := os.O_WRONLY | os.O_CREATE
	if a.Replace {
		if info, err := root.Lstat(a.Path); err == nil && !info.Mode().IsRegular() {
			return Result{Failed: true, Text: a.Path + " is no file"}, nil
		}
		flags |= os.O_TRUNC
	} else {
		flags |= os.O_EXCL
	}
	f, err := root.OpenFile(a.Path, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return Result{Failed: true, Text: a.Path + " is there already; say replace to replace it"}, nil
	}
	if err != nil {
		return Result{}, err
	}
	_, err = f.WriteString(a.Text)
	if err = errors.Join(err, f.Close()); err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("%d bytes written to %s", len(a.Text), a.Path)}, nil
}

func listFiles(root *os.Root, path string) (Result, error) {
	const most = 500
	list, err := fs.ReadDir(root.FS(), filepath.ToSlash(filepath.Clean(path)))
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	for i, e := range list {
		if i == most {
			fmt.Fprintf(&b, "and %d more\n", len(list)-most)
			break
		}
		switch info, err := e.Info(); {
		case e.IsDir():
			fmt.Fprintf(&b, "%s/\n", e.Name())
		case err == nil && e.Type().IsRegular():
			fmt.Fprintf(&b, "%s (%d bytes)\n", e.Name(), info.Size())
		default:
			fmt.Fprintf(&b, "%s\n", e.Name())
		}
	}
	if len(list) == 0 {
		return Result{Text: "The folder is empty."}, nil
	}
	return Result{Text: b.String()}, nil
}

type runArguments struct {
	Command   string   `json:"command" jsonschema:"the program"`
	Arguments []string `json:"arguments" jsonschema:"its arguments, one by one; no shell reads them"`
}

// Command returns the tool that runs programs in a folder: those of the given names,
// which are looked for in PATH. "*" allows all but shells, to which an argument is a
// program again. Without a name there is no such tool, and nil is returned.
func Command(folder string, programs ...string) ([]Tool, error) {
	if len(programs) == 0 {
		return nil, nil
	}
	for _, p := range programs {
		if p != "*" && filepath.Base(p) != p {
			return nil, fmt.Errorf("program %q: give the name alone, as it is found in PATH", p)
		}
	}
	what := "Runs a program in the workspace: " + strings.Join(programs, ", ") + "."
	if slices.Contains(programs, "*") {
		what = "Runs a program in the workspace."
	}
	t, err := builtIn(run.CommandTool, worldmodel.EffectExecute, what, func(ctx context.Context, a runArguments) (Result, error) {
		if why := refuse(a.Command, programs); why != "" {
			return Result{}, fmt.Errorf("%w: %s", ErrNotDone, why)
		}
		return runCommand(ctx, folder, a)
	})
	return []Tool{t}, err
}

// shells are programs to which an argument is a program.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "ash", "busybox",
	"env", "xargs", "nohup", "setsid", "sudo", "su", "doas", "pkexec", "eval", "exec", "script", "ssh"}

// refuse returns why a program is not run; "" if it is.
func refuse(name string, programs []string) string {
	switch {
	case filepath.Base(name) != name || name == "" || name == "." || name == "..":
		return fmt.Sprintf("the program %q: give its name alone", excerpt(name))
	case slices.Contains(programs, name):
		return ""
	case !slices.Contains(programs, "*"):
		return fmt.Sprintf("the program %q is not allowed; those that are: %s", excerpt(name), strings.Join(programs, ", "))
	case slices.Contains(shells, name):
		return fmt.Sprintf("%s runs what it is given as a program; call that program itself", name)
	}
	return ""
}

// runCommand runs a program to its end, and all it started with it.
func runCommand(ctx context.Context, folder string, a runArguments) (Result, error) {
	path, err := exec.LookPath(a.Command)
	if err != nil {
		return Result{}, fmt.Errorf("%w: there is no program %q", ErrNotDone, excerpt(a.Command))
	}
	cmd := exec.CommandContext(ctx, path, a.Arguments...)
	cmd.Dir, cmd.Env = folder, environment(nil)
	out := &tail{most: maxFile}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	child.Bind(cmd)
	err = cmd.Run()
	_ = child.Kill(cmd) // what it left behind
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case ended:
		return Result{Failed: true, Text: fmt.Sprintf("%s\n(%s)", out, exit.ProcessState)}, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return Result{Text: out.String() + "\n(it left a program behind, which was ended)"}, nil
	case err != nil:
		return Result{}, err
	}
	return Result{Text: out.String()}, nil
}

// rememberName is the name of the tool of [Remember].
const rememberName = "remember"

// Recall remembers once more what a call of that tool had remembered, of a run that is gone
// on with. Calls of other tools are left alone.
func (f *Facts) Recall(ctx context.Context, tool, arguments string) {
	var a rememberArguments
	if tool == rememberName && json.Unmarshal([]byte(arguments), &a) == nil {
		_ = f.Remember(ctx, llm.OneLine(a.Fact)) // what there was room for then, there is room for now
	}
}

type rememberArguments struct {
	Fact string `json:"fact" jsonschema:"one fact that is needed later, in one sentence"`
}

// Remember returns the tool that keeps a fact for the run.
func Remember(m Memory) (Tool, error) {
	return builtIn(rememberName, worldmodel.EffectNone, "Keeps a fact for the rest of this run.", func(ctx context.Context, a rememberArguments) (Result, error) {
		fact := llm.OneLine(a.Fact)
		if fact == "" {
			return Result{Failed: true, Text: "the fact is empty"}, nil
		}
		if err := m.Remember(ctx, fact); err != nil {
			return Result{Failed: true, Text: err.Error()}, nil
		}
		return Result{Text: "kept"}, nil
	})
}

type askArguments struct {
	Question string `json:"question" jsonschema:"what only the user can tell or decide"`
}

// AskUserName is the name of the tool of [AskUser].
const AskUserName = "ask_user"

// AskUser returns the tool that asks the user.
func AskUser(ask Asker) (Tool, error) {
	return builtIn(AskUserName, worldmodel.EffectNone, "Asks the user, and waits for the answer.", func(ctx context.Context, a askArguments) (Result, error) {
		question := llm.OneLine(a.Question)
		if question == "" {
			return Result{Failed: true, Text: "the question is empty"}, nil
		}
		answer, err := answered(ctx, ask, question)
		if err != nil && ctx.Err() == nil {
			return Result{Failed: true, Text: err.Error()}, nil
		}
		return Result{Text: answer}, err
	})
}

// answered waits for the user, which no limit of time counts.
func answered(ctx context.Context, ask Asker, question string) (string, error) {
	defer run.Asking(ctx)()
	return ask(ctx, question)
}

// Facts are a [Memory] of one run. The zero value has none and is ready to use; its
// methods may be called at the same time.
type Facts struct {
	mu   sync.Mutex
	list []string
}

// What a run may remember.
const (
	maxFacts = 50
	maxFact  = 500 // characters
)

// Remember keeps a fact, unless it is too long or there are too many.
func (f *Facts) Remember(_ context.Context, fact string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := utf8.RuneCountInString(fact); {
	case slices.Contains(f.list, fact):
		return nil
	case n > maxFact:
		return fmt.Errorf("the fact has %d characters: write at most %d", n, maxFact)
	case len(f.list) == maxFacts:
		return fmt.Errorf("%d facts are kept, which is all that there is room for", maxFacts)
	}
	f.list = append(f.list, fact)
	return nil
}

// List returns the facts, oldest first.
func (f *Facts) List() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}
