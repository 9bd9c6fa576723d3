package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/planner"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/screen"
	"desktop-agent/worldmodel"
)

// TestAPredicateIsReadOnItsFrame holds that a step whose predicate holds is completed
// before the actor is asked, without a word of the world model.
func TestAPredicateIsReadOnItsFrame(t *testing.T) {
	d := &runtest.Desktop{Views: browser, At: "start", React: func(string, actuator.Action) (string, error) { return "dialog", nil }}
	a, script, journal := newAgent(t, d, code("pyautogui.press('a')"), code("FAIL: enough"))
	plan := favorites(t)
	plan.Steps[2].Predicate = &planner.Predicate{Kind: planner.TitleIs, Value: "New folder"}
	a.Planner = &fakePlanner{plan: plan}
	a.World = &fakeWorld{assess: func(context.Context, worldmodel.AssessRequest) (*worldmodel.Assessment, error) {
		return nil, errors.New("the endpoint is down")
	}}
	_, err := a.Run(t.Context(), "task")
	require.NoError(t, err)
	assert.Contains(t, planOf(t, script.asked[1]), "**Progress Step:** 4")
	proved := all[run.Progressed](journal)
	require.Len(t, proved, 1)
	assert.Equal(t, []string{`step 3 is completed (proved): a window is titled "New folder"`}, proved[0].Why)
	assert.Equal(t, planner.Passed, proved[0].Plan.Steps[0].Status)
}

// TestInfeasibleIsLookedAt holds that a reason which was not looked at is answered once,
// and stands the second time; that a refusal is not argued with; and that a reason which
// nobody could check stands.
func TestInfeasibleIsLookedAt(t *testing.T) {
	look := &worldmodel.GoalCheck{Missing: "The settings were not opened. Look at their page for sound."}
	for name, tt := range map[string]struct {
		reasons []string
		doubts  int
		check   *worldmodel.GoalCheck
		err     error
		turns   int // of the actor
		checks  int
	}{
		"never looked at":    {[]string{"FAIL: there is no sound card", "FAIL: there is none"}, 1, look, nil, 2, 1},
		"looked at":          {[]string{"FAIL: there is no sound card"}, 1, &worldmodel.GoalCheck{Shown: true, Evidence: "No sound card"}, nil, 1, 1},
		"nothing to look at": {[]string{"FAIL: there is no sound card"}, 1, &worldmodel.GoalCheck{}, nil, 1, 1},
		"a refusal":          {[]string{"FAIL: I must not send this: it would harm the user"}, 1, look, nil, 1, 0},
		"nobody can check":   {[]string{"FAIL: there is no sound card"}, 1, nil, errors.New("503"), 1, 1},
		"no checks wanted":   {[]string{"FAIL: there is no sound card"}, 0, look, nil, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var replies []string
			for _, reason := range tt.reasons {
				replies = append(replies, code(reason))
			}
			a, script, journal := newAgent(t, &runtest.Desktop{}, replies...)
			a.MaxDoubts = tt.doubts
			asked := 0
			a.World = &fakeWorld{goal: func(r worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
				asked++
				assert.True(t, r.Cannot)
				assert.Contains(t, r.Claim, "sound card")
				return tt.check, tt.err
			}}
			result, err := a.Run(t.Context(), "Turn the sound down")
			require.NoError(t, err)
			assert.Equal(t, run.OutcomeInfeasible, result.Outcome)
			assert.Len(t, script.asked, tt.turns)
			assert.Equal(t, tt.checks, asked)
			for _, check := range all[run.GoalChecked](journal) {
				assert.True(t, check.Cannot)
				assert.Equal(t, tt.turns == 1, check.Accepted)
			}
			if tt.turns == 2 {
				assert.Contains(t, text(script.asked[1]), "not believed yet. Look at this once")
				assert.Contains(t, text(script.asked[1]), "Look at their page for sound.")
			}
		})
	}
}

// A filed is a fake home: it has the files of a list.
type filed struct{ list []planner.File }

func (f *filed) Files(context.Context, []string, time.Time) ([]planner.File, error) {
	return f.list, nil
}

// clocked gives the frames of a fake desktop times, a second apart.
type clocked struct {
	*runtest.Desktop
	at time.Time
}

func (c *clocked) Observe(ctx context.Context) (*screen.Observation, error) {
	o, err := c.Desktop.Observe(ctx)
	if err == nil {
		c.at = c.at.Add(time.Second)
		o.At = c.at
	}
	return o, err
}

// TestGoalCheckKnowsWhatWasDone holds that the check reads edits and savings in their
// order, what was sent, which files were written when, and what the actor thought; and
// that what was typed is not told twice.
func TestGoalCheckKnowsWhatWasDone(t *testing.T) {
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	views := map[string]runtest.View{"a": {Title: "Letter", Texts: []string{"Send now", "Save", "Save As…", "Speichern", "Send to Back", "Zellen verbinden"}},
		"save": {Title: "Save As", Texts: []string{"Create Folder", "Replace"}}}
	const send, save, saveAs = "pyautogui.click(20, 15)", "pyautogui.click(20, 35)", "pyautogui.click(20, 55)"
	const merge = "pyautogui.click(20, 115)"
	const folder, replace = send, save // of the dialog
	const speichern, toBack = "pyautogui.click(20, 75)", "pyautogui.click(20, 95)"
	write, keys := "pyautogui.write('secret words')", "pyautogui.hotkey('ctrl', 's')"
	for name, tt := range map[string]struct {
		blocks []string
		files  []planner.File
		want   []string // begins of the lines
	}{
		"saved after the edit":    {[]string{write, keys}, nil, []string{"Last edit in step 1 (type 12 characters), last saved in step 2 (press Ctrl+S): saved since."}},
		"edited after the saving": {[]string{write, keys, write}, nil, []string{"Last edit in step 3 (type 12 characters), last saved in step 2 (press Ctrl+S): not saved since."}},
		"by a button":             {[]string{write, save}, nil, []string{"Last edit in step 1 (type 12 characters), last saved in step 2 (click left"}},
		"in another language":     {[]string{write, speichern}, nil, []string{"Last edit in step 1 (type 12 characters), last saved in step 2 (click left"}},
		"a word that misleads":    {[]string{toBack}, nil, nil},
		"a word of two meanings":  {[]string{merge}, nil, []string{"Last edit in step 1 (click left at (20, 115) on label \"Zellen verbinden\"); nothing was saved."}},
		"a dialog that saves":     {[]string{replace}, nil, []string{"Last saved in step 1 (click left"}},
		"a folder in it":          {[]string{folder}, nil, nil},
		"a dialog is no saving":   {[]string{write, saveAs}, nil, []string{"Last edit in step 1 (type 12 characters); nothing was saved."}},
		"sent":                    {[]string{send}, nil, []string{"Sent, submitted or confirmed in step 1: click left"}},
		"nothing of the kind":     {[]string{"pyautogui.press('down')"}, nil, nil},
		"the file tells": {[]string{write, keys, write}, []planner.File{
			{Path: "new.txt", Size: 4, Modified: start.Add(time.Minute)}, {Path: "old.txt", Size: 3, Modified: start.Add(1500 * time.Millisecond)},
		}, []string{"Last edit in step 3", `File "new.txt" (4 bytes) was written after the last edit.`, `File "old.txt" (3 bytes) was written before the last edit.`}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &clocked{&runtest.Desktop{Views: views, At: "a"}, start}
			if strings.Contains(name, "a dialog that saves") || name == "a folder in it" {
				d.At = "save"
			}
			var replies []string
			for _, block := range tt.blocks {
				replies = append(replies, strings.Replace(code(block), "Thought: t", "Thought: I look at "+block[:9], 1))
			}
			a, _, journal := newAgent(t, d.Desktop, append(replies, code("DONE"))...)
			a.Desktop = d
			d.Desktop.React = func(string, actuator.Action) (string, error) { d.Tick++; return "", nil } // each has an effect
			if tt.files != nil {
				a.Home = &filed{tt.files}
			}
			var asked worldmodel.GoalRequest
			a.World = &fakeWorld{goal: func(r worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
				asked = r
				return &worldmodel.GoalCheck{Shown: true, Evidence: "Letter"}, nil
			}}
			_, err := a.Run(t.Context(), "task")
			require.NoError(t, err)
			require.Len(t, asked.Facts, len(tt.want), "%q", asked.Facts)
			for i, want := range tt.want {
				assert.True(t, strings.HasPrefix(asked.Facts[i], want), "%q", asked.Facts[i])
				assert.NotContains(t, asked.Facts[i], "secret")
			}
			assert.Len(t, asked.Thoughts, len(tt.blocks)+1)
			assert.Equal(t, "1. I look at pyautogui", asked.Thoughts[0])
			assert.Len(t, all[run.GoalChecked](journal), 1)
		})
	}
}

// TestGoalCheckSeesWhatWasLeft holds that the check knows the screen on which something was
// submitted and what came of it, though another is shown by now, and what completed the
// steps of the plan: so that nobody has to do it again to show it.
func TestGoalCheckSeesWhatWasLeft(t *testing.T) {
	views := map[string]runtest.View{
		"form": {Title: "Booking", Texts: []string{"Book now", "Two seats to Lyon"}},
		"done": {Title: "Booking", Texts: []string{"Booked: number 4711"}},
		"home": {Title: "Railway", Texts: []string{"Welcome"}},
	}
	d := &runtest.Desktop{Views: views, At: "form", React: func(at string, _ actuator.Action) (string, error) {
		return map[string]string{"form": "done", "done": "home"}[at], nil
	}}
	a, _, _ := newAgent(t, d, code("pyautogui.click(20, 15)"), code("pyautogui.press('f5')"), code("DONE"), code("DONE"))
	plan := &planner.Plan{Version: 1, Task: "Book", Steps: []planner.Step{
		{ID: "s1", Goal: "Find the booking", DoneWhen: "A number is shown", Status: planner.Pending},
		{ID: "s2", Goal: "Locate the first page", DoneWhen: "The list of bookings is shown", Status: planner.Pending},
	}}
	require.NoError(t, plan.Validate())
	a.Planner = &fakePlanner{plan: plan}
	var asked []worldmodel.GoalRequest
	world := seer("Booked: number 4711", "There is no such text")
	world.goal = func(r worldmodel.GoalRequest) (*worldmodel.GoalCheck, error) {
		asked = append(asked, r)
		return &worldmodel.GoalCheck{Shown: len(asked) == 2, Evidence: "Welcome", Missing: "Show it once more."}, nil
	}
	a.World = world
	result, err := a.Run(t.Context(), "Book two seats to Lyon")
	require.NoError(t, err)
	require.Equal(t, run.OutcomeDone, result.Outcome, result.Answer)
	require.Len(t, asked, 2)
	require.Len(t, asked[0].Moments, 1)
	moment := asked[0].Moments[0]
	assert.Equal(t, 1, moment.Step)
	assert.Contains(t, moment.Words, `"Book now"`)
	assert.Contains(t, moment.Screen.Text(0), "Two seats to Lyon")
	require.NotNil(t, moment.Came)
	assert.Contains(t, moment.Came.Text(0), "Booked: number 4711")
	assert.Nil(t, moment.Screen.Bare, "no pictures are kept")
	require.Len(t, asked[0].Seen, 1)
	assert.Contains(t, asked[0].Seen[0], `Step 1 of the plan (A number is shown): "Booked: number 4711" was there`)
	assert.Equal(t, []string{"Show it once more."}, asked[1].Refused)
}
