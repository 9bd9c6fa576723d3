// Package llm talks to language models: typed requests and replies, roles with
// their own settings, budgets that are checked before each call.
package llm

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Model answers a request. Implementations: [desktop-agent/llm/openai], the
// fakes of [desktop-agent/llm/llmtest], and a recorded run of
// [desktop-agent/replay]. What each promises is in the rules of
// [desktop-agent/llm/llmtest.TestModel], which tries them all.
type Model interface {
	Complete(context.Context, *Request) (*Response, error)
}

// A Role is one of the parts that models play in a run; each may have a model
// and limits of its own.
type Role string

// The roles.
const (
	Planner    Role = "planner"
	Actor      Role = "actor"
	WorldModel Role = "worldmodel"
	Monitor    Role = "monitor"
)

// A Request is one call of a model.
type Request struct {
	Role     Role
	Purpose  string // which prompt it is, such as "assess"; for the journal
	Prompt   string // hash of the prompt's template; for the journal
	Messages []Message
	Tools    []Tool  // functions that the model may call
	Schema   *Schema // if set, the reply's text must be JSON of this schema

	// The settings of the role, filled in by a [Client].
	Model       string
	Temperature *float64
	MaxTokens   int // of the reply; 0 for the model's own limit
}

// A Speaker is who a message is from.
type Speaker string

// The speakers.
const (
	System    Speaker = "system"
	User      Speaker = "user"
	Assistant Speaker = "assistant"
	ToolReply Speaker = "tool"
)

// A Message is one turn of a conversation.
type Message struct {
	From   Speaker
	Parts  []Part
	Calls  []ToolCall // of the assistant
	CallID string     // of a tool's reply: the call it answers
}

// A Part is a piece of a message: a [Text] or an [Image].
type Part interface{ part() }

// Text is text in a message.
type Text string

// An Image is a picture in a message.
type Image struct {
	Data    []byte
	Type    string // MIME type
	FrameID string // the frame it shows; the journal names it instead of repeating the data
}

func (Text) part()  {}
func (Image) part() {}

// LogValue keeps pictures out of logs.
func (i Image) LogValue() slog.Value {
	return slog.GroupValue(slog.String("frame", i.FrameID), slog.Int("bytes", len(i.Data)))
}

// A Tool is a function that a model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON schema of the arguments
}

// A ToolCall is a call that a model made.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON, as the model wrote it: to be validated
}

// A Schema is the JSON schema that a reply must follow.
type Schema struct {
	Name string
	JSON json.RawMessage

	once     sync.Once // resolves JSON for Validate
	resolved *jsonschema.Resolved
	broken   error
}

// A Response is a model's answer.
type Response struct {
	Text   string
	Calls  []ToolCall
	Model  string // as the endpoint names it
	Finish string // why it ended: "stop", "length", "tool_calls", "refusal", …
	Usage  Usage
}

// Usage counts the tokens of one or more calls.
type Usage struct {
	Input  int `json:"input"`  // tokens read, those of images and the cache included
	Cached int `json:"cached"` // of Input, those read from the provider's cache
	Output int `json:"output"` // tokens written
}

// A Call is the record of one call, for the journal.
type Call struct {
	Request  *Request  // with the settings of its role
	Response *Response // nil if there was none
	Err      error
	Latency  time.Duration // of all attempts and the waits in between
	Attempts int
	Usage    Usage   // of all attempts; an estimate where the endpoint does not count
	Dollars  float64 // of Usage by the price table; 0 if the model is not in it
}

// SystemText returns a system message.
func SystemText(text string) Message { return Message{From: System, Parts: []Part{Text(text)}} }

// UserText returns a user's message of text alone.
func UserText(text string) Message { return Message{From: User, Parts: []Part{Text(text)}} }
