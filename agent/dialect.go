package agent

import (
	"cmp"
	"fmt"
	"image"
	"regexp"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// inDialect builds the conversation in the form that the model's family was trained on.
func (a *Actor) inDialect(q question) (*llm.Request, error) {
	d := a.Format.Dialect
	// One is left for the screenshot of now, which is shown anew even if it was shown.
	keep := max(1, min(cmp.Or(a.KeepImages, 3), d.Screenshots-1))
	past, err := q.history.messages(q.now.FrameID, keep, max(1, d.Screenshots-keep))
	if err != nil {
		return nil, err
	}
	turns, screenshots := pastTurns(past)
	asked := dialect.Question{
		Task: q.task, Past: turns, Told: joined(q.notesTold(), q.report, q.signs, q.advice), Size: q.now.Image.Mapping.Size, Zoomed: q.zoom != nil,
	}
	if a.Like != nil {
		if asked.Like, err = prompts.Render("propose.like", likePrompt{record(a.Like)}); err != nil {
			return nil, err
		}
	}
	if q.plan != nil {
		asked.Plan = q.plan.Format()
	}
	list, err := d.Messages(asked)
	if err != nil {
		return nil, err
	}
	request := &llm.Request{Role: llm.Actor, Purpose: "propose", Prompt: d.Hash()}
	for _, m := range list {
		message := llm.Message{From: llm.Speaker(m.From)}
		for _, p := range m.Parts {
			switch {
			case p.Text != "":
				message.Parts = append(message.Parts, llm.Text(p.Text))
			case p.Screenshot == dialect.Newest:
				for _, screenshot := range planner.Images(q.now) {
					message.Parts = append(message.Parts, screenshot)
				}
			case p.Screenshot == dialect.Zoom:
				message.Parts = append(message.Parts, *q.zoom)
			default:
				message.Parts = append(message.Parts, screenshots[p.Screenshot])
			}
		}
		request.Messages = append(request.Messages, message)
	}
	return request, nil
}

// notesTold is what the actor noted, for a dialect to tell; "" without notes.
func (q question) notesTold() string {
	text := q.notes.text()
	if text == "" {
		return ""
	}
	return "Your notes, oldest first:\n" + llm.Untrusted("notes", text)
}

func joined(parts ...string) string {
	var list []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, "\n\n")
}

// screenshotLabel stands before a screenshot in the other formats.
var screenshotLabel = regexp.MustCompile(`\s*Screenshot \S+, [0-9]+x[0-9]+ pixels:\s*$`)

// pastTurns returns the turns of a conversation, with the screenshot of each.
func pastTurns(messages []llm.Message) (turns []dialect.Turn, screenshots []llm.Image) {
	var turn dialect.Turn
	var screenshot llm.Image
	for _, m := range messages {
		if m.From != llm.User && m.From != llm.Assistant {
			continue
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Image:
				turn.Shown, screenshot = true, p
			case llm.Text:
				if m.From == llm.Assistant {
					turn.Said = joined(turn.Said, string(p))
				} else {
					turn.Told = joined(turn.Told, screenshotLabel.ReplaceAllString(string(p), ""))
				}
			}
		}
		if m.From == llm.Assistant {
			turns, screenshots = append(turns, turn), append(screenshots, screenshot)
			turn, screenshot = dialect.Turn{}, llm.Image{}
		}
	}
	return turns, screenshots
}

// untold reports whether a model that has a dialect is not told of a result: these were
// trained to see in the screenshot that an action worked.
func (f Format) untold(a *run.Act) bool {
	return f.Dialect != nil && a.Status == actuator.Delivered && a.Detail == "" && a.Output == ""
}

// grid is how many points each way the grid has on which the model says where something
// is; 0 for pixels of the screenshot.
func (f Format) grid() int {
	switch {
	case f.Computer != nil:
		return f.Computer.Scale
	case f.Dialect != nil:
		return f.Dialect.Scale
	}
	return 0
}

// list is what is on a screen for a reader who answers in this format: with all places where
// the computer tool of a provider aims by points, and else with those that are needed beside IDs.
func (f Format) list(o *screen.Observation, tokens int) string {
	if f.Computer != nil {
		return o.TextOn(f.grid(), tokens)
	}
	return o.Text(tokens)
}

// place names the element at a point of a picture of that size, or else where it is, as
// the model would say it.
func (f Format) place(size image.Point) func(actuator.Point) string {
	return func(p actuator.Point) string {
		if p.Element.Role != "" || !p.Placed() {
			return p.Element.String()
		}
		x, y := dialect.SpaceOf(size, f.grid()).Say(p)
		return fmt.Sprintf("(%s, %s)", x, y)
	}
}

// describe describes an action in the words of the format, so that points are where the
// model would say that they are.
func (f Format) describe(a actuator.Action, on *screen.Observation) string {
	if f.Computer != nil {
		if text, ok := f.Computer.Describe(a, on.Image.Mapping.Size); ok {
			return text
		}
	}
	if f.Dialect != nil {
		if text, ok := f.Dialect.Describe(a, on.Image.Mapping.Size); ok {
			return text
		}
	}
	return actuator.DescribeFull(a)
}
