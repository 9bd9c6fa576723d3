//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/planner"
	"desktop-agent/replay"
)

// errand is a plan of which one step is done in an editor, one sends a letter, and two are
// done by an agent and a model beside each other.
const errand = `version = 2
task = "Write the letter, save it and send it, once"
success = "the letter is saved and sent"

[[step]]
id = "s1"
executor = "gui"
goal = "Find the letter in the editor"
done_when = "The letter is in the editor, and saved"

[[step]]
id = "s2"
executor = "tool"
action = "run_command"
parameters = '{"command": "send-letter", "arguments": ["now"]}'
goal = "Send the letter"
done_when = "The result says \"sent\""
needs = ["s1"]

[[step]]
id = "s3"
executor = "agent"
action = "tools"
goal = "Note in log.txt that the letter is sent"
done_when = "The result says that it is noted"
needs = ["s2"]
parallel = true

[[step]]
id = "s4"
executor = "self"
goal = "Sum up"
done_when = "One sentence"
needs = ["s2"]
parallel = true
`

// deskless is the same without the step in the editor.
var deskless = errand[:strings.Index(errand, "[[step]]")] + strings.Replace(errand[strings.Index(errand, "[[step]]\nid = \"s2\""):], "needs = [\"s1\"]\n", "", 1)

// beginPlan starts a run that executes a plan.
func (d *office) beginPlan(plan string, args ...string) *process {
	file := filepath.Join(d.folder, "plan.toml")
	require.NoError(d.t, os.WriteFile(file, []byte(plan), 0o600))
	list := []string{"run", "--plan-file", file, "--approve", "never", "--plan-no-revision", "--execution", "parallel", "--step-retries", "0", "--base-url", d.clerk.URL + "/v1", "--model", "m"}
	if plan == errand {
		list = append(list, "--virtual", "--size", "800x600", "--open", "mousepad letter.txt", "--home", filepath.Join(d.folder, "begin"), "--keep-home", d.home)
	}
	return startWith(d.t, d.env(), append(append(list, d.tools()...), args...)...)
}

// planRight checks what a run with a plan has left: what is right, with all sent once; or,
// where it is not known whether a letter was sent, that it was not sent again, and why.
func (d *office) planRight(p *process, plan, when string) {
	d.t.Helper()
	code := p.code()
	sent, err := os.ReadFile(filepath.Join(d.folder, "outbox"))
	doubted := strings.Contains(d.events(), "so it is not done again")
	if doubted {
		require.Equal(d.t, exitNotDone, code, "%s: %s", when, p.stderr)
		assert.LessOrEqual(d.t, strings.Count(string(sent), "sent"), 1, when)
		assert.Contains(d.t, p.stderr.String(), "was attempted before and cannot be taken back", when)
	} else {
		require.Equal(d.t, exitDone, code, "%s: %s", when, p.stderr)
		require.NoError(d.t, err, when)
		assert.Equal(d.t, "sent\n", string(sent), "%s: nothing is sent twice", when)
		text, err := os.ReadFile(filepath.Join(d.files, "log.txt"))
		require.NoError(d.t, err, when)
		assert.Equal(d.t, "sent", string(text), when)
	}
	if plan == errand {
		text, err := os.ReadFile(filepath.Join(d.home, "letter.txt"))
		require.NoError(d.t, err, when)
		assert.Equal(d.t, letter, strings.TrimSuffix(string(text), "\n"), when)
	}
	list, err := replay.List(filepath.Join(d.folder, "runs"))
	require.NoError(d.t, err)
	require.Len(d.t, list, 1)
	stored, err := replay.Open(list[0].Dir)
	require.NoError(d.t, err)
	v, err := stored.Verify(d.t.Context())
	require.NoError(d.t, err)
	assert.True(d.t, v.Whole(), "%s: %v", when, v.Problems)
	left, err := stored.Plan()
	require.NoError(d.t, err)
	if !doubted {
		for _, s := range left.Steps {
			assert.Equal(d.t, planner.Completed, s.Status, "%s: %s", when, s.ID)
		}
	}
	assert.Empty(d.t, p.leftovers(), when)
}

// planMoments are those at which a run with a plan is killed.
var planMoments = map[string]struct {
	holds func(string) bool
	later time.Duration
	fits  func(plan string) bool
}{
	"before the first step": {after("planned", 1), 0, nil},
	"while typing":          {after("acting", 2), 20 * time.Millisecond, func(plan string) bool { return plan == errand }},
	"between steps":         {after("step_ended", 1), 0, nil},
	"while sending":         {sendingNow, 50 * time.Millisecond, nil},
	"after sending":         {func(e string) bool { return strings.Contains(e, `"output":"sent`) }, 0, nil},
	"side by side":          {func(e string) bool { return after("step_started", 2)(e) && strings.Contains(e, `"executor":"agent"`) }, 0, nil},
	"the agent's call":      {func(e string) bool { return actingNow(e, "log.txt") }, 0, nil},
	"reflection":            {after("reflected", 1), 0, nil},
}

func sendingNow(e string) bool { return actingNow(e, "send-letter") }

// actingNow reports whether the last action has a word.
func actingNow(events, word string) bool {
	i := strings.LastIndex(events, `"kind":"acting"`)
	return i >= 0 && strings.Contains(events[i:], word)
}

// TestResumePlanKilled kills runs with a deliberate plan whose steps need no display, in the
// moments that differ: each is gone on with, in one journal that is whole, and nothing is sent
// twice.
func TestResumePlanKilled(t *testing.T) {
	t.Parallel()
	for name, at := range planMoments {
		if at.fits != nil && !at.fits(deskless) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := newOffice(t)
			p := d.beginPlan(deskless)
			d.killAt(p, at.holds, at.later)
			require.NotContains(t, d.events(), `"kind":"run_ended"`, "it was killed in time")
			again := d.resume()
			d.planRight(again, deskless, name)
			assert.Equal(t, 1, strings.Count(d.events(), `"kind":"resumed"`))
			assert.Equal(t, name == "while sending", strings.Contains(d.events(), "so it is not done again"))
		})
	}
}

// TestResumePlanOnScreen kills runs with a deliberate plan amid a step in a real editor, and
// after it: each is gone on with on a new desktop, ends with the right file, and sends nothing
// twice.
func TestResumePlanOnScreen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"while typing", "between steps", "while sending", "after sending"} {
		t.Run(name, func(t *testing.T) {
			d, at := newOffice(t), planMoments[name]
			p := d.beginPlan(errand)
			d.killAt(p, at.holds, at.later)
			require.NotContains(t, d.events(), `"kind":"run_ended"`, "it was killed in time")
			d.planRight(d.resume(), errand, name)
			code, out, errs := benched(t, "runs", "--runs", filepath.Join(d.folder, "runs"), "show", "last")
			require.Zero(t, code, errs)
			assert.Contains(t, out, "the run goes on here, on a new desktop with the files of the old")
		})
	}
}

// TestResumePlanKept kills a run amid a step in an editor whose desktop waits: the step is
// done to its end there, by an actor who is told what was done of it.
func TestResumePlanKept(t *testing.T) {
	t.Parallel()
	d, at := newOffice(t), planMoments["while typing"]
	p := d.beginPlan(errand, "--keep-desktop", "2m")
	for end := time.Now().Add(patience); !at.holds(d.events()) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(at.later)
	require.NoError(t, p.Process.Kill())
	<-p.exited
	again := d.resume()
	d.planRight(again, errand, "kept")
	_, resumed, found := strings.Cut(d.events(), `"kind":"resumed"`)
	require.True(t, found)
	assert.Contains(t, resumed, `"desktop":"same"`)
	assert.Contains(t, resumed, `"back":["s1"]`)
	assert.Contains(t, resumed, "This was begun before, by a program that ended.")
	assert.Contains(t, resumed, "The desktop is the same, but time has passed")
	assert.Empty(t, again.leftovers(), "the desktop ends with the run")
}

// TestResumeToolLimits resumes a run whose calls of tools had limits of their own: they hold
// on, though the command line that resumes it does not say them.
func TestResumeToolLimits(t *testing.T) {
	t.Parallel()
	d := newOffice(t)
	p := d.beginPlan(deskless, "--tool-text", "3")
	d.killAt(p, planMoments["before the first step"].holds, 0)
	require.NotContains(t, d.events(), `"kind":"run_ended"`, "it was killed in time")
	again := d.resume()
	assert.Equal(t, exitDone, again.code(), "%s", again.stderr)
	_, resumed, found := strings.Cut(d.events(), `"kind":"resumed"`)
	require.True(t, found)
	_, acted, found := strings.Cut(resumed, `"kind":"acted"`)
	require.True(t, found)
	assert.Contains(t, acted, "bytes left out")
}

// TestResumePlanRandom kills at random moments; RESUME_KILLS says how many.
func TestResumePlanRandom(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("RESUME_KILLS"))
	if kills == 0 {
		t.Skip("set RESUME_KILLS, as make soak does")
	}
	d := newOffice(t)
	d.planRight(d.beginPlan(errand), errand, "without a kill")
	list, err := replay.List(filepath.Join(d.folder, "runs"))
	require.NoError(t, err)
	took := list[0].Elapsed
	ended, doubts := 0, 0
	for i := range kills {
		moment := time.Duration(rand.Int64N(int64(took)))
		t.Run(fmt.Sprint(i, " after ", moment.Round(time.Millisecond)), func(t *testing.T) {
			d := newOffice(t)
			p := d.beginPlan(errand)
			d.killAt(p, func(e string) bool { return strings.Contains(e, `"kind":"planned"`) }, moment)
			if strings.Contains(d.events(), `"kind":"run_ended"`) {
				ended++
				return
			}
			d.planRight(d.resume(), errand, "resumed")
			if strings.Contains(d.events(), "so it is not done again") {
				doubts++
			}
		})
	}
	t.Logf("%d kills, %d of them after the end, %d amid the sending; a run takes %v", kills, ended, doubts, took)
}

// TestResumePlanRefused: what cannot be gone on with is said, with what to do: a run that
// has ended, one that another process goes on with, one of a newer version, one without what
// it had, and one whose plan is not in its journal.
func TestResumePlanRefused(t *testing.T) {
	t.Parallel()
	d := newOffice(t)
	p := d.beginPlan(deskless)
	d.killAt(p, after("step_ended", 1), 0)
	journal, info := first(t, d, "events.jsonl"), first(t, d, "run.json")
	refused := func(want string, args ...string) {
		t.Helper()
		p := startWith(t, d.env(), append([]string{"resume", "last", "--runs", filepath.Join(d.folder, "runs")}, args...)...)
		assert.Equal(t, exitUsage, p.code(), "%s", p.stderr)
		assert.Contains(t, p.stderr.String(), want)
	}
	whole, err := os.ReadFile(journal)
	require.NoError(t, err)
	about, err := os.ReadFile(info)
	require.NoError(t, err)
	with := func(lines, about []byte, test func()) { // of a run that was killed so
		require.NoError(t, os.WriteFile(journal, lines, 0o600))
		require.NoError(t, os.WriteFile(info, about, 0o600))
		test()
	}
	with(whole, about, func() { refused("the run had tools that are not there now", "--files", d.files) })
	begun, _, _ := bytes.Cut(whole, []byte("\n"))
	with(append(begun, '\n'), about, func() {
		refused("the plan lacks what it needs to be executed", d.tools()[2:]...)
	})
	newer := regexp.MustCompile(`"schema": ?\d+`).ReplaceAll(about, []byte(`"schema": 99`))
	require.NotEqual(t, about, newer)
	with(whole, newer, func() { refused("schema 99", d.tools()[2:]...) })
	require.NoError(t, os.WriteFile(journal, whole, 0o600))
	require.NoError(t, os.WriteFile(info, about, 0o600))

	one := d.resume("--json")
	require.Eventually(t, func() bool { return strings.Contains(d.events(), `"kind":"resumed"`) }, patience, time.Millisecond, "%s", one.stderr)
	require.NoError(t, one.Process.Signal(syscall.SIGSTOP))
	two := d.resume()
	assert.Equal(t, exitUsage, two.code())
	assert.Contains(t, two.stderr.String(), "another process is writing this run")
	require.NoError(t, one.Process.Signal(syscall.SIGCONT))
	d.planRight(one, deskless, "resumed")
	refused("the run has ended already: done", d.tools()[2:]...)
}
