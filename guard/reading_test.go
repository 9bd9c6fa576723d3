package guard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/guard"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// effectOf is what a line is taken for that is entered in a terminal.
func effectOf(line string) worldmodel.Effect {
	return guard.Classify(run.Intent{Action: actuator.Type{Text: actuator.Secret(line)}, On: look("XTerm", "", "Terminal")}).Effect
}

// TestReading holds which commands only show something, and that what else a line could do
// by its quotes, redirections, variables, options or file names is not among them.
func TestReading(t *testing.T) {
	for _, line := range []string{
		"ls\n", "ls -la all photos\n", "cd ~/Desktop && ls -la . all && find photos | sort\n", "clear; ls -la all; find photos -type f -name '*.jpg' | sort -k 2\n",
		"cat notes.txt | grep -n \"rm -rf\" | wc -l\n", "ls nothing 2>/dev/null || echo none\n", "grep -r x . 2>&1 | head -3\n", "pwd\nls;\n", "ls *.txt\n",
		"ls >/dev/null 2>&1; pwd 2> /dev/null|sort\n", "echo 'a > /dev/null b'\n",
	} {
		assert.Equal(t, worldmodel.EffectNavigate, effectOf(line), line)
	}
	for _, line := range []string{
		"\n", "ls\n\n", "y\n", "make\n", "ls > list\n", "ls >> list\n", "ls 2>/dev/nullx\n", "ls >/dev/null/../x\n", "ls2>/dev/null\n", "2>/dev/null\n", "ls && touch x\n", "ls & touch x\n", "ls;touch x\n", "ls | tee x\n", "ls |\n",
		"ls $(touch x)\n", "ls `touch x`\n", "cat <(touch x)\n", "echo $HOME\n", "echo \"$(touch x)\"\n", "ls 'a\n", "ls \\\n", "x=1 ls\n", "./ls\n", "/tmp/ls\n", "sudo ls\n", "!ls\n", "{ ls; }\n", "ls\ttouch\n", "ls\rtouch x\r\n",
		"find . -delete\n", "find . -exec touch {} +\n", "find . -fprint x\n", "find *\n", "sort -o x y\n", "sort -ro x y\n", "sort *\n", "sort --output=x y\n", "tree -o x\n", "file -C -m x\n", "ls\ntouch x\n",
	} {
		assert.NotEqual(t, worldmodel.EffectNavigate, effectOf(line), "%q", line)
	}
}

// TestReadingIsAllowed is an agent that looks at what it has done, which the task does not
// ask for: it may, if who foresees it sees nothing else in it; and two keys are needed.
func TestReadingIsAllowed(t *testing.T) {
	shown := worldmodel.Foresight{Expected: "The files are listed.", Effect: worldmodel.EffectNavigate, Undoable: true}
	runs := shown
	runs.Effect = worldmodel.EffectExecute
	shell := look("XTerm", "", "Terminal")
	for _, tt := range []struct {
		name, line string
		see        worldmodel.Foresight
		by         string // that refuses; "" if it is allowed
	}{
		{"only shown, by both", "ls all\n", shown, ""},
		{"who foresees it sees more", "ls all\n", runs, "foresight"},
		{"the table sees more", "touch all\n", shown, "foresight"},
	} {
		g := started(t, &guard.Guard{World: sees(tt.see), Model: judging(false, []string{}, []string{})}, "Copy the photos")
		ruling, err := g.Allow(t.Context(), run.Intent{Action: actuator.Type{Text: actuator.Secret(tt.line)}, On: shell, Source: run.FromModel})
		if tt.by == "" {
			require.NoError(t, err, tt.name)
			assert.Equal(t, worldmodel.EffectNavigate, ruling.Effect, tt.name)
			continue
		}
		require.Error(t, err, tt.name)
		assert.Equal(t, tt.by, ruling.By, tt.name)
	}
}

// TestReadingOfTheWholeLine holds that what was typed and not entered before belongs to a
// command, also in an earlier turn, and that a line is not known after keys that change it
// in another way.
func TestReadingOfTheWholeLine(t *testing.T) {
	shell := look("XTerm", "", "Terminal")
	other := look("XTerm", "", "Terminal")
	other.Windows[0].ID = 2
	text := func(s string) actuator.Action { return actuator.Type{Text: actuator.Secret(s)} }
	on := func(a actuator.Action) run.Intent { return run.Intent{Action: a, On: shell, Source: run.FromModel} }
	const reads, runs = worldmodel.EffectNavigate, worldmodel.EffectExecute
	for name, tt := range map[string]struct {
		before []actuator.Action
		in     run.Intent
		want   worldmodel.Effect
	}{
		"typed, then entered":         {[]actuator.Action{text("ls -l")}, on(press("enter")), reads},
		"Enter twice":                 {[]actuator.Action{text("ls -l")}, on(actuator.Press{Keys: []actuator.Key{"enter"}, Count: 2}), runs},
		"nothing typed":               {nil, on(press("enter")), runs},
		"a word before":               {[]actuator.Action{text("sh ")}, on(text("ls\n")), runs},
		"on another terminal":         {[]actuator.Action{text("sh ")}, run.Intent{Action: text("ls\n"), On: other, Source: run.FromModel}, reads},
		"entered before":              {[]actuator.Action{text("make\n")}, on(text("ls\n")), reads},
		"a line from the history":     {[]actuator.Action{press("up"), text(" ls")}, on(press("enter")), runs},
		"cleared":                     {[]actuator.Action{press("up"), press("ctrl", "c")}, on(text("ls\n")), reads},
		"pasted before":               {[]actuator.Action{actuator.Paste{}}, on(text("ls\n")), runs},
		"a click before":              {[]actuator.Action{click(3), text("ls")}, on(press("enter")), reads},
		"an action that is not known": {[]actuator.Action{actuator.Zoom{}}, on(text("ls\n")), runs}, // that of an agent is none of the guard's
		"a middle click, that pastes": {[]actuator.Action{actuator.Click{At: new(point(3)), Button: actuator.Middle, Count: 1}}, on(text("ls\n")), runs},
	} {
		asked := loses(true)
		asked.Effect, asked.Undoable, asked.TaskWords = worldmodel.EffectNone, true, "Copy"
		g := started(t, &guard.Guard{World: sees(asked), Model: judging(false, []string{}, []string{})}, "Copy the photos")
		for _, a := range tt.before {
			_, err := g.Allow(t.Context(), on(a))
			require.NoError(t, err, name)
		}
		ruling, err := g.Allow(t.Context(), tt.in)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, ruling.Effect, name)
	}
}
