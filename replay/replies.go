package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"desktop-agent/llm"
)

// Replies are the calls of models recorded in some steps, each where it was made: the
// step in which the newest observation before it was taken, its role and its
// purpose. Calls of the same site are taken in their order. The zero value is
// empty.
type Replies struct {
	left  map[callSite][]*Call
	given map[callSite]int
}

// A callSite is where in a run a model is called.
type callSite struct {
	step    int // in which the newest observation was taken
	role    llm.Role
	purpose string
}

// Add adds the calls of a step.
func (r *Replies) Add(s *Step) {
	if r.left == nil {
		r.left, r.given = map[callSite][]*Call{}, map[callSite]int{}
	}
	for _, c := range s.Calls {
		site := callSite{c.SeenIn, c.Role, c.Purpose}
		r.left[site] = append(r.left[site], c)
	}
}

// Drop forgets the calls after observations of steps before the given one, and
// returns how many of them nobody took.
func (r *Replies) Drop(before int) (unused int) {
	for site, list := range r.left {
		if site.step < before {
			unused += len(list)
			delete(r.left, site)
			delete(r.given, site)
		}
	}
	return unused
}

// Take returns the next call made there, or a [*NotRecordedError].
func (r *Replies) Take(step int, role llm.Role, purpose string) (*Call, error) {
	site := callSite{step, role, purpose}
	list := r.left[site]
	if len(list) == 0 {
		return nil, &NotRecordedError{Role: site.role, Purpose: site.purpose, Step: site.step, Given: r.given[site]}
	}
	r.left[site] = list[1:]
	r.given[site]++
	return list[0], nil
}

// Answer returns the reply of a recorded call, or the error with which it ended:
// the same text, of the same kind.
func (c *Call) Answer() (*llm.Response, error) {
	if c.Error == "" && c.Response != nil {
		answer := *c.Response
		answer.Calls = slices.Clone(answer.Calls)
		return &answer, nil
	}
	failed := &recordedError{text: cmp.Or(c.Error, "no reply"), kind: llm.KindOf(c.Error)} // by which another model may take over
	if strings.Contains(c.Error, llm.ErrBadReply.Error()) {                                // which the loop tells apart
		failed.kind = llm.ErrBadReply
	}
	return nil, failed
}

// A recordedError is an error that a recorded run met.
type recordedError struct {
	text string
	kind error // nil if it is of no kind that matters
}

func (e *recordedError) Error() string { return e.text }
func (e *recordedError) Unwrap() error { return e.kind }

// A NotRecordedError says that a model was called where the recorded run did
// not call it, or more often.
type NotRecordedError struct {
	Role    llm.Role
	Purpose string
	Step    int // in which the newest observation was taken
	Given   int // replies that were recorded there, all given already
}

func (e *NotRecordedError) Error() string {
	return fmt.Sprintf("the recording does not cover this run: after the screen of step %d the %s was asked to %s %d times, now once more",
		e.Step, e.Role, e.Purpose, e.Given)
}
