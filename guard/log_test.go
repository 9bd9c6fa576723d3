package guard_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
	"desktop-agent/worldmodel"
)

// TestAnalysisIsLogged holds that the log tells who judges a task and how long its words
// are, though never the words, and then what the verdict is and what it blocks.
func TestAnalysisIsLogged(t *testing.T) {
	var log bytes.Buffer
	g := &guard.Guard{Model: deletes, Analysers: []llm.Role{llm.Monitor}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	g.Start(t.Context(), cleanUp)
	g.Judged(t.Context())
	assert.Contains(t, log.String(), `msg="Analyzing question irreversibility" analyzer_agent=monitor question_characters=34`)
	assert.Contains(t, log.String(), `msg="Irreversibility analysis complete" analyzer_agent=monitor has_irreversible=true effects=[delete] tools=[]`)
	assert.NotContains(t, log.String(), "Archive")
}

// TestAnalyserIsDrawnByChance holds that without a choice of a test each of the models
// judges at some time.
func TestAnalyserIsDrawnByChance(t *testing.T) {
	g := &guard.Guard{Model: deletes, Analysers: []llm.Role{llm.Planner, llm.Monitor}}
	drawn := map[llm.Role]bool{}
	for range 64 {
		g.Start(t.Context(), "Read")
		drawn[g.Judged(t.Context()).Role] = true
	}
	assert.Len(t, drawn, 2)
}

// TestSendAndView holds that a click on Send, which nobody asked for, reaches neither the
// device nor the journal as something done, while the same click where View stands does.
func TestSendAndView(t *testing.T) {
	sends := loses(false)
	sends.Effect = worldmodel.EffectSend
	for label, see := range map[string]worldmodel.Foresight{"Send": sends, "View": {Effect: worldmodel.EffectNone, Undoable: true}} {
		t.Run(label, func(t *testing.T) {
			done := label == "View"
			d, journal := &runtest.Desktop{}, &run.Memory{}
			hand := run.NewHand(d, run.NewRecorder(journal, nil).Scope(run.Where{}),
				started(t, &guard.Guard{World: sees(see), Model: judging(false, []string{}, []string{})}, "Read the mail"))
			act, err := hand.Do(t.Context(), run.Intent{Action: click(0), Source: run.FromModel, On: look("thunderbird", "normal", "Mail", item{role: "push button", name: label})})
			require.NoError(t, err)
			require.NoError(t, act.Close(t.Context(), nil))
			want := 0
			if done {
				want = 1
			} else {
				assert.Equal(t, actuator.Refused, act.Status)
			}
			assert.Len(t, d.Did(), want)
			assert.Len(t, runtest.All[run.Acting](journal.Events()), want)
		})
	}
}
