//go:build linux

package eyestest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the rows of the states that were judged into testdata/eyes.json")

// A row is what is recorded of a state. What is wrong today is there by kind: more is
// a failure.
type row struct {
	Places   int  `json:"places"`            // that were tried, and told of: the judged ones
	Unknown  *int `json:"unknown,omitempty"` // that nobody can tell of; nil if they were not counted when it was recorded
	Wrong    int  `json:"wrong"`             // of them, those that reach something else
	Texts    int  `json:"texts"`             // that were compared with the picture
	Untrue   int  `json:"untrue"`            // of them, those that are not there
	Said     int  `json:"said"`              // texts that the data demands, or forbids
	Unsaid   int  `json:"unsaid"`            // of them, those that are missing, or there
	Marked   int  `json:"marked"`            // controls that a person marked
	Unlisted int  `json:"unlisted"`          // of them, those that are not listed
	Bytes    int  `json:"bytes"`             // of the list now
	Before   int  `json:"before"`            // of the list when the state was first judged
}

// Where rows are kept, and the page that shows them between two lines.
const (
	tableFile  = "testdata/eyes.json"
	page       = "../../docs/eyes.md"
	tableBegin = "<!-- table: go test -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

func table(t *testing.T) map[string]row {
	t.Helper()
	data, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	rows := map[string]row{}
	require.NoError(t, json.Unmarshal(data, &rows))
	return rows
}

// report holds a state against its row, and says what is wrong in it, and what was listed
// where it is worse than its row.
func report(t *testing.T, r *result, list string) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf(format, args...)
		if list != "" {
			t.Logf("%s: this was listed:\n%s", r.State, list)
			list = ""
		}
	}
	rows := table(t)
	old := rows[r.State] // nothing is known to be wrong of a state without a row
	now := row{
		Places: r.Places - r.Unknown, Unknown: &r.Unknown, Wrong: r.Wrong, Texts: r.Texts, Untrue: r.Untrue, Said: r.Said, Unsaid: r.Unsaid,
		Marked: r.Marked, Unlisted: r.Marked - r.Listed, Bytes: r.Bytes, Before: cmp.Or(old.Before, r.Bytes),
	}
	for _, p := range r.problems {
		t.Logf("%s: %.400s", r.State, p)
	}
	t.Log(now.line(r.State))
	if *update {
		rows[r.State] = now
		write(t, rows)
		return
	}
	if least := leastJudged(old); now.Places < least {
		fail("%s: %d places are judged, and nobody can tell of %d: %d were judged, and fewer than %d are too few", r.State, now.Places, r.Unknown, old.Places, least)
	}
	for _, c := range []struct {
		what     string
		now, old int
	}{{"places reach something else", now.Wrong, old.Wrong}, {"texts are not there", now.Untrue, old.Untrue},
		{"texts that the data demands or forbids are missing or there", now.Unsaid, old.Unsaid},
		{"marked controls are not listed", now.Unlisted, old.Unlisted}} {
		if c.now > c.old {
			fail("%s: %d %s, %d are known: see above", r.State, c.now, c.what, c.old)
		} else if c.now < c.old {
			t.Logf("%s: %d %s, and %d were known: run with -update", r.State, c.now, c.what, c.old)
		}
	}
}

// leastJudged is how many places have to be judged of a state. One in six may be missing: on a
// busy machine a control that lights up is seen in time or not, and of a list that scrolls a row
// more or less is listed. Of fewer than six none may: they are told by a program.
func leastJudged(old row) int { return old.Places - old.Places/6 }

func TestLeastJudged(t *testing.T) {
	for judged, least := range map[int]int{0: 0, 3: 3, 6: 5, 24: 20, 255: 213} {
		assert.Equal(t, least, leastJudged(row{Places: judged}), "%d", judged)
	}
}

// TestWhatTheTableClaims holds what docs/eyes.md says of all states: no place reaches something
// else, and where there is a tree, of what a person marked 95 of 100 are listed; and how many
// states and programs are judged by place. Recording a state anew can not take that back unseen.
func TestWhatTheTableClaims(t *testing.T) {
	rows := table(t)
	programs, judged, states := map[string]bool{}, map[string]bool{}, 0
	for name, r := range rows {
		program, _, _ := strings.Cut(name, "/")
		programs[program] = true
		if r.Places > 0 {
			judged[program] = true
			states++
		}
		assert.Zero(t, r.Wrong, "%s: places that reach something else", name)
		if name != "pcmanfm/icons" { // of GTK 2 (TestPcmanfm), which tells no tree
			assert.LessOrEqual(t, 20*r.Unlisted, r.Marked, "%s: marked, and not listed", name)
		}
	}
	assert.GreaterOrEqual(t, states, 15, "states that are judged by place")
	assert.GreaterOrEqual(t, len(judged), 10, "programs that are")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	said := fmt.Sprintf("%d of the %d states are judged by place, of %d of %d programs", states, len(rows), len(judged), len(programs))
	assert.True(t, strings.Contains(string(text), said), "%s does not say %q", page, said)
}

// line is a row of the table in docs/eyes.md.
func (r row) line(name string) string {
	share := "–"
	if r.Marked > 0 {
		share = fmt.Sprintf("%d of %d", r.Marked-r.Unlisted, r.Marked)
	}
	unknown := "–"
	if r.Unknown != nil {
		unknown = fmt.Sprint(*r.Unknown)
	}
	return fmt.Sprintf("| %s | %d of %d | %s | %d of %d | %d of %d | %s | %d | %d |",
		name, r.Wrong, r.Places, unknown, r.Untrue, r.Texts, r.Unsaid, r.Said, share, r.Before, r.Bytes)
}

// write keeps the rows, and puts them into the page.
func write(t *testing.T, rows map[string]row) {
	t.Helper()
	data, err := json.MarshalIndent(rows, "", "\t")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(tableFile, append(data, '\n'), 0o644))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), tableBegin)
	require.True(t, ok, "%s has no table", page)
	_, tail, ok := strings.Cut(rest, tableEnd)
	require.True(t, ok, "the table of %s has no end", page)
	require.NoError(t, os.WriteFile(page, []byte(head+tableBegin+tableOf(rows)+tableEnd+tail), 0o644))
}

// tableOf shows rows for people.
func tableOf(rows map[string]row) string {
	var b strings.Builder
	b.WriteString("| state | wrong places | not known | texts not there | missing or false | listed of marked | bytes at first | bytes |\n|---|---|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintln(&b, rows[name].line(name))
	}
	return b.String()
}

// TestPage holds that the page shows the rows that are recorded.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), tableBegin+tableOf(table(t))+tableEnd, "run with -update")
}
