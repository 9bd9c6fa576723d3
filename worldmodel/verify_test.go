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

// field returns an element of a dialog that holds a text.
func field(role, text string, states ...string) atspi.Node {
	return atspi.Node{ID: "n20", App: "editor", PID: 7, Depth: 1, Role: role, Name: "Replace with", Text: text,
		States: states, Box: image.Rect(10, 300, 200, 320)}
}

// What is proved, read and claimed, and what is no evidence at all.
func TestProgress(t *testing.T) {
	began := editor("f1", 0, "notes - Editor", "Open…", "Print…")
	now := editor("f2", 5, "Save As", "Open…", "Save As…")
	now.Windows = append(now.Windows, screen.Window{ID: 2, Title: "*notes - Editor", PID: 7, Box: image.Rect(900, 0, 1000, 90)})
	now.Tree.Nodes = append(now.Tree.Nodes, field("entry", "Saturday", "editable"))
	now.Tree.Nodes = append(now.Tree.Nodes, atspi.Node{ID: "n21", PID: 7, Depth: 1, Role: "text line", Text: "total 48", Read: true,
		Box: image.Rect(10, 330, 200, 340)})
	toggle := func(name string, y int, states ...string) atspi.Node {
		return atspi.Node{ID: "n3" + name[:1], Key: name, App: "editor", PID: 7, Depth: 1, Role: "toggle button", Name: name, States: states, Box: image.Rect(10, y, 200, y+10)}
	}
	began.Tree.Nodes = append(began.Tree.Nodes, toggle("Freeze Rows", 360), toggle("Wrap Lines", 380, "checked"), toggle("Grid", 400, "checked"))
	now.Tree.Nodes = append(now.Tree.Nodes, toggle("Freeze Rows", 360, "checked"), toggle("Wrap Lines", 380), toggle("Grid", 400, "checked"))
	past := worldmodel.Past{Began: began, Typed: []string{"on Saturday"}}
	for name, tt := range map[string]struct {
		a     *worldmodel.Assessment
		past  worldmodel.Past
		grade planner.Grade // "" if it is denied
		step  int           // that is completed
		why   string
	}{
		"a new element":             {claim(2, "Save As…"), past, planner.Proved, 1, `step 1 is completed (proved): the screen has "Save As…"`},
		"with white space":          {claim(2, " Save As…\n"), past, planner.Proved, 1, "proved"},
		"a whole new title":         {claim(2, "Save As"), past, planner.Proved, 1, `(proved): the title of a window has "Save As"`},
		"a part of a title":         {claim(2, "notes"), past, planner.Claimed, 1, `only a part of the title "*notes - Editor"`},
		"what stood there":          {claim(2, "Open…"), past, planner.Claimed, 1, `the screen has "Open…", but it stood there from the start`},
		"what was switched on":      {claim(2, "Freeze Rows"), past, planner.Proved, 1, `(proved): the screen has "Freeze Rows", which was switched: it is checked now`},
		"what was switched off":     {claim(2, "Wrap Lines"), past, planner.Proved, 1, `which was switched: it is not checked now`},
		"what stays on":             {claim(2, "Grid"), past, planner.Claimed, 1, "it stood there from the start"},
		"what the agent typed":      {claim(2, "Saturday"), past, planner.Claimed, 1, "what the agent itself typed into that field"},
		"typed by somebody else":    {claim(2, "Saturday"), worldmodel.Past{Began: began}, planner.Proved, 1, "proved"},
		"nothing known of before":   {claim(2, "Save As…"), worldmodel.Past{}, planner.Claimed, 1, "what was there before is not known"},
		"read from the picture":     {claim(2, "total 48"), past, planner.Read, 1, `(read): the picture shows "total 48", as read from it`},
		"only the model sees it":    {claim(2, "Save all"), past, planner.Claimed, 1, `"Save all" is not in what the programs tell`},
		"only part of a word":       {claim(2, "ave As"), past, planner.Claimed, 1, "is not in what the programs tell"},
		"a later step, proved":      {claim(3, "Save As…"), past, planner.Proved, 2, "step 2 is completed (proved)"},
		"the last step, read":       {claim(4, "total 48"), past, planner.Read, 3, "step 3 is completed (read)"},
		"a later step, claimed":     {claim(3, "Open…"), past, "", 0, "one step at a time unless it is proved"},
		"the title says it has a *": {claim(2, "notes - Editor"), past, "", 0, `the title of the window is "*notes - Editor": its mark says`},
		"the same step":             {claim(1, "Save As…"), past, "", 0, "its condition is not visible yet"},
		"no evidence":               {claim(2, ""), past, "", 0, "no evidence was quoted"},
		"evidence says nothing":     {claim(2, " … "), past, "", 0, "no evidence was quoted"},
		"a step that is not there":  {claim(5, "Save As…"), past, "", 0, "named step 5 of 3"},
		"goes back":                 {claim(0, "Save As…"), past, "", 0, "named step 0, but progress never goes back"},
		"negative":                  {claim(-1, "Save As…"), past, "", 0, "never goes back"},
		"not assessed":              {nil, past, "", 0, "was not assessed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan()
			step, ev, why := worldmodel.Progress(p, tt.a, now, tt.past)
			assert.Contains(t, why, tt.why)
			assert.Empty(t, cmp.Diff(plan(), p), "only Reach changes a plan")
			if tt.grade == "" {
				require.Nil(t, ev)
				return
			}
			require.NotNil(t, ev)
			assert.Equal(t, tt.grade, ev.Grade)
			assert.Equal(t, tt.step, step)
			assert.Equal(t, "f2", ev.FrameID)
			require.NoError(t, p.Reach(step, *ev))
			assert.Equal(t, tt.step+1, p.ProgressStep())
			for _, s := range p.Steps[:step-1] {
				assert.Equal(t, planner.Passed, s.Status)
			}
		})
	}
	_, ev, why := worldmodel.Progress(nil, claim(1, "Save As…"), now, past)
	assert.Nil(t, ev)
	assert.Equal(t, "there is no plan", why)
}

// The same element under a new text is new; another element of its kind with the
// old text is not, where the program makes new objects for each look.
func TestWhatIsNew(t *testing.T) {
	label := func(key, name string, y int) *screen.Observation {
		o := editor("f", 5, "Editor")
		o.Tree.Nodes = append(o.Tree.Nodes, atspi.Node{PID: 7, Depth: 1, Role: "label", Name: name, Key: key, Box: image.Rect(0, y, 90, y+10)})
		return o
	}
	for name, tt := range map[string]struct {
		began, now *screen.Observation
		want       planner.Grade
	}{
		"the label changed":              {label("a", "3 files", 40), label("a", "4 files", 40), planner.Proved},
		"it says the same":               {label("a", "4 files", 40), label("a", "4 files", 40), planner.Claimed},
		"it moved":                       {label("a", "4 files", 40), label("a", "4 files", 80), planner.Claimed},
		"another label says it already":  {label("a", "4 files", 40), label("b", "4 files", 80), planner.Claimed},
		"new, and said so by no element": {editor("f", 0, "Editor"), label("b", "4 files", 80), planner.Proved},
	} {
		found, problem := worldmodel.Judge("4 files", tt.now, worldmodel.Past{Began: tt.began})
		assert.Empty(t, problem, name)
		assert.Equal(t, tt.want, found.Grade, name)
	}
}

// The world model's numbers go up and down; the plan's do not.
func TestProgressIsMonotone(t *testing.T) {
	p := plan()
	var got []int
	for i, report := range []int{1, 4, 3, 2, 2, 3, 1, 3, 4, 4, 5, 1} {
		quotes := []string{"Save As…", "Open…", "Close", "Quit"}
		now := editor("f"+string(rune('a'+i)), i+1, "Untitled 1 - Editor", quotes...)
		if step, ev, _ := worldmodel.Progress(p, claim(report, quotes[p.ProgressStep()-1]), now, worldmodel.Past{}); ev != nil {
			require.NoError(t, p.Reach(step, *ev))
		}
		got = append(got, p.ProgressStep())
	}
	assert.Equal(t, []int{1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4}, got)
	_, ev, why := worldmodel.Progress(p, claim(5, "Save As…"), editor("fz", 60, "Save As…"), worldmodel.Past{})
	assert.Nil(t, ev)
	assert.Equal(t, "all 3 steps are completed", why)
}

// TestProgressNeedsAFreshObservation holds that a step is completed only by a frame that is newer than
// the one on which it became current.
func TestProgressNeedsAFreshObservation(t *testing.T) {
	p := plan()
	_, ev, why := worldmodel.Progress(p, claim(2, "Save As…"), editor("f1", 0, "E", "Save As…"), worldmodel.Past{})
	assert.Nil(t, ev)
	assert.Contains(t, why, "not newer than the step")

	now := editor("f2", 5, "E", "Save As…", "Open…", "Close")
	step, ev, _ := worldmodel.Progress(p, claim(2, "Save As…"), now, worldmodel.Past{})
	require.NotNil(t, ev)
	require.NoError(t, p.Reach(step, *ev))
	_, ev, why = worldmodel.Progress(p, claim(3, "Open…"), now, worldmodel.Past{})
	assert.Nil(t, ev, "one claim for one observation")
	assert.Contains(t, why, "not newer than the step")

	// What is proved is evidence of its own, and may be one more on the same frame.
	proved := worldmodel.Past{Began: editor("f1", 0, "E", "Save As…")}
	step, ev, _ = worldmodel.Progress(p, claim(3, "Open…"), now, proved)
	require.NotNil(t, ev)
	require.NoError(t, p.Reach(step, *ev))
	assert.Equal(t, 3, p.ProgressStep())

	// A quote serves once: what still stands there shows no other step. What went and
	// came again is new.
	third := editor("f3", 9, "E", "Save As…", "Open…")
	_, ev, why = worldmodel.Progress(p, claim(4, " Open… "), third, worldmodel.Past{Began: now})
	assert.Nil(t, ev)
	assert.Contains(t, why, `"Open…" has already completed step 2`)
	_, ev, _ = worldmodel.Progress(p, claim(4, "Open…"), third, worldmodel.Past{Began: editor("f2", 7, "E", "Save As…")})
	require.NotNil(t, ev)
	assert.Equal(t, planner.Proved, ev.Grade)
}

// A step's predicate that does not hold blocks nothing: the step is completed by a
// quote, and its grade says what that is worth.
func TestAQuoteBesideAPredicate(t *testing.T) {
	past := worldmodel.Past{Began: editor("f1", 0, "Editor")}
	now := editor("f2", 5, "Editor", "Save As…")
	for name, tt := range map[string]struct {
		predicate planner.Predicate
		grade     planner.Grade
	}{
		"holds":          {planner.Predicate{Kind: planner.Shown, Role: "menu item", Name: "Save As…"}, planner.Proved},
		"false for ever": {planner.Predicate{Kind: planner.TitleIs, Value: "No such window"}, planner.Claimed},
	} {
		p := plan()
		p.Steps[0].Predicate = &tt.predicate
		step, ev, why := worldmodel.Progress(p, claim(2, "Save As…"), now, past)
		require.NotNil(t, ev, name)
		assert.Equal(t, 1, step, name)
		assert.Equal(t, tt.grade, ev.Grade, why)
	}
}

// A title says nothing of an edit that came after the last saving.
func TestATitleAndAnEditAfterSaving(t *testing.T) {
	past := worldmodel.Past{Began: editor("f1", 0, "Untitled - Editor"), Unsaved: "the last edit (step 7) came after the last saving (step 5)"}
	found, problem := worldmodel.Judge("notes.txt - Editor", editor("f2", 5, "notes.txt - Editor"), past)
	assert.Empty(t, problem)
	assert.Equal(t, planner.Claimed, found.Grade)
	assert.Contains(t, found.Why, "came after the last saving")
}

// The predicate of the last step, false when it was planned, proves the goal that the
// check confirms; without the check it confirms nothing.
func TestConfirmedByThePredicate(t *testing.T) {
	now := editor("f2", 5, "notes.txt - Editor", "Save As…")
	past := worldmodel.Past{Began: editor("f1", 0, "Editor", "Save As…"), Effect: &planner.Predicate{Kind: planner.TitleIs, Value: "notes.txt - Editor"}}
	for name, tt := range map[string]struct {
		check worldmodel.GoalCheck
		ok    bool
		grade planner.Grade
	}{
		"a weak quote": {worldmodel.GoalCheck{Shown: true, Evidence: "Save As…"}, true, planner.Proved},
		"no quote":     {worldmodel.GoalCheck{Shown: true}, true, planner.Proved},
		"not shown":    {worldmodel.GoalCheck{Missing: "More is asked for."}, false, ""},
	} {
		found, ok, why := worldmodel.Confirmed(&tt.check, now, past)
		assert.Equal(t, tt.ok, ok, name)
		assert.Equal(t, tt.grade, found.Grade, "%s: %s", name, why)
	}
	past.Effect = &planner.Predicate{Kind: planner.TitleIs, Value: "other.txt - Editor"}
	found, ok, _ := worldmodel.Confirmed(&worldmodel.GoalCheck{Shown: true, Evidence: "Save As…"}, now, past)
	assert.True(t, ok)
	assert.Equal(t, planner.Claimed, found.Grade)
}

// Where the program tells no text, a quote is a claim in other words than where it
// tells text and not this one; and one that did not answer is asked again.
func TestEvidenceWithoutText(t *testing.T) {
	shop := image.Rect(0, 0, 800, 600)
	other := atspi.Node{ID: "n9", PID: 99, Parent: -1, Role: "frame", Name: "Other", Box: image.Rect(700, 500, 900, 700)}
	read := atspi.Node{ID: "n9", PID: 7, Parent: -1, Role: "text line", Text: "Other", Read: true, Box: image.Rect(0, 500, 90, 520)}
	hang := func(name string, pid int) func(*screen.Observation) {
		return func(o *screen.Observation) { o.Tree = screen.Tree{Hung: []atspi.Program{{Name: name, PID: pid}}} }
	}
	const told, untold = "is not in what the programs tell", "the program tells no text"
	for name, tt := range map[string]struct {
		spoil func(*screen.Observation)
		why   string
		hung  bool
	}{
		"no tree at all":               {func(o *screen.Observation) { o.Tree.Nodes = nil }, untold, false},
		"only another program's tree":  {func(o *screen.Observation) { o.Tree.Nodes = []atspi.Node{other} }, untold, false},
		"only what was read":           {func(o *screen.Observation) { o.Tree.Nodes = []atspi.Node{read} }, untold, false},
		"the program has a tree":       {func(o *screen.Observation) { o.Tree.Nodes = append(o.Tree.Nodes, other) }, told, false},
		"unknown process, nodes in it": {func(o *screen.Observation) { o.Windows[0].PID = 0 }, told, false},
		"unknown process, none in it":  {func(o *screen.Observation) { o.Windows[0].PID, o.Tree.Nodes = 0, []atspi.Node{other} }, untold, false},
		"frame only":                   {func(o *screen.Observation) { o.Tree.Nodes = o.Tree.Nodes[:1] }, untold, false},
		"only another window of its process": {func(o *screen.Observation) {
			o.Windows[0].Focused = false
			o.Windows = append(o.Windows, screen.Window{ID: 2, Title: "Canvas", PID: 7, Focused: true, Box: image.Rect(700, 500, 800, 600)})
		}, untold, false},
		"frames only, no window":     {func(o *screen.Observation) { o.Windows, o.Tree.Nodes = nil, o.Tree.Nodes[:1] }, untold, false},
		"no window, no tree":         {func(o *screen.Observation) { o.Windows, o.Tree.Nodes = nil, nil }, untold, false},
		"no window, but tree":        {func(o *screen.Observation) { o.Windows = nil }, told, false},
		"did not answer":             {hang("soffice", 7), "soffice did not answer in time", true},
		"unknown process, no answer": {hang(":1.7", 0), ":1.7 did not answer in time", true},
		"another did not answer":     {hang("editor", 99), untold, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := editor("f2", 5, "Untitled 1", "Open…")
			now.Windows[0].Box = shop
			tt.spoil(now)
			_, ev, why := worldmodel.Progress(plan(), claim(2, "Painted text"), now, worldmodel.Past{})
			assert.Contains(t, why, tt.why)
			found, ok, _ := worldmodel.Confirmed(&worldmodel.GoalCheck{Shown: true, Evidence: "Painted text"}, now, worldmodel.Past{})
			assert.Equal(t, !tt.hung, ok)
			if tt.hung {
				assert.Nil(t, ev)
				return
			}
			require.NotNil(t, ev)
			assert.Equal(t, planner.SourceImage, ev.Source)
			assert.Equal(t, planner.Claimed, ev.Grade)
			assert.Equal(t, planner.Claimed, found.Grade)
		})
	}
}

// What a program did not tell when the step began may have stood there then.
func TestEvidenceAfterSilence(t *testing.T) {
	line := atspi.Node{ID: "n21", PID: 7, Depth: 1, Role: "text line", Text: "total 48", Read: true, Box: image.Rect(10, 330, 200, 340)}
	check := atspi.Node{ID: "n22", Key: "wrap", PID: 7, Depth: 1, Role: "check box", Name: "Wrap Lines", Box: image.Rect(10, 360, 200, 370)}
	hung := func(name string, pid int) []atspi.Program { return []atspi.Program{{Name: name, PID: pid}} }
	for name, tt := range map[string]struct {
		quote string
		spoil func(began *screen.Observation)
		grade planner.Grade
		why   string
	}{
		"all told":                {"Save As…", func(*screen.Observation) {}, planner.Proved, ""},
		"it did not answer":       {"Save As…", func(o *screen.Observation) { o.Tree = screen.Tree{Hung: hung("soffice", 7)} }, planner.Claimed, "soffice did not answer then"},
		"it told a part":          {"Save As…", func(o *screen.Observation) { o.Tree.Hung = hung("soffice", 7) }, planner.Claimed, "soffice did not answer then"},
		"switched, by a part":     {"Wrap Lines", func(o *screen.Observation) { o.Tree.Hung = hung("soffice", 7) }, planner.Claimed, "soffice did not answer then"},
		"another did not answer":  {"Save As…", func(o *screen.Observation) { o.Tree.Hung = hung("mail", 99) }, planner.Proved, ""},
		"of unknown process":      {"Save As…", func(o *screen.Observation) { o.Tree.Hung = hung(":1.7", 0) }, planner.Claimed, ":1.7 did not answer then"},
		"it does not answer now":  {"total 48", nil, planner.Claimed, "it was read because soffice did not answer"},
		"no tree now":             {"total 48", nil, planner.Claimed, "it was read because no program told anything"},
		"no tree":                 {"Save As…", func(o *screen.Observation) { o.Tree = screen.Tree{Err: screen.ErrNoTree} }, planner.Claimed, "no program told anything then"},
		"no tree, but read":       {"total 48", func(o *screen.Observation) { o.Tree = screen.Tree{Err: screen.ErrNoTree} }, planner.Read, "as read from it"},
		"not all read":            {"total 48", func(o *screen.Observation) { o.Unread = true }, planner.Claimed, "the picture was not all read then"},
		"not all read, but told":  {"Save As…", func(o *screen.Observation) { o.Unread = true }, planner.Proved, ""},
		"read where nothing told": {"total 48", func(o *screen.Observation) { o.Tree.Hung = hung("soffice", 7) }, planner.Claimed, "soffice did not answer then"},
		"a title is always known": {"Save As", func(o *screen.Observation) { o.Tree = screen.Tree{Err: screen.ErrNoTree} }, planner.Proved, "the title of a window"},
	} {
		t.Run(name, func(t *testing.T) {
			began, now := editor("f1", 0, "notes - Editor", "Open…"), editor("f2", 5, "Save As", "Open…", "Save As…")
			began.Tree.Nodes = append(began.Tree.Nodes, check)
			switched := check
			switched.States = []string{"checked"}
			now.Tree.Nodes = append(now.Tree.Nodes, line, switched)
			switch name {
			case "it does not answer now":
				now.Tree.Hung = hung("soffice", 7)
			case "no tree now":
				now.Tree.Err = screen.ErrNoTree
			default:
				tt.spoil(began)
			}
			found, problem := worldmodel.Judge(tt.quote, now, worldmodel.Past{Began: began})
			assert.Empty(t, problem)
			assert.Equal(t, tt.grade, found.Grade, found.Why)
			assert.Contains(t, found.Why, tt.why)
		})
	}
}

// A goal that code cannot prove is claimed, and never turned into its opposite; what
// contradicts the screen is not confirmed.
func TestConfirmed(t *testing.T) {
	began := editor("f1", 0, "Untitled - Editor")
	now := editor("f2", 5, "notes.txt - Editor")
	marked := editor("f2", 5, "*notes.txt - Editor")
	dotted := editor("f2", 5, "● notes.txt - Visual Studio Code")
	for name, tt := range map[string]struct {
		check *worldmodel.GoalCheck
		now   *screen.Observation
		grade planner.Grade // "" if it is not confirmed
		why   string
	}{
		"the whole title":     {&worldmodel.GoalCheck{Shown: true, Evidence: "notes.txt - Editor"}, now, planner.Proved, "the title of a window has"},
		"a part of it":        {&worldmodel.GoalCheck{Shown: true, Evidence: "notes.txt"}, now, planner.Claimed, "only a part of the title"},
		"only in the picture": {&worldmodel.GoalCheck{Shown: true, Evidence: "=AVERAGE(B2:B9)"}, now, planner.Claimed, "the world model's word"},
		"not saved, by its *": {&worldmodel.GoalCheck{Shown: true, Evidence: "notes.txt - Editor"}, marked, "", `the title of the window is "*notes.txt - Editor"`},
		"not saved, by its ●": {&worldmodel.GoalCheck{Shown: true, Evidence: "notes.txt - Visual Studio Code"}, dotted, "", `the title of the window is "● notes.txt`},
		"no evidence":         {&worldmodel.GoalCheck{Shown: true}, now, "", "no evidence was quoted; make the effect"},
		"not shown":           {&worldmodel.GoalCheck{Evidence: "notes.txt", Missing: "It is not saved."}, now, "", "It is not saved."},
		"not shown, no words": {&worldmodel.GoalCheck{}, now, "", "the screen does not show that the task is done"},
		"no check":            {nil, now, "", "could not be checked"},
	} {
		found, ok, why := worldmodel.Confirmed(tt.check, tt.now, worldmodel.Past{Began: began})
		assert.Equal(t, tt.grade != "", ok, name)
		if ok {
			assert.Equal(t, tt.grade, found.Grade, name)
		}
		assert.Contains(t, why, tt.why, name)
	}
}
