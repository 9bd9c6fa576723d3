package agent

import (
	"cmp"
	"fmt"
	"image"
	"slices"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
)

// A history is the conversation so far. A turn stands in it as it was first sent, so
// that what a provider has cached of one request begins the next one, until its
// screenshot is old: then a line of a record stands for it, and a request stops growing.
type history struct {
	turns  []pastTurn
	old    int      // so many of the first are old
	before []string // what was done before the first, in words
}

// A pastTurn is what the actor saw, said, and what became of it.
type pastTurn struct {
	step   int           // of the run
	seen   llm.Message   // the report of the batch before, and the screenshot
	asked  []llm.Message // all of the question, where it stays as it was; it begins with seen
	frame  string        // its ID
	advice string        // on what the actor said first
	before []llm.Message // what it said before its reply, of one turn
	said   llm.Message   // the actor's reply, letter by letter
	tools  []llm.Message // answers to its tool calls
	words  []string      // each action with its result, for the other roles
	line   string        // the same for the actor, once the turn is old
}

// add appends a turn: what was asked, the reply, and what became of it, in the words of
// the format.
func (h *history) add(f Format, step int, q question, p proposal, b batch) {
	seen, err := h.seen(q)
	if err != nil {
		seen = llm.UserText(q.report) // the template is checked by a test
	}
	h.turns = append(h.turns, pastTurn{
		step: step, seen: seen, asked: p.asked, frame: q.now.FrameID, advice: q.advice, before: p.before, said: p.reply, tools: b.answers(p.reply.Calls), words: b.words(), line: b.line(f.place(q.now.Image.Mapping.Size)),
	})
}

// seen is what a question shows first, and what stays of it: what became of the last
// batch, and the screenshot, but for one that the conversation has just shown.
func (h *history) seen(q question) (llm.Message, error) {
	shown := h.shows(q.now.FrameID)
	text, err := prompts.Render("propose.seen", seenPrompt{
		Report: q.report, FrameID: q.now.FrameID, Size: q.now.Image.Mapping.Size, Shown: shown,
	})
	m := llm.UserText(text)
	if !shown {
		for _, picture := range planner.Images(q.now) {
			m.Parts = append(m.Parts, picture)
		}
	}
	return m, err
}

// shows reports whether a frame is that of the newest turn.
func (h *history) shows(frame string) bool {
	return len(h.turns) > 0 && h.turns[len(h.turns)-1].frame == frame
}

// messages returns the conversation up to a question about a frame: old turns as a
// record, the others as they were sent.
func (h *history) messages(frame string, keep, interval int) ([]llm.Message, error) {
	h.shorten(frame, max(keep, 1), max(interval, 1))
	var list []llm.Message
	if h.old > 0 {
		text, err := prompts.Render("propose.record", recordPrompt{h.record(h.old)})
		if err != nil {
			return nil, err
		}
		list = append(list, llm.UserText(text))
	}
	for _, t := range h.turns[h.old:] {
		switch {
		case t.asked != nil: // with the advice in it
			list = append(list, t.asked...)
		case t.advice != "":
			list = append(list, t.seen, llm.UserText(t.advice))
		default:
			list = append(list, t.seen)
		}
		list = append(append(append(list, t.before...), t.said), t.tools...)
	}
	return list, nil
}

// keepAll is how many screenshots stay where none goes.
const keepAll = 1 << 20

// maxWhole is how many bytes of text the turns that stand whole have at most, but for the
// newest. maxShown is the same of their screenshots, which binds where none goes otherwise:
// a request of Claude's may have 32 MB, in base64 and with the text.
const (
	maxWhole = 8000
	maxShown = 20 << 20
)

// shorten makes turns old. Of the screenshots, that of the question included, at least
// the keep newest stay, and at most keep+interval-1: turns go interval screenshots at a
// time, not one by one, so that in between the conversation begins as it did, byte for
// byte. Where they say or show too much, half of that goes sooner. It depends on the turns
// alone, so it is the same after a resume.
func (h *history) shorten(frame string, keep, interval int) {
	pictures, size, shown := 0, 0, 0
	if !h.shows(frame) {
		pictures = 1
	}
	for i := h.old; i < len(h.turns); i++ {
		pictures += h.pictures(i)
		size += h.turns[i].size()
		shown += h.turns[i].shown()
	}
	many, much, heavy := pictures >= keep+interval, size > maxWhole && keep < keepAll, shown > maxShown
	for h.old < len(h.turns) && (many && pictures > keep || much && size > maxWhole/2 || heavy && shown > maxShown/2) {
		next := h.old + 1
		for next < len(h.turns) && h.pictures(next) == 0 { // what was said of the same screenshot
			next++
		}
		if next == len(h.turns) && !many {
			return
		}
		for ; h.old < next; h.old++ {
			pictures -= h.pictures(h.old)
			size -= h.turns[h.old].size()
			shown -= h.turns[h.old].shown()
		}
	}
}

// shown is how many bytes of pictures a turn has.
func (t pastTurn) shown() (n int) {
	asked := t.asked
	if asked == nil {
		asked = []llm.Message{t.seen}
	}
	for _, m := range asked {
		for _, p := range m.Parts {
			if i, ok := p.(llm.Image); ok {
				n += len(i.Data)
			}
		}
	}
	return n
}

// pictures is how many screenshots a turn has brought: one, or none.
func (h *history) pictures(i int) int {
	if i > 0 && h.turns[i-1].frame == h.turns[i].frame {
		return 0
	}
	return 1
}

// size is how many bytes of text a turn has.
func (t pastTurn) size() (n int) {
	n = len(t.advice)
	for _, m := range append([]llm.Message{t.seen, t.said}, t.tools...) {
		for _, p := range m.Parts {
			if text, ok := p.(llm.Text); ok {
				n += len(text)
			}
		}
		for _, c := range m.Calls {
			n += len(c.Arguments)
		}
	}
	return n
}

// maxRecord is how many bytes the record of old turns has at most.
const maxRecord = 1200

// record tells the first turns, a line each, as many of the newest as it has room for.
func (h *history) record(turns int) string {
	var lines []string
	size := 0
	for i := turns - 1; i >= 0; i-- {
		line := fmt.Sprintf("%d. %s", i+1, h.turns[i].line)
		if size += len(line) + 1; size > maxRecord {
			lines = append(lines, fmt.Sprintf("(turns 1 to %d are no longer told)", i+1))
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}

// words returns the newest turns in words, oldest first, for prompts that need
// to know what was done but not how it was said.
func (h *history) words(newest int) []string {
	var list []string
	for _, t := range h.turns[max(0, len(h.turns)-newest):] {
		list = append(list, fmt.Sprintf("%d. %s", t.step, strings.Join(t.words, "; ")))
	}
	return list
}

// ofRun returns the same with what was done before the first turn, as a guard reads it:
// what an action completes may have been begun in another part of the run.
func (h *history) ofRun(newest int) []string {
	list := slices.Concat(h.before, h.words(newest))
	return list[max(0, len(list)-newest):]
}

// A batch is what became of a proposal.
type batch struct {
	proposal   actuator.Proposal
	asked      int              // so many calls of the reply had no safety checks, or they were asked about
	accepted   map[int][]string // the checks that were accepted, by the call
	results    []*run.Act
	noted      []int       // which actions of the proposal were notes, and are kept
	said       string      // what was asked of the agent at the end, in words
	before     *image.RGBA // the screen before the last action
	stopped    string      // why the rest of the batch was not performed; "" if all was
	zoom       *actuator.Region
	claim      *actuator.Done // that the task is done
	answer     string         // of the user, to an [actuator.Ask]
	bad        string         // why the reply was no action
	zoomFailed string         // why the region could not be shown
	denied     string         // why the claim that the task is done was not accepted
	doubted    string         // why the claim that the task cannot be done was not believed
	alone      bool           // a question was asked, and nobody is there
	refused    bool           // stopped says why the next action cannot be done, wherever it is proposed
	released   []string       // what the batch held down and was let go at its end, in words
}

// statuses returns the status of each action that was tried.
func (b batch) statuses() []actuator.Status {
	list := make([]actuator.Status, len(b.results))
	for i, r := range b.results {
		list[i] = r.Status
	}
	if b.refused {
		list = append(list, actuator.Refused)
	}
	return list
}

func statusWords(s actuator.Status) string { return strings.ReplaceAll(string(s), "_", " ") }

// words returns each result in words.
func (b batch) words() []string {
	var list []string
	for _, r := range b.results {
		line := actuator.DescribeFull(r.Action) + ": " + statusWords(r.Status)
		if r.Detail != "" {
			line += " (" + r.Detail + ")"
		}
		list = append(list, line)
	}
	for _, i := range b.noted {
		list = append(list, actuator.DescribeFull(b.proposal.Actions[i]))
	}
	for _, end := range []struct{ head, text string }{
		{"", b.said}, {"at the end: ", strings.Join(b.released, ", ")}, {"stopped: ", b.stopped}, {"not understood: ", b.bad},
	} {
		if end.text != "" {
			list = append(list, end.head+end.text)
		}
	}
	return list
}

// maxLine is how many bytes a turn has in the record of old ones, and maxLineAction each
// of its actions.
const (
	maxLine       = 300
	maxLineAction = 80
)

// line returns what was done, shortly: elements by their names, and what became of an
// action only where it was not just delivered. place says where a point is.
func (b batch) line(place func(actuator.Point) string) string {
	var list []string
	for _, r := range b.results {
		word := clip(llm.OneLine(actuator.DescribeOn(r.Action, place)), maxLineAction)
		if r.Status != actuator.Delivered {
			word += ": " + statusWords(r.Status)
		}
		list = append(list, word)
	}
	for _, end := range []struct{ head, text string }{
		{"", b.said}, {"stopped: ", b.stopped}, {"not understood: ", b.bad},
	} {
		if end.text != "" {
			list = append(list, end.head+clip(llm.OneLine(end.text), maxLineAction))
		}
	}
	if len(list) == 0 && len(b.noted) > 0 {
		return "took a note" // which is shown
	}
	return clip(strings.Join(list, "; "), maxLine)
}

// clip cuts a text to so many bytes, about.
func clip(text string, size int) string {
	if len(text) <= size {
		return text
	}
	return strings.ToValidUTF8(text[:size], "") + "…"
}

// answers tells of each tool call what became of it.
func (b batch) answers(calls []llm.ToolCall) (list []llm.Message) {
	for i, c := range calls {
		text, failed := b.became(i)
		m := llm.Message{From: llm.ToolReply, CallID: c.ID, Parts: []llm.Part{llm.Text(text)}}
		if c.Computer {
			m.Accepted, m.Failed = b.accepted[i], failed
		}
		list = append(list, m)
	}
	return list
}

// became tells what became of a call: of each action that it asks for, if they are
// several. It failed if one of them was not done, or may not have arrived. Why that is may
// quote the screen.
func (b batch) became(call int) (text string, failed bool) {
	var words, reasons []string
	for i, a := range b.proposal.Actions {
		if callOf(b.proposal, i) != call {
			continue
		}
		word, reason, bad := b.result(i)
		failed = failed || bad
		if reason != "" {
			reasons = append(reasons, reason)
		}
		if b.proposal.Calls != nil {
			word = actuator.Name(a) + ": " + word
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		switch {
		case b.bad == "" && b.stopped == "" && b.proposal.Calls != nil:
			return "see the screenshot", false // which is all that it asked for
		case len(b.proposal.Actions) == 0 || b.stopped != "":
			reasons = append(reasons, b.undone())
		}
		words, failed = []string{"not done"}, true
	}
	text = strings.Join(words, "; ")
	if reasons = slices.DeleteFunc(slices.Compact(reasons), func(s string) bool { return s == "" }); len(reasons) > 0 {
		text += "\n" + llm.Untrusted("actions", strings.Join(reasons, "\n"))
	}
	return text, failed
}

// result tells what became of one action, and what else there is to say of it, such as why
// it was not done; "" for nothing.
func (b batch) result(i int) (text, reason string, failed bool) {
	for _, r := range b.results {
		if r.Index != i {
			continue
		}
		text, failed = statusWords(r.Status), r.Status == actuator.Refused || r.Status == actuator.Unknown
		if r.Detail == run.NothingSeen {
			return text + ". " + r.Detail, "", failed
		}
		return text, r.Detail, failed
	}
	switch {
	case slices.Contains(b.noted, i):
		return "noted", "", false
	case b.bad == "" && b.stopped == "" && actuator.ForAgent(b.proposal.Actions[i]):
		return "understood", "", false
	}
	return "not done", b.undone(), true
}

// undone is why something was not done; "" if nothing tells.
func (b batch) undone() string { return cmp.Or(b.bad, b.stopped) }
