package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/native"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// An Actor asks a model what to do next.
type Actor struct {
	Model  llm.Model
	Format Format

	Words bool // it is told that words can name what the list has not: somebody looks for it

	Like *run.Demonstration // a run that shows how it can be done; nil for none

	ScreenTokens  int  // budget of the linearised tree in a prompt; 0 for the default of [screen.Observation.Text]
	Grows         bool // nothing is shortened: the provider of the model binds what it thought to all that was said
	KeepImages    int  // the turns of the newest screenshots stay in the conversation as they were; 0 for 3
	PruneInterval int  // the turns of this many screenshots are shortened at a time, so that the prompt's beginning stays cached; 0 for what suits the format
}

// record is a demonstration as the actor reads it.
func record(d *run.Demonstration) string {
	lines := []string{"Task: " + llm.OneLine(d.Task)}
	for i, step := range d.Steps {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, llm.OneLine(step)))
	}
	return strings.Join(lines, "\n")
}

// A Format is how the actor writes its actions.
type Format struct {
	Name    string // "code" or "tools", which the prompt explains, or that of the dialect
	Parser  actuator.Parser
	Tools   []llm.Tool       // offered to the model, with "tools"
	Offer   []run.Tool       // beside mouse and keyboard, told in the prompt, with "code"
	Dialect *dialect.Dialect // has prompts of its own; nil for none

	// Computer is the provider's own tool for mouse and keyboard, offered beside Tools; nil
	// for none.
	Computer *native.Vocabulary
}

// A proposal is a reply of the actor with what the parser made of it.
type proposal struct {
	actuator.Proposal
	asked  []llm.Message // what the model was asked last, in the messages that stay; nil for what [history.seen] shows
	before []llm.Message // what the model said and was not done with saying
	reply  llm.Message   // as the model wrote it
	bad    error         // a [*actuator.ParseError], if the reply was no action
	cause  error         // of an endpoint's unusable reply, for a person to read

	grounded []run.Grounded // what was found for words by which it names something

	candidates, agreed int    // how many it was chosen from, if several, and how many were the same
	why                string // it was this one
}

// A question is what the actor is asked.
type question struct {
	task    string
	plan    *planner.Plan
	history *history
	now     *screen.Observation
	notes   notes
	report  string     // what became of the last batch; "" at first
	signs   string     // what the detectors notice; "" for nothing
	zoom    *llm.Image // the enlarged region that the last turn asked for
	advice  string     // from the monitor or the world model, with the proposal it is about
}

// propose asks for the next batch of actions, as the model wrote them: which elements they
// aim at, [episode.name] finds out. A reply that is no action is returned with its error, for
// the next turn to answer.
func (a *Actor) propose(ctx context.Context, q question) (proposal, error) {
	request, err := a.request(q)
	if err != nil {
		return proposal{}, err
	}
	var p proposal
	if a.Format.Computer != nil {
		p.asked = request.Messages[len(request.Messages)-asked(q):]
	}
	response, before, err := llm.CompleteTurn(ctx, a.Model, request)
	if errors.Is(err, llm.ErrBadReply) {
		return proposal{
			asked: p.asked,
			reply: llm.Message{From: llm.Assistant, Parts: []llm.Part{llm.Text("(no usable reply)")}},
			cause: err,
			bad:   &actuator.ParseError{Message: "the reply was empty or could not be read; answer in the form that was asked for"},
		}, nil
	}
	if err != nil {
		return proposal{}, fmt.Errorf("propose: %w", err)
	}
	p.before, p.reply = before, response.Message()
	p.Proposal, p.bad = a.Format.Parser.Parse(ReplyOf(response), q.now.Image.Mapping.Bounds())
	if response.Ending() == llm.Declined && a.Format.Computer != nil {
		p.Proposal, p.bad = actuator.Proposal{Actions: []actuator.Action{actuator.Infeasible{Reason: response.Refusal()}}, Calls: []int{-1}}, nil
	}
	return p, nil
}

// ReplyOf is a model's reply as a parser reads it.
func ReplyOf(r *llm.Response) actuator.Reply {
	reply := actuator.Reply{Text: r.Text, Ended: r.Finish == llm.FinishStop}
	for _, c := range r.Calls {
		reply.Calls = append(reply.Calls, actuator.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Computer: c.Computer})
	}
	return reply
}

// request builds the conversation: the rules, the task, the turns so far, what became
// of the last batch and the screenshot, the plan right before the last message, and in
// that the list of what is on the screen. Up to the screenshot all stays for the next
// request; only what comes after it is new in each.
func (a *Actor) request(q question) (*llm.Request, error) {
	if a.Format.Dialect != nil {
		return a.inDialect(q)
	}
	var zoom []llm.Image
	if q.zoom != nil {
		zoom = append(zoom, *q.zoom)
	}
	request, err := prompts.Request(llm.Actor, a.Format.prompt(), proposePrompt{
		Format: a.Format.Name, Words: a.Words, Offer: offered(a.Format.Offer), Signs: q.signs, Notes: q.notes.text(), Dropped: q.notes.dropped, Advice: q.advice, Zoomed: q.zoom != nil, FrameID: q.now.FrameID, Screen: a.Format.list(q.now, a.ScreenTokens),
	}, zoom...)
	if err != nil {
		return nil, err
	}
	system, now := request.Messages[0], request.Messages[1]
	messages := []llm.Message{system, llm.UserText("Task: " + q.task)}
	if a.Like != nil {
		like, err := prompts.Render("propose.like", likePrompt{record(a.Like)})
		if err != nil {
			return nil, err
		}
		messages = append(messages, llm.UserText(like))
	}
	keep := cmp.Or(a.KeepImages, 3)
	if a.Grows {
		keep = keepAll
	}
	past, err := q.history.messages(q.now.FrameID, keep, a.interval())
	if err != nil {
		return nil, err
	}
	seen, err := q.history.seen(q)
	if err != nil {
		return nil, err
	}
	messages = append(append(messages, past...), seen)
	if q.plan != nil {
		messages = append(messages, llm.UserText(q.plan.Format()))
	}
	request.Purpose, request.Messages = "propose", append(messages, now)
	request.Tools = a.Format.Tools
	if a.Format.Computer != nil {
		request.Computer = &llm.Computer{Size: q.now.Image.Mapping.Size}
	}
	return request, nil
}

// interval is how many screenshots go at a time.
func (a *Actor) interval() int {
	suits := 4
	if c := a.Format.Computer; c != nil && c.Prune > 0 {
		suits = c.Prune
	}
	return cmp.Or(a.PruneInterval, suits)
}
