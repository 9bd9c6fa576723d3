// Package eventjson is the form of a run on disk: the JSON of its events.
//
// The form is made of types of its own, one for each type of an event and for all
// that they hold. The types of package run and of those below it can change their
// names and their order; what is written, and what is read of runs that were
// written long ago, changes only here:
//
//	line, err := eventjson.Encode(event)
//	…
//	parsed, err := eventjson.Parse(line)
//	…
//	event, err := parsed.Event()
//
// Two forms are defined elsewhere, because they are the same in other places: an
// action is what [actuator.Marshal] makes of it, which models write too; points,
// rectangles, times and bytes are as [encoding/json] writes them.
//
// A reader refuses keys and kinds that it does not know, so that what was recorded
// is never read as less than it says. A key that is missing stands for the zero
// value. The format is described in docs/trajectory.md.
package eventjson

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	json "github.com/go-json-experiment/json/v1"

	"desktop-agent/run"
)

// An event is a line of the journal, without what chains it to those before.
type event struct {
	Seq      int       `json:"seq"`
	Time     time.Time `json:"time"`
	Step     int       `json:"step"`
	Kind     string    `json:"kind"` // near the beginning, where [replay.Summarize] looks for it
	Agent    string    `json:"agent,omitempty"`
	Display  string    `json:"display,omitempty"`
	PlanStep int       `json:"plan_step,omitempty"`
	Data     Form      `json:"data"`
}

// Encode returns the line of an event, with its line break.
func Encode(e run.Event) ([]byte, error) {
	form, err := FormOf(e.Data)
	if err != nil {
		return nil, err
	}
	return encode(event{e.Seq, e.Time, e.Step, e.Kind, e.Agent, e.Display, e.PlanStep, form})
}

// Marshal returns the JSON of what an event tells.
func Marshal(data run.EventData) ([]byte, error) {
	form, err := FormOf(data)
	if err != nil {
		return nil, err
	}
	text, err := encode(form)
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// encode writes <, > and & as they are: it is not HTML, and people read it.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	enc := stdjson.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return text.Bytes(), err
}

// A Line is a line of the journal, of which the data is not read yet.
type Line struct {
	Seq      int             `json:"seq"`
	Time     time.Time       `json:"time"`
	Step     int             `json:"step"`
	Kind     string          `json:"kind"`
	Agent    string          `json:"agent"`
	Display  string          `json:"display"`
	PlanStep int             `json:"plan_step"`
	Data     json.RawMessage `json:"data"`

	Files map[string]string `json:"files"` // hashes of the files written since the line before
	Prev  string            `json:"prev"`  // hash of the line before; "" in the first
}

// Link adds to the line of an event the hashes of the files that were written since
// the line before, and the hash of that line with its end.
func Link(line []byte, files map[string]string, prev string) ([]byte, error) {
	link, err := stdjson.Marshal(struct {
		Files map[string]string `json:"files,omitempty"`
		Prev  string            `json:"prev"`
	}{files, prev})
	if err != nil {
		return nil, err
	}
	linked := append([]byte{}, line[:len(line)-len("}\n")]...)
	linked = append(linked, ',')
	linked = append(linked, link[1:]...)
	return append(linked, '\n'), nil
}

// Parse reads a line up to its data.
func Parse(line []byte) (*Line, error) {
	l := &Line{}
	if err := Strict(line, l); err != nil {
		return nil, err
	}
	return l, nil
}

// Event reads the data of a line. Its error names the kind.
func (l *Line) Event() (run.Event, error) {
	data, err := Unmarshal(l.Kind, l.Data)
	if err != nil {
		return run.Event{}, err
	}
	return run.Event{
		Seq: l.Seq, Time: l.Time, Step: l.Step, Agent: l.Agent, Display: l.Display, PlanStep: l.PlanStep,
		Kind: l.Kind, Data: data,
	}, nil
}

// Unmarshal reads what [Marshal] wrote of an event of a kind.
func Unmarshal(kind string, data []byte) (run.EventData, error) {
	blank, known := forms[kind]
	if !known {
		return nil, fmt.Errorf("unknown kind of event %.80q: it is one of %s", kind, strings.Join(Kinds(), ", "))
	}
	form := blank()
	if _, first := form.(*runStarted); first {
		// The version comes first: another one may have other keys.
		var head struct {
			Schema int `json:"schema"`
		}
		if json.Unmarshal(data, &head) == nil {
			if err := CheckSchema(head.Schema); err != nil {
				return nil, err
			}
		}
	}
	if err := Strict(data, form); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return form.Data(), nil
}

// Strict decodes one JSON value and refuses keys that v does not have. Its error is in the
// words of [encoding/json].
func Strict(data []byte, v any) error {
	err := jsonv2.Unmarshal(data, v, quick)
	if err == nil {
		return nil
	}
	// Those words take a reading that goes over everything once before it begins: a quarter
	// more time than a run that is whole needs.
	return cmp.Or(jsonv2.Unmarshal(data, v, strict), err)
}

var (
	strict = jsonv2.JoinOptions(json.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
	quick  = jsonv2.JoinOptions(strict, json.ReportErrorsWithLegacySemantics(false))
)

// Kinds lists the kinds of events that there are.
func Kinds() []string { return slices.Sorted(maps.Keys(forms)) }

// ErrSchema is wrapped by the error of a run that another version of this program
// wrote in a form that this one does not read.
var ErrSchema = errors.New("the run was written by another version")

// CheckSchema refuses a version of the form that this package does not read.
func CheckSchema(version int) error {
	switch {
	case version > run.Schema:
		return fmt.Errorf("%w (journal schema %d, newer than schema %d, which this program reads): update desktop-agent",
			ErrSchema, version, run.Schema)
	case version < 1:
		return fmt.Errorf("journal schema %d: it must be %d", version, run.Schema)
	case version < run.Schema:
		return fmt.Errorf("%w (journal schema %d, older than schema %d, which this program reads): record the run again, or read it with the version that wrote it",
			ErrSchema, version, run.Schema)
	}
	return nil
}
