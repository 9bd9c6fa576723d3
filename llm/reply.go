package llm

import (
	"context"
	"slices"
	"strings"
)

// Message is the reply as it is put back into the conversation, with what its provider wants
// to have back.
func (r *Response) Message() Message {
	m := Message{From: Assistant, Calls: r.Calls, State: r.State}
	if r.Text != "" {
		m.Parts = []Part{Text(r.Text)}
	}
	return m
}

// An Ending is what a reply is to whoever asked.
type Ending string

// The endings.
const (
	Answered Ending = "answered" // it is complete, or makes calls, which are to be answered
	Paused   Ending = "paused"   // it is to be gone on with: see [CompleteTurn]
	CutOff   Ending = "cut off"  // what it says may be half
	Declined Ending = "declined" // by the model or its provider: what it says is no answer
)

// Ending tells what a reply is, by why it ended. Calls are there to be answered, whatever it is:
// adapters leave out those that may be half, or are not to be made.
func (r *Response) Ending() Ending {
	if len(r.Calls) > 0 {
		return Answered
	}
	switch r.Finish {
	case FinishPaused:
		return Paused
	case FinishLength, FinishMalformed:
		return CutOff
	case FinishRefusal, FinishFilter:
		return Declined
	}
	return Answered
}

// maxRefusal is how many characters of a refusal are told.
const maxRefusal = 1000

// Refusal tells in one line what a reply that is [Declined] says.
func (r *Response) Refusal() string {
	text := []rune(strings.TrimSpace(r.Text))
	return "the model declined: " + OneLine(string(text[:min(len(text), maxRefusal)]))
}

// maxPauses is how often in a row a model may pause within a turn.
const maxPauses = 3

// CompleteTurn asks a model, and again while its reply is only [Paused], a few times: what it
// said so far stands then behind the question. Those messages are before.
func CompleteTurn(ctx context.Context, m Model, req *Request) (resp *Response, before []Message, err error) {
	for asked := req; ; {
		resp, err = m.Complete(ctx, asked)
		if err != nil || resp.Ending() != Paused || len(before) == maxPauses {
			return resp, before, err
		}
		before = append(before, resp.Message())
		more := *req
		more.Messages = slices.Concat(req.Messages, before)
		asked = &more
	}
}
