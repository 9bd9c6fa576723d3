package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"

	"desktop-agent/internal/regular"
	"desktop-agent/internal/spell"
	"desktop-agent/llm"
)

// A settingsFile is a configuration file as a source of flags: the key
// max-steps sets --max-steps, and the key model in the table [planner] sets
// --planner-model. It stands below the command line and the environment.
type settingsFile struct {
	path   string
	values map[string]setting // by the name of the flag
}

// A setting is a value of a file.
type setting struct {
	key   string // as it stands in the file
	value any
}

// readSettings reads the file at path. With path "" it reads the file at its
// usual place, which may be missing.
func readSettings(path string) (*settingsFile, error) {
	f := &settingsFile{path: path, values: map[string]setting{}}
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return f, nil // no home: no usual place
		}
		f.path = filepath.Join(dir, "desktop-agent", "config.toml")
	}
	data, err := regular.Read(f.path, maxSettings)
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, hintError{fmt.Errorf("configuration: %w", err), "name a file that can be read with --config, or leave it out"}
	}
	var table map[string]any
	if err := toml.Unmarshal(data, &table); err != nil {
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := at.Position()
			return nil, hintError{fmt.Errorf("%s:%d:%d: %w", f.path, line, column, err), `the file must be TOML, such as: model = "gpt-5"`}
		}
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return f, f.fill(table)
}

// maxSettings is how large a configuration file may be, in bytes.
const maxSettings = 1 << 20

// fill takes over the keys of the file. Prices are a table by themselves.
func (f *settingsFile) fill(table map[string]any) error {
	for key, value := range table {
		inner, isTable := value.(map[string]any)
		if !isTable || key == "price" {
			inner = map[string]any{"": value}
		}
		for name, v := range inner {
			flag, written := key, key
			if name != "" {
				flag, written = key+"-"+name, fmt.Sprintf("%s in [%s]", name, key)
			}
			if other, twice := f.values[flag]; twice {
				return hintError{fmt.Errorf("%s: %q and %q set the same", f.path, min(other.key, written), max(other.key, written)), "remove one of them"}
			}
			f.values[flag] = setting{written, v}
		}
	}
	return nil
}

// Validate refuses keys that no flag reads.
func (f *settingsFile) Validate(app *kong.Application) error {
	var known, unknown []string
	for _, flag := range flagsOf(app) {
		if !slices.Contains(notInFile, flag.Name) {
			known = append(known, flag.Name)
		}
	}
	for name := range f.values {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	name := unknown[0]
	return hintError{fmt.Errorf("%s: unknown key %q", f.path, f.values[name].key), fmt.Sprintf("did you mean %q?", inFile(spell.Nearest(name, known, 1)[0]))}
}

// inFile is how a flag is written in a file.
func inFile(flag string) string {
	for _, role := range []string{"planner", "actor", "worldmodel", "monitor", "grounder"} {
		if key, ok := strings.CutPrefix(flag, role+"-"); ok {
			return key + " in [" + role + "]"
		}
	}
	return flag
}

// notInFile lists the flags that a file cannot set.
var notInFile = []string{"help", "config", "version", "unisolated", "lift", "show", "secret"}

// flagsOf returns the flags of all commands.
func flagsOf(app *kong.Application) (flags []*kong.Flag) {
	// The error is that of the function, which has none.
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			flags = append(flags, flag)
		}
		return next(nil)
	})
	return flags
}

// given returns the flags that stand on the command line.
func given(line *kong.Context) (flags []*kong.Flag) {
	for _, path := range line.Path {
		if path.Flag != nil && !path.Resolved {
			flags = append(flags, path.Flag)
		}
	}
	return flags
}

// Resolve returns the file's value of a flag, unless the environment has one.
func (f *settingsFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	s, ok := f.values[flag.Name]
	if !ok || slices.Contains(notInFile, flag.Name) {
		return nil, nil
	}
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	if err := fits(flag, s.value); err != nil {
		return nil, fmt.Errorf("%s: %q: %w", f.path, s.key, err)
	}
	return s.value, nil
}

// fits checks the type of a value more strictly than the library, which takes
// 2.5 for 2 and 90 for 90 nanoseconds.
func fits(flag *kong.Flag, value any) error {
	target := flag.Target.Type()
	if target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	_, isText := value.(string)
	_, isWhole := value.(int64)
	_, isFloat := value.(float64)
	_, isBool := value.(bool)
	switch {
	case target == reflect.TypeFor[time.Duration]():
		if !isText {
			return errors.New(`write a time with its unit in quotes, such as "90s" or "5m"`)
		}
	case target.Kind() == reflect.Int && !isWhole:
		return errors.New("write a whole number without quotes, such as 30")
	case target.Kind() == reflect.Float64 && !isWhole && !isFloat:
		return errors.New("write a number without quotes, such as 0.5")
	case target.Kind() == reflect.Bool && !isBool:
		return errors.New("write true or false, without quotes")
	case target.Kind() == reflect.String && !isText:
		return errors.New("write a text in quotes")
	}
	// Once more where it does no harm, for an error that names the file.
	scan := kong.Scan().PushTyped(value, kong.FlagValueToken)
	fresh := reflect.New(flag.Target.Type()).Elem()
	if fresh.Kind() == reflect.Pointer {
		fresh.Set(reflect.New(target))
	}
	return flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, fresh)
}

// finite refuses numbers that are none.
func finite(line *kong.Context) error {
	for _, flag := range line.Flags() {
		v := flag.Target
		if v.Kind() == reflect.Pointer {
			v = v.Elem() // of nil it is no value
		}
		if v.Kind() == reflect.Float64 && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
			return hintError{fmt.Errorf("--%s is %v", flag.Name, v.Float()), "write a number such as 0.5"}
		}
	}
	return nil
}

// ownVariables are set by a private desktop for its programs, of which this
// program may be one.
var ownVariables = []string{"DESKTOP_AGENT_SANDBOX", "DESKTOP_AGENT_PROGRAM"}

// checkEnvironment refuses variables that look like settings and are none.
func checkEnvironment(app *kong.Application, environ []string) error {
	var known []string
	for _, flag := range flagsOf(app) {
		known = append(known, flag.Envs...)
	}
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "DESKTOP_AGENT_") && !slices.Contains(known, name) && !slices.Contains(ownVariables, name) {
			return hintError{fmt.Errorf("unknown environment variable %s", name), "did you mean " + spell.Nearest(name, known, 1)[0] + "?"}
		}
	}
	return nil
}

// A hintError is an error with what to do about it.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// modelHints say what to do about a call of a model that failed.
var modelHints = []struct {
	kind error
	hint string
}{
	{llm.ErrNoModel, "set DESKTOP_AGENT_MODEL or --model"},
	{llm.ErrAuth, "set DESKTOP_AGENT_API_KEY or --api-key to a key that the endpoint accepts"},
	{llm.ErrQuota, "add credit at the provider, or use another key or --base-url"},
	{llm.ErrRateLimited, "wait a while, or ask the provider for a higher limit"},
	{llm.ErrUnavailable, "check --base-url and the network, or try again later"},
	{llm.ErrBadReply, "check --base-url (it often ends in /v1), or try another --model"},
	{llm.ErrRequest, "check --model and --base-url (it often ends in /v1)"},
	{llm.ErrTimeout, "try again, use a faster --model, or raise --timeout"},
}

// hintOf returns what to do about an error, or "".
func hintOf(err error) string {
	if h, ok := errors.AsType[hintError](err); ok {
		return h.hint
	}
	for _, h := range modelHints {
		if errors.Is(err, h.kind) {
			return h.hint
		}
	}
	return ""
}
