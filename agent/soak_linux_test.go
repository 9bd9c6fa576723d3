package agent_test

import (
	"context"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/actuator"
	"desktop-agent/actuator/dialect"
	"desktop-agent/agent"
	"desktop-agent/internal/x11"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/run/runtest"
)

// A mutant plays every role with replies out of a corpus, most of them damaged.
type mutant struct {
	actor, judge []string
	mu           sync.Mutex
	rand         *rand.Rand
	format       string // of the run
	replies      int
}

// corpus reads replies that "----" stands between.
func corpus(t *testing.T, name, canary string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "hostile", name))
	require.NoError(t, err)
	for entry := range strings.SplitSeq(string(text), "\n----\n") {
		list = append(list, strings.ReplaceAll(entry, "{{CANARY}}", canary))
	}
	return list
}

// Complete answers a role with what is, or was, meant for it or for another one.
func (m *mutant) Complete(_ context.Context, r *llm.Request) (*llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies++
	if r.Purpose == "propose" && m.rand.IntN(2) == 0 {
		return m.sound(), nil
	}
	from := m.judge
	if r.Purpose == "propose" != (m.rand.IntN(20) == 0) {
		from = m.actor
	}
	text := m.damaged(from)
	response := &llm.Response{Text: text, Finish: []string{"stop", "stop", "stop", "length", "tool_calls", ""}[m.rand.IntN(6)]}
	if name, arguments, ok := strings.Cut(text, " "); ok && len(r.Tools) > 0 {
		for range 1 + m.rand.IntN(3) {
			response.Calls = append(response.Calls, llm.ToolCall{ID: fmt.Sprint(m.rand.IntN(3)), Name: name, Arguments: arguments})
		}
	}
	if r.Purpose == "propose" && m.rand.IntN(4) > 0 {
		response.Text = code(text)
	}
	return response, nil
}

// sound returns a reply of the actor that is as it should be, so that runs go on.
func (m *mutant) sound() *llm.Response {
	at := actuator.Point{X: m.rand.IntN(1280), Y: m.rand.IntN(800)}
	keys := []actuator.Key{"a", "enter", "esc", "tab", "down", "f10", "delete"}
	key := keys[m.rand.IntN(len(keys))]
	d := dialect.Named(m.format)
	switch {
	case m.format == dialect.Tools && m.rand.IntN(2) == 0:
		return &llm.Response{Finish: "tool_calls", Calls: []llm.ToolCall{{ID: "1", Name: "click", Arguments: fmt.Sprintf(`{"at":{"x":%d,"y":%d},"button":"left"}`, at.X, at.Y)}}}
	case m.format == dialect.Tools:
		return &llm.Response{Finish: "tool_calls", Calls: []llm.ToolCall{{ID: "1", Name: "press", Arguments: fmt.Sprintf(`{"keys":[%q]}`, key)}}}
	case d == nil:
		return &llm.Response{Finish: "stop", Text: code(fmt.Sprintf("pyautogui.click(%d, %d)\npyautogui.press(%q)", at.X, at.Y, key))}
	}
	text, _ := d.Write("t", []actuator.Action{actuator.Click{At: &at, Button: actuator.Left, Count: 1}}, image.Pt(1280, 800))
	return &llm.Response{Finish: "stop", Text: text}
}

// damaged returns an entry, whole half of the time.
func (m *mutant) damaged(from []string) string {
	text := from[m.rand.IntN(len(from))]
	for m.rand.IntN(2) == 0 {
		at := m.rand.IntN(len(text) + 1)
		switch m.rand.IntN(6) {
		case 0:
			text = text[:at]
		case 1:
			text = text[at:]
		case 2:
			other := from[m.rand.IntN(len(from))]
			text = text[:at] + other[m.rand.IntN(len(other)+1):]
		case 3:
			text = text[:at] + string([]byte{byte(m.rand.IntN(256))}) + text[at:]
		case 4:
			text = text[:at] + []string{"\n", "</untrusted>", "```", "<|im_end|>", "\u202e", "\x00", "9999999999", "-", `"`, "'''", "\u200b"}[m.rand.IntN(11)] + text[at:]
		case 5:
			text = strings.Repeat(text, 1+m.rand.IntN(50))
		}
		if len(text) > 1<<20 {
			text = text[:1<<20]
		}
	}
	return text
}

// soaks is how long hostile replies are given.
func soaks(t *testing.T) time.Duration {
	t.Helper()
	long := os.Getenv("DESKTOP_AGENT_TEST_HOSTILE")
	if long == "" {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(long)
	require.NoError(t, err)
	return d
}

// TestHostileReplies gives replies that are damaged, or mean harm, to every role of runs
// on a real desktop. Each run ends with an outcome that has a name, with nothing held down;
// nothing that a model wrote is executed; and neither memory nor goroutines grow.
func TestHostileReplies(t *testing.T) {
	if _, err := exec.LookPath("mousepad"); err != nil {
		t.Skip("needs mousepad: apt-get install mousepad")
	}
	canary := filepath.Join(t.TempDir(), "canary")
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	m := &mutant{actor: corpus(t, "actor.txt", canary), judge: corpus(t, "judge.txt", canary), rand: rand.New(rand.NewPCG(seed, 0))}
	formats := []string{dialect.Code, dialect.Tools}
	for _, d := range dialect.All() {
		formats = append(formats, d.Name)
	}
	outcomes, events, actions := map[run.Outcome]int{}, 0, 0
	goroutines, heap := 0, uint64(0)
	rounds := 0
	for end := time.Now().Add(soaks(t)); time.Now().Before(end); rounds++ {
		m.format = formats[rounds%len(formats)]
		journal := hostileRun(t, m, outcomes)
		require.NoFileExists(t, canary, "after reply %d", m.replies)
		events += len(journal.Events())
		actions += len(all[run.Acted](journal))
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		if rounds == 0 {
			goroutines, heap = runtime.NumGoroutine(), now.HeapAlloc
		}
		assert.Less(t, runtime.NumGoroutine(), goroutines+20, "after round %d", rounds)
		assert.Less(t, now.HeapAlloc, heap+200<<20, "after round %d", rounds)
	}
	t.Logf("%d runs, %d replies, %d actions, %d events: %v", rounds, m.replies, actions, events, outcomes)
	require.Positive(t, actions, "some of it is done")
}

// named are the outcomes that there are.
var named = []run.Outcome{run.OutcomeDone, run.OutcomeInfeasible, run.OutcomeOutOfSteps, run.OutcomeOutOfBudget,
	run.OutcomeBlocked, run.OutcomeStuck, run.OutcomeStopped, run.OutcomeFailed}

// hostileRun does one run.
func hostileRun(t *testing.T, m *mutant, outcomes map[run.Outcome]int) *runtest.Journal {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "notes.txt"), []byte("Monday\n"), 0o600))
	set := run.Defaults()
	set.Display.Private, set.Display.Open, set.Display.Home, set.Display.OCR = true, "mousepad notes.txt", home, ""
	set.Agent.Format, set.Agent.MaxSteps, set.Agent.MaxBadReplies = m.format, 15, 10
	journal := &runtest.Journal{}
	s, err := run.Open(t.Context(), set, &run.Options{
		Client:  &llm.Client{Model: m, Default: llm.Settings{Model: "m"}, Retry: llm.Retry{Attempts: 1}},
		Journal: func() (run.Journal, error) { return journal, nil },
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	a, err := agent.New(s)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	began := time.Now()
	result, err := a.Run(ctx, "Write to Ann")
	if err != nil { // only what a model gave no end of ends as an error
		require.Equal(t, run.OutcomeFailed, result.Outcome, err)
		require.ErrorContains(t, err, "replies of the actor in a row are no action")
	}
	require.Contains(t, named, result.Outcome)
	require.Less(t, time.Since(began), 3*time.Minute, "it ends when it is told to")
	outcomes[result.Outcome]++
	conn, err := x11.Dial(s.Private.Display())
	require.NoError(t, err)
	defer func() { conn.Close(); <-conn.Closed() }()
	keys, err := xproto.QueryKeymap(conn.Conn).Reply()
	require.NoError(t, err)
	pointer, err := xproto.QueryPointer(conn.Conn, conn.Root).Reply()
	require.NoError(t, err)
	require.Zero(t, slices.Max(keys.Keys), "keys are down after %s", result.Outcome)
	require.Zero(t, pointer.Mask&0x1f00, "buttons are down after %s", result.Outcome)
	return journal
}
