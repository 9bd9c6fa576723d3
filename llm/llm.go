// Package llm talks to language models: typed requests and replies, roles with
// their own settings, budgets that are checked before each call.
package llm

import (
	"context"
	"encoding/json"
	"image"
	"log/slog"
	"slices"
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

// A configured model tells the settings of its roles, as a [Client] does.
type configured interface{ Settings(Role) Settings }

// SettingsOf returns the settings that a model has for a role; false if it tells none.
func SettingsOf(m Model, role Role) (Settings, bool) {
	if c, ok := m.(configured); ok {
		return c.Settings(role), true
	}
	return Settings{}, false
}

// InFront returns front, which passes requests on to m, as a model that has the settings
// of m, so that what asks it keeps to the same deadline and temperature.
func InFront(front, m Model) Model {
	if c, ok := m.(configured); ok {
		return struct {
			Model
			configured
		}{front, c}
	}
	return front
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

	// Grounder finds on a picture what the actor names in words. It is asked only where it
	// has a model of its own: no default is meant for it.
	Grounder Role = "grounder"
)

// A Request is one call of a model.
type Request struct {
	Role     Role
	Purpose  string // which prompt it is, such as "assess"; for the journal
	Prompt   string // hash of the prompt's template; for the journal
	Messages []Message
	Tools    []Tool  // functions that the model may call
	Schema   *Schema // if set, the reply's text must be JSON of this schema

	// Computer, if set, offers the provider's own tool for mouse and keyboard beside Tools.
	// Endpoints without such a tool refuse the request with [ErrRequest].
	Computer *Computer

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
	State  *State     // of the assistant: [Response.State], as it came; nil for none

	// Accepted are the IDs of the checks, of those that the answered call raised, which a
	// person or a policy accepted. Whatever is not here is never acknowledged.
	Accepted []string
	Failed   bool // of a tool's reply: the call was not done, or failed
}

// A State is what a provider wants to have back, byte for byte, with the next request:
// reasoning, signatures, its own form of calls. Nobody else reads it. An adapter sends back
// only what it made itself for the same model; of any other it sends text, calls and
// pictures.
type State struct {
	API   string // the adapter, such as "responses"
	Model string // as requests name it
	Data  string // in the adapter's own form
}

// A Computer is the screen that a provider's own computer tool works on.
type Computer struct {
	Size image.Point // of the screenshots, in their pixels
}

// A Check is a concern of the provider about a call, which only a person or a policy may
// accept.
type Check struct {
	ID      string // to acknowledge it by; unique within the call
	Code    string // such as "malicious_instructions"; may be one that is new
	Message string // for a person
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

	// Computer says that it is a call of the provider's own computer tool: Arguments are in
	// the provider's words.
	Computer bool
	Checks   []Check // to be accepted before it is done
}

// Equal reports whether two calls are the same in all that they say.
func (c ToolCall) Equal(d ToolCall) bool {
	return c.ID == d.ID && c.Name == d.Name && c.Arguments == d.Arguments && c.Computer == d.Computer && slices.Equal(c.Checks, d.Checks)
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
	Finish string // why it ended: one of the reasons below, or what the endpoint calls it
	Usage  Usage
	State  *State // to be sent back with [Message.State]; nil for none
}

// Why a reply ended, whatever the provider calls it.
const (
	FinishStop      = "stop"           // it is complete
	FinishCalls     = "tool_calls"     // it is complete and calls tools
	FinishLength    = "length"         // the limit of tokens was reached
	FinishRefusal   = "refusal"        // the model declined
	FinishFilter    = "content_filter" // the provider withheld it
	FinishPaused    = "paused"         // the provider wants the same request again, with the reply so far
	FinishMalformed = "malformed_call" // the model's call could not be read by the provider
)

// Usage counts the tokens of one or more calls.
type Usage struct {
	Input  int `json:"input"`  // tokens read, those of images and the cache included
	Cached int `json:"cached"` // of Input, those read from the provider's cache
	Output int `json:"output"` // tokens written

	// Written are those of Input that were written to the provider's cache; 0 where it does
	// not say.
	Written int `json:"written,omitzero"`
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
