package replay

import (
	"desktop-agent/run"
	"desktop-agent/run/eventjson"
)

// ErrSchema is wrapped by the error of a run that another version of this program
// wrote in a form that this one does not read.
var ErrSchema = eventjson.ErrSchema

// Decode makes an event of a line of events.jsonl.
func Decode(line []byte) (run.Event, error) {
	l, err := eventjson.Parse(line)
	if err != nil {
		return run.Event{}, err
	}
	return event(l)
}

// event reads the data of a line, and refuses the name of a frame that could lead
// elsewhere.
func event(l *eventjson.Line) (run.Event, error) {
	e, err := l.Event()
	if o, ok := e.Data.(run.Observed); ok && err == nil {
		err = checkFrameID(o.FrameID)
	}
	if err != nil {
		return run.Event{}, err
	}
	return e, nil
}
