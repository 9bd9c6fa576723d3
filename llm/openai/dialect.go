package openai

import (
	"log/slog"

	"desktop-agent/llm"
	"desktop-agent/llm/wire"
)

// A dialect is how requests have to be written for a model. The zero value asks
// for the most.
type dialect struct {
	format        format
	described     bool // the schema is in the prompt although response_format was taken: it had no effect
	newLimit      bool // max_completion_tokens, as reasoning models want it, and local servers do not know it
	noTemperature bool // reasoning models take only the default
}

// LogValue names what requests do without.
func (d dialect) LogValue() slog.Value {
	return slog.GroupValue(slog.String("schema", [...]string{"response_format", "prompt and json_object", "prompt"}[d.format]),
		slog.Bool("described", d.described), slog.Bool("max_tokens", !d.newLimit), slog.Bool("temperature", !d.noTemperature))
}

// A format is how a schema is given.
type format int

const (
	jsonSchema format = iota // enforced by the endpoint
	jsonObject               // some JSON is enforced, the schema is in the prompt
	plain                    // the schema is in the prompt
)

// Without returns the dialect that avoids what the endpoint refused, or false if
// nothing of that was in the request. It only ever gives things up, so repeating
// it ends.
func (d dialect) Without(refused string, req *llm.Request) (dialect, bool) {
	mentions := func(names ...string) bool { return wire.Mentions(refused, names...) }
	switch {
	case req.MaxTokens > 0 && !d.newLimit && mentions("max_tokens", "max_completion_tokens"):
		d.newLimit = true
	case req.Temperature != nil && !d.noTemperature && mentions("temperature"):
		d.noTemperature = true
	case req.Schema != nil && d.format < plain && mentions("response_format", "json_schema", "json_object", "structured output", "grammar"):
		d.format++
	default:
		return d, false
	}
	return d, true
}

// After returns the dialect for further requests, given a reply in this one. An
// endpoint that takes a schema and then does not keep to it ignored it, and so the
// model has never seen it.
func (d dialect) After(req *llm.Request, resp *llm.Response) dialect {
	if req.Schema != nil && d.format == jsonSchema && resp.Ending() == llm.Answered && req.Schema.Validate([]byte(resp.Text)) != nil {
		d.described = true
	}
	return d
}
