//go:build linux

package eyestest

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
	if r.unread { // what was not judged is as it was
		now.Texts, now.Untrue = old.Texts, old.Untrue
	}
	if r.moved {
		now.Marked, now.Unlisted = old.Marked, old.Unlisted
	}
	few := fallen(now, old)
	for _, what := range few {
		fail("%s: %s; of %d places nobody can tell", r.State, what, r.Unknown)
	}
	if *update && len(few) > 0 {
		fail("%s: it is not recorded: if that is right, take its row out of %s before", r.State, tableFile)
		return
	}
	if *update {
		rows[r.State] = now
		write(t, rows)
		return
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

// fallen says of what a row has fewer than the row before, so that it would pass for want of
// what could be wrong.
func fallen(now, old row) (list []string) {
	for _, c := range []struct {
		what            string
		now, old, least int
	}{
		{"places are judged", now.Places, old.Places, leastJudged(old.Places)},
		{"texts are compared", now.Texts, old.Texts, leastJudged(old.Texts)},
		{"texts are demanded or forbidden", now.Said, old.Said, old.Said},
		{"marks are looked for", now.Marked, old.Marked, old.Marked},
	} {
		if c.now < c.least {
			list = append(list, fmt.Sprintf("%d %s: %d were, and fewer than %d are too few", c.now, c.what, c.old, c.least))
		}
	}
	return list
}

// leastJudged is how many places or texts have to be judged of a state. One in six may be missing: on a
// busy machine a control that lights up is seen in time or not, and of a list that scrolls a row
// more or less is listed. Of fewer than six none may: they are told by a program.
func leastJudged(before int) int { return before - before/6 }

func TestLeastJudged(t *testing.T) {
	for judged, least := range map[int]int{0: 0, 3: 3, 6: 5, 24: 20, 255: 213} {
		assert.Equal(t, least, leastJudged(judged), "%d", judged)
	}
}

// TestFallen holds of each state that it fails when nothing is judged of it any more, and when one
// mark or text of its files is not asked for.
func TestFallen(t *testing.T) {
	for name, old := range table(t) {
		assert.Empty(t, fallen(old, old), name)
		assert.Len(t, fallen(row{}, old), b2i(old.Places > 0)+b2i(old.Texts > 0)+b2i(old.Said > 0)+b2i(old.Marked > 0), name)
		less := old
		less.Said, less.Marked = max(0, old.Said-1), max(0, old.Marked-1)
		assert.Len(t, fallen(less, old), b2i(old.Said > 0)+b2i(old.Marked > 0), name)
	}
}

// TestWhatTheTableClaims holds what docs/eyes.md says of all states: no place reaches something
// else, and where there is a tree, of what a person marked 95 of 100 are listed; that all marks
// are looked for; and how much is judged at least. Recording a state anew can not take that back
// unseen.
func TestWhatTheTableClaims(t *testing.T) {
	rows := table(t)
	var all row
	marked := map[string]bool{}
	for name, r := range rows {
		all.Places, all.Texts, all.Unsaid = all.Places+r.Places, all.Texts+r.Texts, all.Unsaid+r.Unsaid
		assert.Zero(t, r.Wrong, "%s: places that reach something else", name)
		if name != noTree {
			assert.LessOrEqual(t, 20*r.Unlisted, r.Marked, "%s: marked, and not listed", name)
		}
		_, _, list := marksOf(t, name)
		assert.Equal(t, len(list), r.Marked, "%s: marks that are looked for", name)
		marked[filepath.Base(marksFile(name))] = true
	}
	assert.GreaterOrEqual(t, all.Places, 2200, "places that are judged")
	assert.GreaterOrEqual(t, all.Texts, 1900, "texts that are compared")
	assert.LessOrEqual(t, all.Unsaid, 1, "texts that are missing or there: the day that is chosen in a calendar")
	files, err := os.ReadDir(filepath.Dir(marksFile("")))
	require.NoError(t, err)
	for _, f := range files {
		assert.True(t, marked[f.Name()], "%s: marks of no state", f.Name())
	}
}

// noTree is the state of a program of GTK 2 (TestPcmanfm), which tells no tree.
const noTree = "pcmanfm/icons"

// TestSums holds that the page gives the sums of the rows that are recorded, and names the
// states of which texts are not read where they are listed.
func TestSums(t *testing.T) {
	rows := table(t)
	programs, judged := map[string]bool{}, map[string]bool{}
	states, marked, listed, texts := 0, 0, 0, 0
	var untrue []string
	for name, r := range rows {
		program, _, _ := strings.Cut(name, "/")
		programs[program] = true
		if r.Places > 0 {
			judged[program] = true
			states++
		}
		if name != noTree {
			marked, listed = marked+r.Marked, listed+r.Marked-r.Unlisted
		}
		if texts += r.Untrue; r.Untrue > 0 {
			untrue = append(untrue, name)
		}
	}
	assert.GreaterOrEqual(t, states, 43, "states that are judged by place")
	assert.GreaterOrEqual(t, len(judged), 10, "programs that are")
	file, err := os.ReadFile(page)
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(file)), " ")
	share := func(name string) string {
		return fmt.Sprintf("%d of %d", rows[name].Marked-rows[name].Unlisted, rows[name].Marked)
	}
	wrong := fmt.Sprintf("%d texts of %d states are not read where the list says that they are", texts, len(untrue))
	for _, sum := range []string{
		fmt.Sprintf("%d of the %d states are judged by place, of %d of %d programs", states, len(rows), len(judged), len(programs)),
		fmt.Sprintf("%s of %s marked controls are listed, %d %%", thousands(listed), thousands(marked), 100*listed/marked),
		fmt.Sprintf("Of Writer's window %d of %d are not", rows["writer/document"].Unlisted, rows["writer/document"].Marked),
		share("thunar/icons") + " of Thunar's icons are", share("zenity/calendar") + " of a calendar", share(noTree) + " of pcmanfm",
		wrong,
	} {
		assert.True(t, strings.Contains(text, sum), "%s does not say %q", page, sum)
	}
	_, why, _ := strings.Cut(text, wrong)
	why, _, _ = strings.Cut(why, "it is not known")
	for _, name := range untrue {
		assert.True(t, strings.Contains(why, "`"+name+"`"), "%s does not say of %s why", page, name)
	}
}

// thousands writes a number as the page does.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
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
