package report

import (
	"fmt"
	"html/template"
	"image"
	"strconv"
	"strings"
	"time"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/planner"
	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// A view is what the report shows of a run as a whole.
type view struct {
	Run     replay.Info
	Outcome string    // in words
	Person  bool      // somebody did it by hand: no model was asked
	Used    llm.Spent // by models, without the time
	Steps   []*entry  // the first may be the time before step 1, the last the end
	Counted int       // steps of the loop
	Spent   replay.Spent
	Longest time.Duration          // of a step
	Hits    worldmodel.Calibration // how often the actor's expectation came true
	Healed  int
	Cut     int64
	Broken  string       // why the events end early
	Chosen  int          // only so many steps have a picture; 0 if all have
	Words   int          // bytes of model text that a step may show
	Graph   *planHistory // of a deliberate plan; nil of other runs
	Gave    []string     // where a model did not answer and another took over, in words

	asked map[string]run.ModelCalled // the newest call of each role
}

// Took is how long programs worked on the run. Where several worked beside each other, that is less
// than what they spent.
func (v *view) Took() time.Duration {
	if v.Graph != nil {
		return v.Graph.Took()
	}
	return v.Spent.Total
}

// Cost is what the models cost, in words.
func (v *view) Cost() string {
	if v.Run.Unpriced(v.Used.Calls, v.Used.Dollars) {
		return "unknown"
	}
	return usd(v.Used.Dollars)
}

// An entry is what the lists tell of a step: little, as a run may have many.
type entry struct {
	N       int
	ID      string
	Label   string
	Words   string
	Mood    mood
	Spent   replay.Spent
	Calls   int
	Dollars float64
	Group   string // who did the steps from this one on, and for which step of the plan; "" if that was said
	Frame   string // ID of the frame that it shows; "" if none
	Picture bool   // the page holds that frame's picture

	did uint64 // equal for the same actions
}

// A stepView is one section of the report.
type stepView struct {
	N         int  // of the loop; 0 before the first
	End       bool // the screen at the end
	Shot      *frame
	Windows   []string
	Proposals []*proposalView // the last one stands
	Assessed  *run.Assessed
	Proved    []string // steps of the plan that their predicates completed, in words
	Plan      *planView
	Diverged  []run.Diverged
	Located   []run.Located // of no action of the proposal
	Answered  []run.Answered
	Noted     []run.Noted
	Goal      *run.GoalChecked
	Rehearsed []string // what came of rehearsals, in words
	Calls     []*callView
	Spent     replay.Spent

	Of     *group   // of a run with a deliberate plan; nil of others
	Opens  bool     // it is the first of its group
	Events []string // what became of steps of the plan, and what tools did, in words

	seen *run.Observed // what the shot shows
	id   string        // "" for that of its number
}

// Last returns the proposal that stands.
func (s *stepView) Last() *proposalView {
	if len(s.Proposals) == 0 {
		return nil
	}
	return s.Proposals[len(s.Proposals)-1]
}

// Earlier returns the proposals that were not performed.
func (s *stepView) Earlier() []*proposalView { return s.Proposals[:max(0, len(s.Proposals)-1)] }

// A frame is a screenshot, with what was done on it drawn over it.
type frame struct {
	FrameID string
	URL     template.URL // with the image itself; "" if it is missing
	Missing string       // why
	Size    image.Point
	Title   string // of the focused window
	Notes   []string
	Marks   []mark
}

// A proposalView is a proposal with its verdict and its results.
type proposalView struct {
	Thought string
	Expect  string
	Error   string
	Actions []*actionView
	Stopped string // why the rest of the batch was not performed

	Grounded []string // what was found for words by which it names something

	Checks  []string // what the model's provider had against it
	Refused bool     // that is because an action aims at what cannot be acted on
	Reviews []review
}

// A review is the verdict on a proposal.
type review struct{ run.Reviewed }

// Told reports whether the verdict is worth the room: a plain go is not.
func (r review) Told() bool {
	return r.Verdict != run.Go || r.Overridden || len(r.Signals) > 0 || r.Guidance != ""
}

// An actionView is one action with what became of it.
type actionView struct {
	Words   string
	Name    string // Words, with its targets by their names
	Text    string // what it types, where the words do not hold all of it
	Acting  bool   // it was about to be performed
	Param   *run.Param
	Located *run.Located // how a replay found its target again
	Guarded *run.Guarded // what the guard ruled, where it is worth telling
	Result  *run.Acted
	action  actuator.Action
}

// A planView is the plan as it stood at the end of a step.
type planView struct {
	*planner.Plan
	Now   int    // the step to work on, from 0; len(Steps) when all are final
	Fresh string // why it is shown new: "made", "revised", "advanced"; "" if it is as before
	Error string // why a plan could not be made or changed
}

// A callView is one call of a model.
type callView struct {
	run.ModelCalled
	At     time.Time
	Before int // the step of the call before with the same purpose
	// BeforeID is its section.
	BeforeID string
	Cut      string // says how much of its text was left out; "" if none
	// Untrusted names what it saw of the screen, of files and of tools, such as "screen".
	Untrusted []string
}

// ID names the section in the page.
func (s *stepView) ID() string {
	switch {
	case s.End:
		return "end"
	case s.id != "":
		return s.id
	}
	return fmt.Sprintf("step-%d", s.N)
}

// Label is what stands in the section's dot.
func (s *stepView) Label() string {
	switch {
	case s.End:
		return "■"
	case s.Of != nil:
		return s.Of.label(s.N)
	case s.N == 0:
		return "▶"
	}
	return strconv.Itoa(s.N)
}

// Words says in a line what the step did.
func (s *stepView) Words() string {
	p := s.Last()
	switch {
	case s.End:
		return "The screen at the end"
	case p == nil && len(s.Events) > 0:
		return s.Events[0]
	case p == nil && s.Of != nil && len(s.Calls) > 0:
		return "A model was asked: " + words(s.Calls[0].Purpose)
	case p == nil && s.N == 0:
		return "Before the first step"
	case p == nil && len(s.Diverged) > 0:
		return "The desktop is not as recorded"
	case p == nil:
		return "No proposal"
	case len(p.Actions) == 0:
		return "The reply was no action"
	}
	names := make([]string, len(p.Actions))
	for i, a := range p.Actions {
		names[i] = a.Name
	}
	return strings.Join(names, ", then ")
}

// entry returns what the lists tell of the step.
func (s *stepView) entry() *entry {
	e := &entry{N: s.N, ID: s.ID(), Label: s.Label(), Words: clip(s.Words(), 160), Mood: s.Mood(), Spent: s.Spent, Calls: len(s.Calls), did: did(s)}
	for _, c := range s.Calls {
		e.Dollars += c.Dollars
	}
	if s.Shot != nil {
		e.Frame = s.Shot.FrameID
	}
	if s.Opens {
		e.Group = s.Of.Words()
	}
	return e
}

// Special reports whether the action asks something of the agent, and so has no
// result of its own.
func (a *actionView) Special() bool { return actuator.ForAgent(a.action) }
