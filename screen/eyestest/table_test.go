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
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the rows of the states that were judged into testdata/eyes.json")

// A row is what is recorded of a state. What is wrong today is there by kind: more is
// a failure.
type row struct {
	Wrong    int `json:"wrong"`    // places that reach something else
	Untrue   int `json:"untrue"`   // texts that are not there
	Unsaid   int `json:"unsaid"`   // texts that the data demands, or forbids
	Unlisted int `json:"unlisted"` // controls that a person marked
	Bytes    int `json:"bytes"`    // of the list now
	Before   int `json:"before"`   // of the list when the state was first judged
}

const tableFile = "testdata/eyes.json"

var (
	tableLock sync.Mutex
	judged    = map[string]*result{}
)

func table(t *testing.T) map[string]row {
	t.Helper()
	data, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	rows := map[string]row{}
	require.NoError(t, json.Unmarshal(data, &rows))
	return rows
}

// report holds a state against its row, and says what is wrong in it.
func report(t *testing.T, r *result) {
	t.Helper()
	tableLock.Lock()
	defer tableLock.Unlock()
	judged[r.State] = r
	rows := table(t)
	old, had := rows[r.State]
	now := row{r.Wrong, r.Untrue, r.Unsaid, r.Marked - r.Listed, r.Bytes, cmp.Or(old.Before, r.Bytes)}
	for _, p := range r.problems {
		t.Logf("%s: %.400s", r.State, p)
	}
	t.Log(r)
	if *update {
		rows[r.State] = now
		data, err := json.MarshalIndent(rows, "", "\t")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(tableFile, append(data, '\n'), 0o644))
		return
	}
	if !had {
		t.Errorf("%s has no row in %s: run with -update and look at the difference", r.State, tableFile)
		return
	}
	for _, c := range []struct {
		what     string
		now, old int
	}{{"places reach something else", now.Wrong, old.Wrong}, {"texts are not there", now.Untrue, old.Untrue},
		{"texts that the data demands or forbids are missing or there", now.Unsaid, old.Unsaid},
		{"marked controls are not listed", now.Unlisted, old.Unlisted}} {
		if c.now > c.old {
			t.Errorf("%s: %d %s, %d are known: see above", r.State, c.now, c.what, c.old)
		} else if c.now < c.old {
			t.Logf("%s: %d %s, and %d were known: run with -update", r.State, c.now, c.what, c.old)
		}
	}
}

// String is a row of the table in docs/eyes.md.
func (r *result) String() string {
	listed := "–"
	if r.Marked > 0 {
		listed = fmt.Sprintf("%d of %d", r.Listed, r.Marked)
	}
	return fmt.Sprintf("| %s | %d of %d | %d of %d | %d of %d | %s | %d |",
		r.State, r.Wrong, r.Places-r.Unknown, r.Untrue, r.Texts, r.Unsaid, r.Said, listed, r.Bytes)
}

// printTable prints all states that were judged.
func printTable() {
	if len(judged) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("| state | wrong places | texts not there | missing or false | listed of marked | bytes |\n|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(judged)) {
		fmt.Fprintln(&b, judged[name])
	}
	fmt.Print(b.String())
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if testing.Verbose() {
		printTable()
	}
	os.Exit(code)
}
