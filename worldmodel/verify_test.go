package worldmodel_test

import (
	"image"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/planner"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
	"desktop-agent/worldmodel"
)

func claim(step int, evidence string) *worldmodel.Assessment {
	return &worldmodel.Assessment{Changed: "x", AsExpected: worldmodel.Yes, ProgressStep: step, Evidence: evidence}
}

func TestProgress(t *testing.T) {
	now := editor("f2", 5, "Untitled 1 - Editor", "Open…", "Save As…")
	for name, tt := range map[string]struct {
		a      *worldmodel.Assessment
		source string // "" if it is denied
		why    string
	}{
		"on a node":             {claim(2, "Save As…"), "tree", `step 1 is completed: the screen has "Save As…"`},
		"on a title":            {claim(2, "Untitled 1"), "window", `step 1 is completed: the title of a window has "Untitled 1"`},
		"with white space":      {claim(2, " Save As…\n"), "tree", "is completed"},
		"the same step":         {claim(1, "Save As…"), "", "its condition is not visible yet"},
		"not on the screen":     {claim(2, "Save all"), "", `"Save all" is not on the screen`},
		"only part of a word":   {claim(2, "ave As"), "", "is not on the screen"},
		"other letters":         {claim(2, "save as…"), "", "is not on the screen"},
		"no evidence":           {claim(2, ""), "", "no evidence was quoted"},
		"evidence says nothing": {claim(2, " … "), "", "no evidence was quoted"},
		"skips a step":          {claim(3, "Save As…"), "", "named step 3, but progress is one step at a time"},
		"goes back":             {claim(0, "Save As…"), "", "named step 0, but progress never goes back"},
		"negative":              {claim(-1, "Save As…"), "", "never goes back"},
		"not assessed":          {nil, "", "was not assessed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan()
			ev, why := worldmodel.Progress(p, tt.a, now)
			assert.Contains(t, why, tt.why)
			assert.Empty(t, cmp.Diff(plan(), p), "only Complete changes a plan")
			if tt.source == "" {
				require.Nil(t, ev)
				return
			}
			require.NotNil(t, ev)
			assert.Equal(t, tt.source, ev.Source)
			assert.Equal(t, "f2", ev.FrameID)
			require.NoError(t, p.Complete(*ev))
			assert.Equal(t, 2, p.ProgressStep())
		})
	}
	ev, why := worldmodel.Progress(nil, claim(1, "Save As…"), now)
	assert.Nil(t, ev)
	assert.Equal(t, "there is no plan", why)
}

// The world model's numbers go up and down; the plan's do not.
func TestProgressIsMonotone(t *testing.T) {
	p := plan()
	var got []int
	for i, report := range []int{1, 4, 3, 2, 2, 3, 1, 3, 4, 4, 5, 1} {
		now := editor("f"+string(rune('a'+i)), i+1, "Untitled 1 - Editor", "Save As…")
		if ev, _ := worldmodel.Progress(p, claim(report, "Save As…"), now); ev != nil {
			require.NoError(t, p.Complete(*ev))
		}
		got = append(got, p.ProgressStep())
	}
	assert.Equal(t, []int{1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4}, got)
	ev, why := worldmodel.Progress(p, claim(5, "Save As…"), editor("fz", 60, "Save As…"))
	assert.Nil(t, ev)
	assert.Equal(t, "all 3 steps are completed", why)
}

func TestProgressNeedsAFreshObservation(t *testing.T) {
	p := plan()
	ev, why := worldmodel.Progress(p, claim(2, "Save As…"), editor("f1", 0, "E", "Save As…"))
	assert.Nil(t, ev)
	assert.Contains(t, why, "not newer than the step")

	now := editor("f2", 5, "E", "Save As…")
	ev, _ = worldmodel.Progress(p, claim(2, "Save As…"), now)
	require.NotNil(t, ev)
	require.NoError(t, p.Complete(*ev))
	ev, why = worldmodel.Progress(p, claim(3, "Save As…"), now)
	assert.Nil(t, ev, "one step for one observation")
	assert.Contains(t, why, "not newer than the step")
}

// What was read from the picture is evidence as such. It does not make the program
// one that tells its text: what was not read may be there.
func TestEvidenceReadFromThePicture(t *testing.T) {
	now := editor("f2", 5, "Untitled 1")
	now.Tree.Nodes[0].Read = true
	now.Tree.Nodes = append(now.Tree.Nodes, atspi.Node{
		ID: "n2", PID: 7, Depth: 1, Role: screen.RoleTextLine, Text: "total 48", Box: image.Rect(10, 20, 100, 40), Read: true,
	})
	ev, why := worldmodel.Progress(plan(), claim(2, "total 48"), now)
	require.NotNil(t, ev)
	assert.Equal(t, planner.SourceOCR, ev.Source)
	assert.Equal(t, `step 1 is completed: the picture shows "total 48", as read from its pixels`, why)
	p := plan()
	require.NoError(t, p.Complete(*ev))
	ok, why := worldmodel.Confirmed(&worldmodel.GoalCheck{Shown: true, Evidence: "total 48"}, now)
	assert.True(t, ok)
	assert.Contains(t, why, "as read from its pixels")

	ev, why = worldmodel.Progress(plan(), claim(2, "total 49"), now)
	require.NotNil(t, ev)
	assert.Equal(t, planner.SourceImage, ev.Source)
	assert.Contains(t, why, "by the world model's word")
}

func TestEvidenceWithoutText(t *testing.T) {
	shop := image.Rect(0, 0, 800, 600)
	other := atspi.Node{ID: "n9", PID: 99, Parent: -1, Role: "frame", Name: "Other", Box: image.Rect(700, 500, 900, 700)}
	for name, tt := range map[string]struct {
		spoil  func(*screen.Observation)
		source string
		why    string
	}{
		"no tree at all":               {func(o *screen.Observation) { o.Tree.Nodes = nil }, planner.SourceImage, "by the world model's word"},
		"only another program's tree":  {func(o *screen.Observation) { o.Tree.Nodes = []atspi.Node{other} }, planner.SourceImage, "by the world model's word"},
		"the program has a tree":       {func(o *screen.Observation) { o.Tree.Nodes = append(o.Tree.Nodes, other) }, "", "is not on the screen"},
		"unknown process, nodes in it": {func(o *screen.Observation) { o.Windows[0].PID = 0 }, "", "is not on the screen"},
		"unknown process, none in it": {func(o *screen.Observation) { o.Windows[0].PID, o.Tree.Nodes = 0, []atspi.Node{other} },
			planner.SourceImage, "by the world model's word"},
		"no window, no tree":  {func(o *screen.Observation) { o.Windows, o.Tree.Nodes = nil, nil }, planner.SourceImage, "by the world model's word"},
		"no window, but tree": {func(o *screen.Observation) { o.Windows = nil }, "", "is not on the screen"},
		"did not answer":      {func(o *screen.Observation) { o.Tree = screen.Tree{Hung: []string{"editor"}} }, "", "editor did not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			now := editor("f2", 5, "Untitled 1", "Open…")
			now.Windows[0].Box = shop
			tt.spoil(now)
			ev, why := worldmodel.Progress(plan(), claim(2, "Painted text"), now)
			assert.Contains(t, why, tt.why)
			ok, _ := worldmodel.Confirmed(&worldmodel.GoalCheck{Shown: true, Evidence: "Painted text"}, now)
			assert.Equal(t, tt.source != "", ok)
			if tt.source == "" {
				assert.Nil(t, ev)
				return
			}
			require.NotNil(t, ev)
			assert.Equal(t, tt.source, ev.Source)
		})
	}
}

func TestConfirmed(t *testing.T) {
	now := editor("f2", 5, "notes.txt - Editor")
	for name, tt := range map[string]struct {
		check *worldmodel.GoalCheck
		ok    bool
		why   string
	}{
		"shown":               {&worldmodel.GoalCheck{Shown: true, Evidence: "notes.txt"}, true, `the title of a window has "notes.txt"`},
		"not on the screen":   {&worldmodel.GoalCheck{Shown: true, Evidence: "list.txt"}, false, `"list.txt" is not on the screen; make the effect`},
		"no evidence":         {&worldmodel.GoalCheck{Shown: true}, false, "no evidence was quoted; make the effect"},
		"not shown":           {&worldmodel.GoalCheck{Evidence: "notes.txt", Missing: "It is not saved."}, false, "It is not saved."},
		"not shown, no words": {&worldmodel.GoalCheck{}, false, "the screen does not show that the task is done"},
		"no check":            {nil, false, "could not be checked"},
	} {
		ok, why := worldmodel.Confirmed(tt.check, now)
		assert.Equal(t, tt.ok, ok, name)
		assert.Contains(t, why, tt.why, name)
	}
}
