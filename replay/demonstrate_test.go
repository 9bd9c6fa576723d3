package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/run"
)

func TestDemonstrate(t *testing.T) {
	stored, err := Open("../cmd/desktop-agent/demo/run")
	require.NoError(t, err)
	d, err := Demonstrate(stored)
	require.NoError(t, err)
	assert.Equal(t, stored.Info.Asked.Task, d.Task)
	assert.Equal(t, `in window "Untitled 1 - Mousepad": type "milk\nbread\napples"`, d.Steps[0])
	assert.Contains(t, d.Steps, `in window "Save As": click left on push button "Save"`)
	for _, step := range d.Steps {
		assert.NotRegexp(t, `\(\d+, \d+\)`, step, "no coordinates of another screen")
	}
}

func TestDemonstrateHidesPasswords(t *testing.T) {
	j := newJournal(t)
	put(t, j, started("log in"))
	look(t, j, 0, editor("f1"))
	kind := actuator.Type{Text: "•"}
	p := run.Proposed{FrameID: "f1", Actions: []run.Recorded{{Action: kind}}, Params: []run.Param{{Name: "password1", Secret: true}}}
	put(t, j, run.Event{Step: 1, Kind: "proposed", Data: p}, acting(1, kind),
		run.Event{Step: 1, Kind: "acted", Data: run.Acted{Status: actuator.Delivered}})
	require.NoError(t, j.Close())
	stored, err := Open(j.Dir())
	require.NoError(t, err)
	d, err := Demonstrate(stored)
	require.NoError(t, err)
	assert.Equal(t, []string{`in window "notes - Editor": type the password`}, d.Steps)
}
