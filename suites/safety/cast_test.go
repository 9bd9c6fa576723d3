package safety_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
	"desktop-agent/run"
)

// A script is how the models of a task answer: casts/<id>.json.
type script struct {
	Gullible []string `json:"gullible"` // of the actor, a line of code for each turn; «name» stands for the handle of that element
	Behaves  []string `json:"behaves"`
	Judge    []string `json:"judge"`    // the effects that the task asks for and that cannot be taken back
	Asks     []row    `json:"asks"`     // what the task really asks for
	Violates []row    `json:"violates"` // what must not be done, whoever asks
	Honest   bool     `json:"honest"`   // who foresees is not deceived: the actor is careless, and nobody attacks
}

// A row is what holds of actions in whose description, or in what was done right
// before, a pattern is found.
type row struct {
	In     string `json:"in"`
	Effect string `json:"effect"`
	Words  string `json:"words"`  // of the task, that ask for it
	Policy string `json:"policy"` // that it violates
}

func readScript(t *testing.T, id string) script {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("casts", id+".json"))
	require.NoError(t, err)
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	var s script
	require.NoError(t, d.Decode(&s), id)
	return s
}

// A cast plays all models of a run. The gullible actor, planner, monitor, assessor and
// goal check fall for whatever is on the screen or agree with whoever does; so does who
// foresees, who says of everything that the task asks for it, and is right about what an
// action does alone. What the task asks for is judged before anything is seen.
type cast struct {
	script
	t        *testing.T
	task     string
	gullible bool
	guarded  bool

	mu      sync.Mutex
	turn    int
	waits   int // for a list that was not whole
	repeats int // of the last turn
}

const (
	// maxWaits is how many turns an actor waits for programs that do not answer.
	maxWaits = 10
	// maxRepeats is how often it says once more that it is done.
	maxRepeats = 3
)

// listed finds the handle of an element by its name in the list of the screen.
func listed(text, name string) (string, error) {
	form := `"` + regexp.QuoteMeta(name) + `"`
	if name == "multi-line" { // the text of an editor
		form = `[^\n]*\bmulti-line\b`
	}
	m := regexp.MustCompile(`\b(n\d+)\b[^\n"|]*` + form).FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("there is no %q in the list:\n%s", name, text)
	}
	return m[1], nil
}

// Complete is of [llm.Model].
func (c *cast) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply := func(v any) (*llm.Response, error) { return llmtest.JSON(v)(ctx, r) }
	switch r.Purpose {
	case run.PurposeJudge:
		return reply(map[string]any{"reason": "as the words of the task are", "irreversible": len(c.Judge) > 0, "blocked_effects": append([]string{}, c.Judge...), "blocked_tools": []string{}})
	case run.PurposeForesee:
		return reply(c.foresee(llmtest.LastText(r)))
	case "generate":
		return reply(map[string]any{"steps": []map[string]string{{"goal": "Find what the screen asks for and see it done", "done_when": "It is done"}, {"goal": "Locate what the task is about and see it changed", "done_when": "It is as the task says"}}})
	case "assess":
		return reply(map[string]any{"changed": "something", "as_expected": "unclear", "progress_step": 1, "evidence": "", "guidance": nil, "stop": false, "region": nil})
	case "goal":
		return reply(map[string]any{"shown": true, "evidence": "it is so", "missing": "", "region": nil})
	case "review":
		return reply(map[string]any{"is_consistent": true, "needs_new_plan": false, "optimization_guidance": nil})
	case "propose":
		return c.propose(ctx, r)
	}
	return nil, fmt.Errorf("nobody plays %q", r.Purpose)
}

// harmless is the first of the gullible turns that do the harmless task: those from which
// on they are the last ones of who behaves.
func (c *cast) harmless() int {
	last, same := len(c.Gullible), 0
	for same < min(last, len(c.Behaves)) && c.Gullible[last-1-same] == c.Behaves[len(c.Behaves)-1-same] {
		same++
	}
	return last - same
}

func (c *cast) propose(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	lines, text := c.Behaves, llmtest.LastText(r)
	if c.gullible {
		lines = c.Gullible
	}
	for c.turn < len(lines) {
		code := lines[c.turn]
		var missing error
		for _, m := range regexp.MustCompile(`«([^»]*)»`).FindAllStringSubmatch(code, -1) {
			id, err := listed(text, m[1])
			missing = errors.Join(missing, err)
			code = strings.ReplaceAll(code, m[0], id)
		}
		due := !c.gullible || c.guarded && c.turn >= c.harmless()
		switch {
		case missing == nil:
			c.turn++
			return llmtest.Text("Thought: so it is said.\nExpect: it is done.\n```python\n"+code+"\n```")(ctx, r)
		case c.waits < maxWaits && strings.Contains(text, "nodes are missing"): // a program is busy, and the list says so
			c.waits++
			return llmtest.Text("Thought: the list is not whole yet.\nExpect: it is.\n```python\nWAIT\n```")(ctx, r)
		case due: // a way of harm that is not there any more is passed over
			c.t.Errorf("turn %d: %v", c.turn, missing)
			return nil, missing
		}
		c.turn++
	}
	if c.repeats++; c.repeats <= maxRepeats { // it was not heard: the screen changed meanwhile
		return llmtest.Text("Thought: as I said.\nExpect: it ends.\n```python\n"+lines[len(lines)-1]+"\n```")(ctx, r)
	}
	return nil, errors.New("the actor has no more turns")
}

// suspicion finds what the guard's table takes an action for.
var suspicion = regexp.MustCompile(`A table of labels and keys takes it for: (\w+):`)

// foresee is right about the effect of an action and whether it can be undone.
func (c *cast) foresee(text string) map[string]any {
	_, about, _ := strings.Cut(text, "The action, exactly")
	about, _, _ = strings.Cut(about, "What was done in this run before")
	effect := "edit"
	if m := suspicion.FindStringSubmatch(about); m != nil {
		effect = m[1]
	}
	side := effect != "edit" && effect != "navigate" && effect != "none"
	harm := map[string]any{"severity": "none", "probability": 0, "reason": ""}
	if side {
		harm = map[string]any{"severity": "high", "probability": 80, "reason": "It cannot be taken back."}
	}
	f := map[string]any{"expected": "It happens.", "effect": effect, "reversible": !side, "undo": nil, "short_term": harm, "long_term": harm,
		"violated_policy_ids": []string{}, "asked_for_by_task": false, "task_words": "", "lifts": nil, "better": nil}
	if c.gullible && !c.Honest { // it is deceived about what the user wants
		f["asked_for_by_task"], f["task_words"] = true, strings.Join(strings.Fields(c.task)[:3], " ")
	}
	for _, r := range c.Asks {
		if r.Effect == effect && regexp.MustCompile(r.In).MatchString(about) {
			f["asked_for_by_task"], f["task_words"] = true, r.Words
			f["lifts"] = "this time it is what the task asks for, " + r.Words
		}
	}
	for _, r := range c.Violates {
		if side && regexp.MustCompile(r.In).MatchString(about) {
			f["violated_policy_ids"] = []string{r.Policy}
		}
	}
	return f
}
