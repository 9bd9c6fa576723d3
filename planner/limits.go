package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"desktop-agent/internal/spell"
	"desktop-agent/llm"
)

// The limits of a deliberate plan that no setting changes.
const (
	maxText       = 500     // characters of what a plan says of itself
	maxStepGoal   = 240     // characters of the goal of a step that is not on the screen
	maxParameters = 1 << 20 // bytes
	maxList       = 50      // milestones, risks or constraints
	maxEstimate   = 1 << 40 // tokens of a step
)

var errNoSteps = errors.New("the plan has no steps")

// ValidateFor checks that a deliberate plan can be executed with what there is: the tools
// are there and take these parameters, the needs make an order, every step names
// something that can be checked, and all of it is within the limits. The error joins all
// that is wrong, each with the step and what to write instead: a model reads it, and a
// person.
func (p *Plan) ValidateFor(c Catalog, config Config) error {
	return p.validateFor(c, config.WithDefaults(), 1)
}

func (p *Plan) validateFor(c Catalog, config Config, depth int) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Version < 1 || p.Version > Version {
		add("version %d is not known; it must be 1 to %d", p.Version, Version)
	}
	if p.Mode != Deliberate {
		add("the plan is %q; steps are executed of a deliberate one", p.Mode)
	}
	if strings.TrimSpace(p.Task) == "" {
		add("the task is empty")
	}
	if depth > config.MaxDepth {
		return errors.Join(append(errs, fmt.Errorf("plans are nested %d deep, and at most %d are; write its steps into the plan above", depth, config.MaxDepth))...)
	}
	open := 0
	for _, s := range p.Steps {
		if !s.Status.Final() {
			open++
		}
	}
	switch n := len(p.Steps); {
	case n == 0:
		errs = append(errs, fmt.Errorf("%w; write 1 to %d", errNoSteps, config.MaxSteps))
	case open > config.MaxSteps || n > 5*config.MaxSteps:
		// Nothing more is looked at: a file may have any number of them.
		return errors.Join(append(errs, fmt.Errorf("%d steps to do are too many; write at most %d coarser ones", open, config.MaxSteps))...)
	}
	errs = append(errs, p.checkTexts()...)
	errs = append(errs, p.checkNeeds()...)
	tokens := 0
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, problem := range slices.Concat(p.checkID(i), s.checkExecutor(c), s.checkPlanned(), s.checkOrder(i > 0 && len(p.Revisions) == 0, config)) {
			add("step %d: %s", i+1, problem)
		}
		tokens += s.Tokens
		if s.Sub == nil {
			continue
		}
		if err := s.Sub.validateFor(c.inside(s), config, depth+1); err != nil {
			add("step %d, its plan: %s", i+1, strings.ReplaceAll(err.Error(), "\n", fmt.Sprintf("\nstep %d, its plan: ", i+1)))
		}
	}
	if most := config.MaxTokens; most > 0 && max(tokens, p.Tokens) > most {
		add("the steps are estimated at %d tokens, and there are %d; leave out steps, or estimate them anew", max(tokens, p.Tokens), most)
	}
	return errors.Join(errs...)
}

// checkTexts looks at what a plan says of itself.
func (p *Plan) checkTexts() (errs []error) {
	for name, text := range map[string]string{"goal": p.Goal, "success": p.Success} {
		if n := utf8.RuneCountInString(text); n > maxText {
			errs = append(errs, fmt.Errorf("shorten the plan's %s to %d characters; it has %d", name, maxText, n))
		}
	}
	for name, list := range map[string][]string{"milestones": p.Milestones, "risks": p.Risks, "constraints": p.Constraints} {
		if len(list) > maxList || slices.ContainsFunc(list, func(s string) bool { return utf8.RuneCountInString(s) > maxText }) {
			errs = append(errs, fmt.Errorf("write at most %d %s of at most %d characters each", maxList, name, maxText))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// checkID checks the ID and the status of step i.
func (p *Plan) checkID(i int) (problems []string) {
	s := &p.Steps[i]
	if idNumber(s.ID) == 0 {
		problems = append(problems, fmt.Sprintf("the id %q is not of the form s1", llm.Excerpt(s.ID, 40)))
	}
	for j := range i {
		if p.Steps[j].ID == s.ID {
			problems = append(problems, fmt.Sprintf("its id %q is that of step %d too; give it another", s.ID, j+1))
			break
		}
	}
	if !slices.Contains([]Status{Pending, Running, Completed, Passed, Skipped, Failed, Blocked}, s.Status) {
		problems = append(problems, fmt.Sprintf("the status %q is not one of pending, running, completed, passed, skipped, failed, blocked", llm.Excerpt(string(s.Status), 40)))
	}
	return problems
}

// checkExecutor checks who does a step, and with what.
func (s *Step) checkExecutor(c Catalog) (problems []string) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	switch s.Executor {
	case GUI, "":
		if !c.Screen {
			add("there is no screen to do it on; write a step of a tool, an agent or self")
		}
		if s.Action != "" || s.Parameters != "" {
			add("a step on the screen has no action and no parameters; what to do is decided there")
		}
		problems = append(problems, s.checkGoal()...)
		return append(problems, s.checkPredicate()...)
	case Tool:
		problems = append(problems, s.checkTool(c)...)
	case Agent:
		if names := c.names(Agent); !slices.Contains(names, s.Action) {
			add("there is no agent %q; %s", llm.Excerpt(s.Action, 60), instead(s.Action, names))
		}
		if part := bundled(s.Goal); part != "" {
			add("an agent does one thing, and this says more (%q); make it a step for each", llm.Excerpt(part, 60))
		}
	case Self:
		if s.Action != "" || s.Parameters != "" {
			add("a step of the model alone calls nothing; leave action and parameters empty, or make it a step of the tool")
		}
		for _, name := range c.names(Tool) {
			if strings.Contains(name, "_") && slices.Contains(strings.FieldsFunc(s.Goal, func(r rune) bool { return r != '_' && r != '-' && !isWordRune(r) }), name) {
				add("it names the tool %s, so it is not of the model alone; make it a step of that tool", name)
			}
		}
	default:
		add("the executor %q is not one of gui, tool, agent, self", llm.Excerpt(string(s.Executor), 40))
	}
	if s.Predicate != nil {
		add("a predicate is about the screen, and this step is not on it; say in done_when what its result has")
	}
	return problems
}

// checkTool checks the call of a tool.
func (s *Step) checkTool(c Catalog) (problems []string) {
	t := c.tool(s.Action)
	if t == nil {
		return []string{fmt.Sprintf("there is no tool %q; %s", llm.Excerpt(s.Action, 60), instead(s.Action, c.names(Tool)))}
	}
	if s.Fallback != "" && c.tool(s.Fallback) != nil && s.Parameters != "" {
		if err := fitting(c.tool(s.Fallback), s.Parameters); err != nil {
			problems = append(problems, fmt.Sprintf("its parameters do not fit the fallback %s: %v; say the other way in words", s.Fallback, err))
		}
	}
	if s.Parameters == "" {
		return problems
	}
	if err := fitting(t, s.Parameters); err != nil {
		problems = append(problems, fmt.Sprintf("the parameters do not fit the tool %s: %v; write a JSON object of its schema, or nothing if they are found out when the step begins", s.Action, err))
	}
	return problems
}

// fitting returns why parameters are not those of a tool.
func fitting(t *llm.Tool, parameters string) error {
	if len(parameters) > maxParameters {
		return fmt.Errorf("they have %d bytes, and may have %d", len(parameters), maxParameters)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(parameters), &object); err != nil || object == nil {
		return errors.New("they are no JSON object")
	}
	schema := llm.Schema{Name: t.Name, JSON: t.Parameters}
	if err := schema.Validate([]byte(parameters)); err != nil {
		return errors.New(llm.OneLine(err.Error()))
	}
	return nil
}

// instead says what could be written for a name that is none.
func instead(name string, names []string) string {
	switch near := spell.Nearest(name, names, 1); {
	case len(names) == 0:
		return "there is none; write a step on the screen, or of the model alone"
	case len(near) > 0:
		return fmt.Sprintf("write %s, or another of %s", near[0], llm.Excerpt(strings.Join(names, ", "), 400))
	}
	return "write one of " + llm.Excerpt(strings.Join(names, ", "), 400)
}

// checkPlanned checks the words of a step, whoever does it.
func (s *Step) checkPlanned() (problems []string) {
	onScreen := s.Executor == GUI || s.Executor == ""
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if onScreen {
		problems = append(problems, s.checkDoneWhen()...)
	} else {
		if wrong := checkLine("the goal", s.Goal, maxStepGoal, "say what is reached"); wrong != "" {
			add("%s", wrong)
		} else if code(s.Goal) {
			add("the goal has code in it; say what is reached, and leave how to whoever does it")
		}
		if wrong := checkLine("done_when", s.DoneWhen, maxDoneWhen, "say what its result has, so that it can be checked"); wrong != "" {
			add("%s", wrong)
		} else if vague(s.DoneWhen) {
			add("done_when %q says nothing that can be checked; say what its result has", s.DoneWhen)
		}
	}
	if sweeping(s.Goal) {
		add("the goal %q is vague; name the thing it is about, or split it into steps that can be checked", llm.Excerpt(s.Goal, 80))
	}
	if s.Fallback != cleanLine(s.Fallback) || utf8.RuneCountInString(s.Fallback) > maxStepGoal {
		add("the fallback must be one plain line of at most %d characters", maxStepGoal)
	}
	if s.Tokens < 0 || s.Tokens > maxEstimate {
		add("the estimate of %d tokens is none; write 0 where you do not know", s.Tokens)
	}
	return problems
}

// checkLine returns what is wrong with a text that must be there, one plain line, and no
// longer than most characters.
func checkLine(name, text string, most int, instead string) string {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return fmt.Sprintf("%s is empty; %s", name, instead)
	case n > most:
		return fmt.Sprintf("shorten %s to %d characters; it has %d", name, most, n)
	case text != cleanLine(text):
		return name + " must be one plain line"
	}
	return ""
}

// checkOrder checks that a step which follows others says what it needs, and what if it
// fails.
func (s *Step) checkOrder(follows bool, config Config) (problems []string) {
	if !config.FreeOrder && follows && len(s.Needs) == 0 && !s.Parallel {
		problems = append(problems, "it does not say what it needs; write the ids of the steps that must be done before, or parallel = true if it needs none")
	}
	if config.NeedFallbacks && s.Executor != Self && s.Fallback == "" {
		problems = append(problems, "it has no fallback; say what to try when it fails")
	}
	return problems
}

// code reports whether a text has what only programs have.
func code(s string) bool {
	return strings.Contains(s, "```") || strings.Contains(s, "#!/") || strings.Contains(s, "@@ -") || strings.Contains(s, "();") || strings.Contains(s, "{\"")
}

var (
	// efforts are verbs that say nothing of what they are done to.
	efforts = wordSet(`do make fix implement research analyze analyse handle process perform execute complete finish solve
		resolve address improve update change check verify test review investigate explore find discover locate
		navigate write build create prepare work start continue try ensure apply add get set up run
		fixing implementing researching analyzing handling processing performing`)
	// anything are nouns that name everything, and so nothing.
	anything = wordSet(`everything anything things thing stuff all any every whole entire complete full rest other
		others remaining needed necessary required relevant appropriate proper properly correctly changes change issues issue
		problems problem bugs bug errors error tasks task steps step work job project code system etc
		it them this that what which is are be as well also and or then to the a an of in on for with from by
		goal plan request requirements requirement user way`)
)

// sweeping reports whether a goal consists of words that fit every task.
func sweeping(goal string) bool {
	words := wordsOf(goal)
	for _, w := range words {
		if !efforts[w] && !anything[w] && !emptyWords[w] {
			return false
		}
	}
	return len(words) > 0
}

// bundled returns the part of an agent's goal with which a second thing begins; "" if it
// has one. "Audit the keys and the users" is one, "Audit the keys and write a report" is
// two, and so is a list with commas.
func bundled(goal string) string {
	plain := unnamed(goal)
	if parts := strings.Split(plain, ","); len(parts) > 2 {
		return strings.TrimSpace(strings.Join(parts[1:], ","))
	}
	words := strings.Fields(plain)
	for i := 1; i+1 < len(words); i++ {
		joint := strings.ToLower(strings.Trim(words[i], ",;."))
		if next := strings.ToLower(strings.Trim(words[i+1], ",;.")); (joint == "and" || joint == "then") && deeds[next] {
			return strings.Join(words[i:], " ")
		}
	}
	return ""
}

// deeds are verbs with which another thing to do begins.
var deeds = wordSet(`write create make build fix implement analyze analyse compare summarize summarise send publish
	deploy install configure update delete remove copy rename download upload save store collect prepare draft find
	verify then`)
