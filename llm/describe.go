package llm

import "embed"

//go:embed prompts/schema.tmpl prompts/reask.tmpl prompts/probe.tmpl
var promptFiles embed.FS

var prompts = ParsePrompts(promptFiles)

// The data of the templates.
type (
	schemaPrompt struct{ Schema string }
	reaskPrompt  struct {
		Problem string
		CutOff  bool
	}
	probePrompt struct{}
)

// DescribeSchema returns the messages with the schema explained at the end of
// the last user message (a new one if the last message is not the user's). It is
// for adapters of endpoints that cannot enforce a schema themselves. The
// messages given are not changed.
func DescribeSchema(messages []Message, s *Schema) ([]Message, error) {
	text, err := prompts.Render("schema", schemaPrompt{string(s.JSON)})
	if err != nil {
		return nil, err
	}
	last := len(messages) - 1
	if last < 0 || messages[last].From != User {
		return append(messages[:last+1:last+1], UserText(text)), nil
	}
	m := messages[last]
	m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], Text(text))
	return append(messages[:last:last], m), nil
}
