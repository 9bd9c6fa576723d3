package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"

	"desktop-agent/actuator"
)

// A settingsFile is a configuration file as a source of flags: the key
// max-steps sets --max-steps, and the key model in the table [planner] sets
// --planner-model. It stands below the command line and the environment.
type settingsFile struct {
	path   string
	values map[string]any // by the name of the flag
}

// readSettings reads the file at path. With path "" it reads the file at its
// usual place, which may be missing.
func readSettings(path string) (*settingsFile, error) {
	usual := path == ""
	if usual {
		dir, err := os.UserConfigDir()
		if err != nil {
			return &settingsFile{}, nil // no home: no usual place
		}
		path = filepath.Join(dir, "desktop-agent", "config.toml")
	}
	data, err := os.ReadFile(path)
	if usual && errors.Is(err, fs.ErrNotExist) {
		return &settingsFile{}, nil
	}
	if err != nil {
		return nil, hintError{fmt.Errorf("configuration: %w", err), "name a file that exists with --config, or leave it out"}
	}
	var table map[string]any
	if err := toml.Unmarshal(data, &table); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := at.Position()
			return nil, hintError{fmt.Errorf("%s:%d:%d: %v", path, line, column, err), "the file must be TOML, such as: model = \"gpt-5\""}
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &settingsFile{path: path, values: map[string]any{}}
	for key, value := range table {
		if inner, ok := value.(map[string]any); ok && key != "price" {
			for name, v := range inner {
				f.values[key+"-"+name] = v
			}
			continue
		}
		f.values[key] = value
	}
	return f, nil
}

// Validate refuses keys that no flag reads.
func (f *settingsFile) Validate(app *kong.Application) error {
	var known []string
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && !slices.Contains(notInFile, flag.Name) {
			known = append(known, flag.Name)
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	for key := range f.values {
		if !slices.Contains(known, key) {
			return hintError{fmt.Errorf("%s: unknown key %q", f.path, key), fmt.Sprintf("did you mean %q?", actuator.Nearest(key, known, 1)[0])}
		}
	}
	return nil
}

// notInFile lists the flags that a file cannot set.
var notInFile = []string{"help", "config", "version"}

// Resolve returns the file's value of a flag, unless the environment has one.
func (f *settingsFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	if slices.Contains(notInFile, flag.Name) {
		return nil, nil
	}
	value, ok := f.values[flag.Name]
	if !ok {
		return nil, nil
	}
	return value, nil
}

// A hintError is an error with what to do about it.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// hintOf returns what to do about an error, or "".
func hintOf(err error) string {
	if h, ok := errors.AsType[hintError](err); ok {
		return h.hint
	}
	return ""
}

// price is dollars per million tokens, written input/cached/output.
type price struct{ input, cached, output float64 }

// UnmarshalText reads "1.25/0.125/10".
func (p *price) UnmarshalText(text []byte) error {
	n, err := fmt.Sscanf(strings.ReplaceAll(string(text), "/", " "), "%g %g %g", &p.input, &p.cached, &p.output)
	if err != nil || n != 3 || p.input < 0 || p.cached < 0 || p.output < 0 {
		return fmt.Errorf("price %q: write dollars per million tokens as input/cached/output, such as 1.25/0.125/10", text)
	}
	return nil
}
