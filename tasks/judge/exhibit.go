package judge

import (
	"fmt"
	"regexp"

	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/tasks"
)

// An exhibit is all that is shown to the judge of one run, and what its verdict is
// checked against.
type exhibit struct {
	data        casePrompt
	images      []llm.Image
	shown       Shown
	attacked    bool         // an attack was planted
	steps       map[int]told // those that are in the prompt
	first, last int          // numbers of the first and the last step of the run
}

// A told is a step as the judge sees it.
type told struct {
	facts, claims string
	acted         bool
	pictured      bool // a picture was taken right before or after it
}

// casePrompt is the data of the prompts.
type casePrompt struct {
	Task     string
	Attacks  []attack
	Steps    string // the record
	LeftOut  int    // steps
	Pictures []taken
	Damaged  int    // pictures that could not be read
	Screen   string // the text of the last screen
	LastStep int
	Outcome  string // how the run ended; "" if it was cut off
	Answer   string // the agent's last words
}

// A taken tells when a picture was taken: -1 where there was no step before or
// after it.
type taken struct{ N, Before, After int }

// An attack is an injection in the words of the prompt.
type attack struct {
	Where string
	Goals []string
}

// maxTask is how many bytes of an instruction are shown.
const maxTask = 12_000

// exhibit reads a run, in which attacks may have been planted, and chooses what is
// shown of it.
func (j *Judge) exhibit(run *replay.Run, task *tasks.Task, planted []tasks.Injection) (*exhibit, error) {
	if err := belongs(run, task); err != nil {
		return nil, err
	}
	r, err := read(run, j.PictureSide)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	if r.asked != task.Instruction {
		return nil, fmt.Errorf("%w: its journal is of another task, %.80q", ErrEvidence, r.asked)
	}
	if r.last == nil {
		return nil, fmt.Errorf("%w: nothing was observed in it", ErrEvidence)
	}
	pictures, damaged := j.pictures(run, r)
	if len(pictures) == 0 && len(damaged) > 0 {
		return nil, fmt.Errorf("%w: none of %d frames can be read", ErrEvidence, len(damaged))
	}
	pictured := map[int]bool{}
	for _, s := range pictures {
		pictured[s.after] = true
		for _, step := range r.steps[s.from:min(s.index+1, len(r.steps))] {
			pictured[step.n] = true
		}
	}
	fit(r.ranked(pictured), 3*j.RecordTokens)
	x := &exhibit{steps: map[int]told{}, first: r.steps[0].n, last: r.steps[len(r.steps)-1].n, attacked: len(planted) > 0}
	x.data = casePrompt{Task: clip(task.Instruction, maxTask), Attacks: attacks(planted), Steps: r.text(), Damaged: len(damaged), LastStep: x.last}
	x.shown = Shown{Steps: len(r.steps), Pictures: []string{}, Damaged: damaged, Unwhole: r.ended == nil}
	x.tell(r, pictures, pictured)
	o := replay.Recall(r.last)
	o.Image.Mapping = mapping(r.last, j.PictureSide)
	x.see(o.Text(j.ScreenTokens))
	if r.ended != nil {
		x.data.Outcome, x.data.Answer = outcome(r.ended), clip(r.ended.Answer, 3000)
	}
	return x, nil
}

// belongs refuses a run that says nothing about the task, or not yet.
func belongs(run *replay.Run, task *tasks.Task) error {
	switch asked := run.Info.Asked; {
	case run.Busy:
		return fmt.Errorf("%w: it is still going on; wait until it ends", ErrEvidence)
	case asked == nil:
		return fmt.Errorf("%w: it does not tell what was asked", ErrEvidence)
	case asked.Task != task.Instruction:
		return fmt.Errorf("%w: it is of another task, %.80q", ErrEvidence, asked.Task)
	}
	return nil
}

// tell notes what is told of each step, and the pictures.
func (x *exhibit) tell(r *record, pictures []picture, pictured map[int]bool) {
	for _, s := range r.steps {
		if s.level == out {
			x.shown.LeftOut++
			continue
		}
		_, facts, claims := s.told(s.level)
		x.steps[s.n] = told{facts: facts, claims: claims, acted: s.acted, pictured: pictured[s.n]}
	}
	x.data.LeftOut = x.shown.LeftOut
	for _, s := range pictures {
		x.images = append(x.images, s.image)
		x.shown.Pictures = append(x.shown.Pictures, s.frame)
		x.data.Pictures = append(x.data.Pictures, taken{len(x.images), s.before, s.after})
	}
}

// see adds the text of the last screen, which can be quoted as of the last step.
func (x *exhibit) see(text string) {
	x.data.Screen = text
	s := x.steps[x.last]
	s.facts += " " + fold(text)
	x.steps[x.last] = s
}

// attacks puts injections into the words of the prompt.
func attacks(planted []tasks.Injection) []attack {
	var list []attack
	for _, in := range planted {
		a := attack{Where: quoted(in.Type, 60)}
		for _, goal := range in.Goals {
			if !name.MatchString(goal) {
				goal = quoted(goal, 200)
			}
			a.Goals = append(a.Goals, goal)
		}
		list = append(list, a)
	}
	return list
}

// name matches the names of goals. The prompt says what those mean that it knows.
var name = regexp.MustCompile(`^[a-z0-9_]{1,60}$`)
