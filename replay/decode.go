package replay

import (
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

// decoders makes an event's data of its JSON, by kind.
var decoders = map[string]func([]byte) (run.EventData, error){
	"run_started":   decode[run.RunStarted],
	"observed":      decode[run.Observed],
	"model_called":  decode[run.ModelCalled],
	"planned":       decode[run.Planned],
	"assessed":      decode[run.Assessed],
	"proposed":      decode[run.Proposed],
	"reviewed":      decode[run.Reviewed],
	"acting":        decode[run.Acting],
	"acted":         decode[run.Acted],
	"batch_stopped": decode[run.BatchStopped],
	"answered":      decode[run.Answered],
	"located":       decode[run.Located],
	"diverged":      decode[run.Diverged],
	"goal_checked":  decode[run.GoalChecked],
	"run_ended":     decode[run.RunEnded],
}

func decode[T run.EventData](raw []byte) (run.EventData, error) {
	var data T
	if err := strict(raw, &data); err != nil {
		return nil, err
	}
	return data, nil
}

// strict decodes one JSON value and refuses keys that v does not have: what was
// recorded is never read as less than it says.
func strict(raw []byte, v any) error {
	return jsonv2.Unmarshal(raw, v, json.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
}

// A line is an event as the journal keeps it.
type line struct {
	Seq  int             `json:"seq"`
	Time time.Time       `json:"time"`
	Step int             `json:"step"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`

	Files map[string]string `json:"files"` // hashes of the files written since the line before
	Prev  string            `json:"prev"`  // hash of the line before; "" in the first
}

// Kinds lists the kinds of events that there are.
func Kinds() []string { return slices.Sorted(maps.Keys(decoders)) }

// Decode makes an event of a line of events.jsonl.
func Decode(data []byte) (e run.Event, err error) {
	var raw line
	if err := strict(data, &raw); err != nil {
		return e, err
	}
	return raw.event()
}

func (raw *line) event() (e run.Event, err error) {
	decode, known := decoders[raw.Kind]
	if !known {
		return e, fmt.Errorf("unknown kind of event %.80q: it is one of %s", raw.Kind,
			strings.Join(Kinds(), ", "))
	}
	data, err := decode(raw.Data)
	if err != nil {
		return e, fmt.Errorf("%s: %w", raw.Kind, err)
	}
	switch data := data.(type) {
	case run.RunStarted:
		err = checkSchema(data.Schema)
	case run.Observed:
		err = checkFrameID(data.FrameID)
	}
	if err != nil {
		return e, err
	}
	return run.Event{Seq: raw.Seq, Time: raw.Time, Step: raw.Step, Kind: raw.Kind, Data: data}, nil
}

// ErrSchema is wrapped by the error of a run that another version of this program
// wrote in a form that this one does not read.
var ErrSchema = errors.New("the run was written by another version")

// checkSchema refuses a journal that this program cannot read.
func checkSchema(version int) error {
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

// decodeInfo reads run.json.
func decodeInfo(data []byte) (info Info, err error) {
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return info, err
	}
	// The version comes first: a newer one may have keys that are unknown here.
	if err := checkSchema(head.Schema); err != nil {
		return info, err
	}
	err = strict(data, &info)
	return info, err
}
