package offline_test

import (
	"path/filepath"
	"testing"

	"desktop-agent/planner"
	"desktop-agent/run"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const operator = "../../suites/desktop/operator"

// TestGrades is an audit of the recorded runs: how well each completed step, and that
// the goal was reached, is known. What stood on the screen from the start, or is only in
// the picture of a program that tells no text, is claimed, whatever was quoted.
func TestGrades(t *testing.T) {
	const proved, claimed = planner.Proved, planner.Claimed
	for task, want := range map[string]struct {
		steps []planner.Grade
		goal  planner.Grade // "" if it was not checked
	}{
		"editor/respell-word":             {[]planner.Grade{proved, proved, proved}, claimed}, // quoted: the title that the file had from the start
		"libreoffice_writer/centre-title": {[]planner.Grade{claimed}, claimed},                // quoted: "Center", a button of the tool bar
		"libreoffice_impress/retitle":     {[]planner.Grade{proved}, proved},
		"os/rename-folder":                {[]planner.Grade{proved, proved}, proved},
		"os/permissions":                  {[]planner.Grade{claimed, claimed}, claimed}, // a terminal that told no text
		"os/count-errors":                 {[]planner.Grade{claimed, claimed, claimed}, claimed},
		"os/pair-bluetooth":               {[]planner.Grade{claimed}, ""},
	} {
		t.Run(task, func(t *testing.T) {
			stored := open(t, filepath.Join(operator, "plan=on", filepath.FromSlash(task), "1"))
			var steps []planner.Grade
			var goal planner.Grade
			for e, err := range stored.Events() {
				require.NoError(t, err)
				switch d := e.Data.(type) {
				case run.Assessed:
					if d.Advanced {
						steps = append(steps, d.Plan.Steps[d.Plan.ProgressStep()-2].Evidence.Grade)
					}
				case run.GoalChecked:
					goal = d.Grade
				}
			}
			assert.Equal(t, want.steps, steps)
			assert.Equal(t, want.goal, goal)
		})
	}
}
