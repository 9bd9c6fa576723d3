package offline

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"desktop-agent/llm"
	"desktop-agent/replay"
	"desktop-agent/run"
)

// A story is what must be known of a whole recording before it is gone on with.
type story struct {
	started *run.RunStarted
	limits  map[int]run.Limits // from a step on, where the run was taken up again
	news    map[string]string  // what the actor was told before a frame
	stale   map[string]bool    // frames that nobody acted on: taken while it was not known what came of an action
	spent   []spending

	rehearsed bool // what came of rehearsals is known
}

// A spending is what models had cost at a time.
type spending struct {
	at time.Time
	llm.Spent
}

// spentBefore is what was used at a time.
func (s *story) spentBefore(at time.Time) llm.Spent {
	i, _ := slices.BinarySearchFunc(s.spent, at, func(p spending, at time.Time) int { return cmp.Compare(p.at.UnixNano(), at.UnixNano()) })
	if i == 0 {
		return llm.Spent{}
	}
	used := s.spent[i-1].Spent
	used.Time += max(0, at.Sub(s.spent[i-1].at))
	return used
}

// survey reads a recording once, for how far it has come.
func survey(stored *replay.Run) (*run.Sofar, *story, error) {
	so, st := &run.Sofar{Left: map[llm.Role]int{}}, &story{limits: map[int]run.Limits{}, news: map[string]string{}, stale: map[string]bool{}}
	var turns run.Turns
	var worked run.Worked
	var open []*run.Deed // begun, and not known to have ended
	var since []string   // frames since the first of these
	var told string      // what the actor is told before the next frame
	step := -1
	for e, err := range stored.Events() {
		if err != nil {
			return nil, nil, err
		}
		if e.Step != step {
			step, open, since = e.Step, nil, nil
		}
		part := turns.Add(e)
		worked.Add(e)
		so.Resumed.From, so.Time, so.At, so.Turns = e.Seq, worked.Time, worked.At, worked.Steps
		switch data := e.Data.(type) {
		case run.RunStarted:
			st.started = &data
		case run.ModelCalled:
			so.Spent = so.Spent.Plus(data.Spent())
			if st.started != nil {
				so.Left[data.Role] = max(so.Left[data.Role], st.started.Settings.Models.Roles[data.Role].Left(data.Model, llm.KindOf(data.Error)))
			}
		case run.Reviewed:
			if data.Overridden {
				so.Overridden++
			}
		case run.Rehearsed:
			st.rehearsed = true
		case run.TaskJudged:
			so.Judged = &data
		case run.Acting:
			open = append(open, part.Deed)
		case run.Acted:
			if open = slices.DeleteFunc(open, func(d *run.Deed) bool { return d.Acted != nil }); len(open) == 0 {
				since = nil
			}
		case run.Observed:
			if n := numberOf(data.FrameID, "f"); n > 0 { // others are of displays that are gone
				so.Last, so.Frames = &data, max(so.Frames, n)
			}
			for _, n := range data.Targets {
				so.Elements = max(so.Elements, numberOf(n.ID, "n"))
			}
			if len(open) > 0 {
				since = append(since, data.FrameID)
			} else {
				since = nil
			}
			if told != "" {
				st.news[data.FrameID], told = told, ""
			}
		case run.Resumed:
			for _, id := range since {
				st.stale[id] = true
			}
			since, told = nil, resumedWords(data)
			st.limits[e.Step] = data.Limits
		}
		st.spent = append(st.spent, spending{e.Time, so.Spent})
	}
	for _, id := range since {
		st.stale[id] = true
	}
	for _, d := range open {
		so.Resumed.Doubt = append(so.Resumed.Doubt, run.Doubted{Step: d.Step, Index: d.Index, Action: d.Action})
	}
	if st.started == nil {
		return nil, nil, fmt.Errorf("its journal does not tell what was asked: do the task anew")
	}
	files, err := os.ReadDir(filepath.Join(stored.Dir, "frames"))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files { // also of those that no event tells
		so.Frames = max(so.Frames, numberOf(f.Name(), "f"))
		so.Displays = max(so.Displays, numberOf(f.Name(), "d")-1)
	}
	return so, st, nil
}
