package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"desktop-agent/internal/spell"
	"desktop-agent/internal/within"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A Tool is something that can be called by its name.
type Tool struct {
	Name        string
	Description string            // for models and people to read; a server's own words if Server is not ""
	Parameters  *llm.Schema       // of the arguments: an object
	Effect      worldmodel.Effect // the worst that a call may do
	Server      string            // the MCP server it belongs to; "" if it is built in
	// Call does it. The arguments fit Parameters. That the tool says it failed is a
	// Result; an error means that it is not known what came of it, unless it is one of
	// [ErrNotDone].
	Call func(ctx context.Context, arguments json.RawMessage) (Result, error)
}

// A Result is what a call gave. It is data, whoever wrote it.
type Result struct {
	Text   string          // for a model to read
	Data   json.RawMessage // the same as JSON, where the tool gives that; nil if not
	Failed bool            // the tool says that it did not work; Text says why
	Cut    int             // bytes of the text that were left out, because it was too long
}

// The errors of a call. All are of [ErrNotDone] but the last.
var (
	ErrNotDone   = errors.New("not done")                                 // nothing was sent to the tool
	ErrUnknown   = fmt.Errorf("%w: no such tool", ErrNotDone)             // the message has the nearest name
	ErrArguments = fmt.Errorf("%w: the arguments do not fit", ErrNotDone) // the message says what does not
	ErrTime      = errors.New("the tool did not answer in time; it is not known what it did")
)

// A Registry has tools by their names. Its zero value is empty and ready to use;
// its methods may be called at the same time.
type Registry struct {
	Limits run.ToolLimits // of each call

	mu    sync.RWMutex
	tools map[string]Tool
}

// maxArguments is how many bytes of arguments are read.
const maxArguments = 1 << 20

// names are what every endpoint takes as the name of a function.
var names = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Add adds tools. Of those that cannot be added, because the name is taken or no
// name, or the schema is none of an object, the error tells; the others are added.
func (r *Registry) Add(list ...Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tools == nil {
		r.tools = map[string]Tool{}
	}
	var errs []error
	for _, t := range list {
		if err := r.fits(t); err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", t.Name, err))
			continue
		}
		r.tools[t.Name] = t
	}
	return errors.Join(errs...)
}

// fits returns why a tool cannot be added.
func (r *Registry) fits(t Tool) error {
	switch other, taken := r.tools[t.Name]; {
	case !names.MatchString(t.Name):
		return errors.New("a name has 1 to 64 letters, digits, _ and -")
	case taken && other.Server != "":
		return fmt.Errorf("the name is taken by a tool of the server %q; rename one of the servers", other.Server)
	case taken:
		return errors.New("the name is taken by a tool that is built in")
	case t.Call == nil:
		return errors.New("it does nothing: Call is nil")
	case !known(t.Effect):
		return fmt.Errorf("the effect %q is none of %v", t.Effect, worldmodel.Effects())
	}
	return usable(t.Parameters)
}

func known(e worldmodel.Effect) bool { return slices.Contains(worldmodel.Effects(), e) }

// usable returns why a schema cannot be one of arguments.
func usable(s *llm.Schema) error {
	if s == nil {
		return errors.New("it has no schema of its arguments")
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(s.JSON, &head); err != nil || head.Type != "object" {
		return errors.New(`the schema of its arguments is not of "type": "object"`)
	}
	// Whether it can be used at all shows with any object: only a broken schema
	// names itself.
	if err := s.Validate([]byte(`{}`)); err != nil && strings.HasPrefix(err.Error(), "schema "+s.Name+":") {
		return err
	}
	return nil
}

// Lookup returns the tool of a name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	return t, ok
}

// Tools returns all tools, by their names.
func (r *Registry) Tools() []Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := make([]Tool, 0, len(r.tools))
	for _, t := range r.tools {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Check returns why a call could not be made: [ErrUnknown] or [ErrArguments].
func (r *Registry) Check(name string, arguments json.RawMessage) error {
	_, _, err := r.checked(name, arguments)
	return err
}

// checked returns the tool of a name, and arguments that fit it.
func (r *Registry) checked(name string, arguments json.RawMessage) (Tool, json.RawMessage, error) {
	t, ok := r.Lookup(name)
	if !ok {
		return t, nil, r.unknown(name)
	}
	if len(arguments) > maxArguments {
		return t, nil, fmt.Errorf("%w %s: they have %d bytes, and may have %d", ErrArguments, name, len(arguments), maxArguments)
	}
	if len(strings.TrimSpace(string(arguments))) == 0 {
		arguments = json.RawMessage("{}")
	}
	if err := t.Parameters.Validate(arguments); err != nil {
		return t, nil, fmt.Errorf("%w %s: %w", ErrArguments, name, err)
	}
	return t, arguments, nil
}

func (r *Registry) unknown(name string) error {
	all := r.Tools()
	known := make([]string, len(all))
	for i, t := range all {
		known[i] = t.Name
	}
	switch nearest := spell.Nearest(name, known, 1); {
	case len(known) == 0:
		return fmt.Errorf("%w: %q; there are no tools", ErrUnknown, excerpt(name))
	case len(nearest) > 0:
		return fmt.Errorf("%w: %q; the nearest name is %q", ErrUnknown, excerpt(name), nearest[0])
	}
	return fmt.Errorf("%w: %q; there are %s", ErrUnknown, excerpt(name), strings.Join(known, ", "))
}

// Call calls a tool. An error of [ErrNotDone] means that nothing was done; after any
// other it is not known.
func (r *Registry) Call(ctx context.Context, name string, arguments json.RawMessage) (Result, error) {
	t, arguments, err := r.checked(name, arguments)
	if err != nil {
		return Result{}, err
	}
	limits := r.Limits.WithDefaults()
	limited, cancel := run.Within(ctx, limits.Time, fmt.Errorf("%w (%v)", ErrTime, limits.Time))
	defer cancel()
	result, err := within.Do(limited, "the tool", func() (Result, error) { return t.Call(limited, arguments) })
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	result.shorten(limits.Text)
	return result, nil
}

// shorten cuts the middle out of a text of more than most bytes: what matters is at the
// beginning or at the end.
func (r *Result) shorten(most int) {
	r.Text = strings.ToValidUTF8(r.Text, "\uFFFD")
	if len(r.Text) <= most {
		return
	}
	head, tail := r.Text[:most*2/3], r.Text[len(r.Text)-most/3:]
	for len(head) > 0 && !utf8.RuneStart(r.Text[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	r.Cut = len(r.Text) - len(head) - len(tail)
	r.Text = fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, r.Cut, tail)
	r.Data = nil // it would be the same at full length
}

// excerpt is what of a text goes into a message.
func excerpt(s string) string { return llm.Excerpt(s, 80) }
