package dialect

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"image"
	"strings"
	"text/template"
)

// A Question is what a model is asked, in the words of the agent.
type Question struct {
	Task   string
	Like   string // how a task like it was done; "" for nothing
	Plan   string // "" for none
	Past   []Turn
	Told   string      // what is said with the newest screenshot: what became of the last actions, advice
	Size   image.Point // of the newest screenshot, in its pixels
	Zoomed bool        // an enlarged part of it is shown too
}

// A Turn is one that is over.
type Turn struct {
	Told  string // what was said with its screenshot
	Shown bool   // it has a screenshot of its own: else it is that of the turn before
	Said  string // the reply, letter by letter
}

// Whose message it is.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// A Message is one of a conversation.
type Message struct {
	From  string
	Parts []Part
}

// A Part is text, or a picture if Text is "".
type Part struct {
	Text       string
	Screenshot int // the screenshot of the turn of that index; [Newest] or [Zoom]
}

// The pictures that belong to no past turn.
const (
	Newest = -1
	Zoom   = -2
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = template.Must(template.New("").Option("missingkey=error").ParseFS(promptFiles, "prompts/*.tmpl"))

// ruleData is the data of a family's prompt.
type ruleData struct {
	Name  string
	Task  string // of a prompt that has it inside
	Width int    // that the model is told its screen has
	High  int
}

// rules returns the prompt of the family.
func (d *Dialect) rules(q Question) (string, error) {
	size := d.space(q.Size).model
	if d.Scale == 999 { // of the last point: the grid has 1000 each way
		size = image.Pt(1000, 1000)
	}
	var b strings.Builder
	err := prompts.ExecuteTemplate(&b, d.prompt+".tmpl", ruleData{d.Name, q.Task, size.X, size.Y})
	if err != nil {
		return "", fmt.Errorf("prompt of %s: %w", d.Name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// Hash names the wording of the dialect's prompt, for the journal.
func (d *Dialect) Hash() string {
	sum := sha256.New()
	for _, file := range []string{d.prompt, "shared"} {
		text, err := promptFiles.ReadFile("prompts/" + file + ".tmpl")
		if err != nil {
			return "" // a test holds that it is there
		}
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// Messages returns the conversation in the form that the family was trained on.
func (d *Dialect) Messages(q Question) ([]Message, error) { return d.talk(d, q) }

func text(from string, parts ...string) Message {
	m := Message{From: from}
	for _, p := range parts {
		if p != "" {
			m.Parts = append(m.Parts, Part{Text: p})
		}
	}
	return m
}

// rulesApart has the rules as the system's message, and then the task.
func rulesApart(d *Dialect, q Question) ([]Message, error) {
	rules, err := d.rules(q)
	if err != nil {
		return nil, err
	}
	return d.turns(q, text(System, rules), text(User, "Please generate the next move according to the UI screenshot, the instruction and the previous actions.\n\nInstruction: "+q.Task, q.Like)), nil
}

// rulesInTask has both in the first message of the user.
func rulesInTask(d *Dialect, q Question) ([]Message, error) {
	rules, err := d.rules(q)
	if err != nil {
		return nil, err
	}
	return d.turns(q, text(System, "You are a helpful assistant."), text(User, rules, q.Like)), nil
}

// turns adds what was seen and said, and what is seen now.
func (d *Dialect) turns(q Question, begin ...Message) []Message {
	list := begin
	for i, t := range q.Past {
		seen := text(User, t.Told)
		if t.Shown {
			seen.Parts = append(seen.Parts, Part{Screenshot: i})
		} else if len(seen.Parts) == 0 {
			seen = text(User, "The screen is still the same.")
		}
		list = append(list, seen, text(Assistant, d.remembered(t.Said)))
	}
	if q.Plan != "" {
		list = append(list, text(User, q.Plan))
	}
	now := text(User, q.Told)
	return append(list, Message{User, append(now.Parts, newest(q)...)})
}

// remembered is a reply as it stands in the conversation.
func (d *Dialect) remembered(said string) string {
	if d.past != nil {
		said = d.past(said)
	}
	if strings.TrimSpace(said) == "" {
		return "(no reply)" // a message without content is refused by some servers
	}
	return said
}

func newest(q Question) []Part {
	parts := []Part{{Screenshot: Newest}}
	if q.Zoomed {
		parts = append(parts, Part{Text: "The part of it that you asked to see enlarged. Points are always those of the screenshot before it:"}, Part{Screenshot: Zoom})
	}
	return parts
}

// talkGLM has one message of the user, with the turns so far in words between the
// pictures of the newest of them.
func talkGLM(d *Dialect, q Question) ([]Message, error) {
	rules, err := d.rules(q)
	if err != nil {
		return nil, err
	}
	m := text(User, rules, q.Like, "# Historical Actions and Current Memory\nHistory:")
	memory := "[]"
	for i, t := range q.Past {
		said, kept := cutMemory(t.Said)
		if kept != "" {
			memory = kept
		}
		said = strings.NewReplacer(beginBox, "", endBox, "").Replace(strings.TrimSpace(said))
		m.Parts = append(m.Parts, text(User, fmt.Sprintf("step %d:", i+1), t.Told).Parts...)
		if t.Shown {
			m.Parts = append(m.Parts, Part{Text: "Screenshot:"}, Part{Screenshot: i})
		}
		m.Parts = append(m.Parts, Part{Text: "Action: " + said})
	}
	m.Parts = append(m.Parts, text(User, "Memory:\n"+memory, q.Plan, q.Told, "Current Screenshot:").Parts...)
	m.Parts = append(m.Parts, newest(q)...)
	return []Message{m}, nil
}
