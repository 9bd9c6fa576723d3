package offline_test

import (
	"fmt"
	"image"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/replay"
	"desktop-agent/run"
	"desktop-agent/screen"
)

// smaller says in a list of changes that it is cut.
const smaller = " smaller changes"

// looks calls each with every observation of some runs and the one before it, nil for a run's first.
func looks(t *testing.T, dirs []string, each func(before, now *screen.Observation)) {
	for _, dir := range dirs {
		var before *screen.Observation
		for e, err := range open(t, dir).Events() {
			require.NoError(t, err)
			if o, ok := e.Data.(run.Observed); ok {
				now := replay.Recall(&o)
				each(before, now)
				before = now
			}
		}
	}
}

// TestListSize measures the lists of what is on the screen, and of what changed on it, of
// all recorded runs, and of those that compare planning: docs/eyes.md tells what they were at
// first, of which they are 60.4 % and 60 % at most. None of the changes is cut.
func TestListSize(t *testing.T) {
	comparing, err := filepath.Glob("../../suites/desktop/compared/*/*/*/1")
	require.NoError(t, err)
	for name, of := range map[string]struct {
		dirs []string
		most int // bytes of a list, on an average: of the first version it was 1,121 and 3,861
	}{"recorded": {recordedRuns(t), 678}, "comparing": {comparing, 2316}} {
		t.Run(name, func(t *testing.T) {
			seen, list, points, compared, changes, cut := 0, 0, 0, 0, 0, 0
			looks(t, of.dirs, func(before, now *screen.Observation) {
				seen, list, points = seen+1, list+len(now.Text(0)), points+len(now.TextOn(0, 0))
				if before != nil {
					text := screen.DescribeChanges(before, now)
					compared, changes = compared+1, changes+len(text)
					if strings.Contains(text, smaller) {
						cut++
					}
				}
			})
			t.Logf("%d lists have %d bytes, and with all places %d; %d lists of changes have %d, and %d are cut", seen, list, points, compared, changes, cut)
			assert.Greater(t, compared, 50)
			assert.LessOrEqual(t, list, of.most*seen)
			assert.Zero(t, cut)
		})
	}
}

// TestListPlaces holds of all recorded lists that a place which is told is where a click is
// aimed by the ID, and that of an ID without one, which could be clicked, what the prompt
// says is true: it lies to the right of the element before it in its row, or below the first
// of the line above.
func TestListPlaces(t *testing.T) {
	told, untold := 0, 0
	for _, dir := range recordedRuns(t) {
		for e, err := range open(t, dir).Events() {
			require.NoError(t, err)
			if o, ok := e.Data.(run.Observed); ok {
				with, without := readPlaces(t, replay.Recall(&o))
				told, untold = told+with, untold+without
			}
		}
	}
	t.Logf("%d elements are told with their place, %d without", told, untold)
	assert.Greater(t, untold, 1000)
}

var (
	quoted  = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	element = regexp.MustCompile(`\bn\d+\b`)
	place   = regexp.MustCompile(`@(\d+)(?:,(\d+))?`)
)

// readPlaces reads a list as a model does, and counts the IDs with and without a place.
func readPlaces(t *testing.T, o *screen.Observation) (told, untold int) {
	index := map[string]int{}
	for i, n := range o.Tree.Nodes {
		index[n.ID] = i
	}
	var above image.Rectangle // of the first element with an ID in the line above
	var before image.Rectangle
	text := o.Text(0)
	for line := range strings.Lines(text) {
		bare := quoted.ReplaceAllString(line, `""`)
		if strings.Contains(bare, "empty cells, from") {
			continue
		}
		goesOn := strings.HasPrefix(strings.TrimSpace(bare), ";")
		if !goesOn {
			before = image.Rectangle{}
		}
		var first image.Rectangle
		y := 0
		for piece := range strings.SplitSeq(strings.TrimSpace(bare), "; ") {
			id := element.FindString(piece)
			i, known := index[id]
			if id == "" || !known {
				continue
			}
			n := o.Tree.Nodes[i]
			_, at, ok := o.PointOf(i)
			if m := place.FindStringSubmatch(piece); m != nil && strings.Count(piece, "@") == 1 && len(element.FindAllString(piece, -1)) == 1 {
				var x int
				_, err := fmt.Sscan(m[1], &x)
				require.NoError(t, err)
				if m[2] != "" {
					_, err = fmt.Sscan(m[2], &y)
					require.NoError(t, err)
				}
				told++
				require.True(t, ok, "%s of\n%s", id, text)
				require.Equal(t, at, image.Pt(x, y), "%s of\n%s", id, text)
			} else if m == nil && ok && !n.Has("disabled") {
				untold++
				if before != (image.Rectangle{}) {
					require.Greater(t, n.Box.Min.X, before.Min.X, "%s of\n%s", id, text)
					require.Less(t, max(n.Box.Min.Y, before.Min.Y), min(n.Box.Max.Y, before.Max.Y), "%s of\n%s", id, text)
				} else {
					require.NotEqual(t, image.Rectangle{}, above, "%s of\n%s", id, text)
					require.Greater(t, n.Box.Min.Y, above.Min.Y, "%s of\n%s", id, text)
					require.Less(t, max(n.Box.Min.X, above.Min.X), min(n.Box.Max.X, above.Max.X), "%s of\n%s", id, text)
				}
			}
			if before = n.Box; first == (image.Rectangle{}) {
				first = n.Box
			}
		}
		if said := quoted.FindString(line); first == (image.Rectangle{}) && said != "" { // a text, or disabled
			for _, n := range o.Tree.Nodes {
				if name := strconv.Quote(n.Name); name == said && n.Parent >= 0 {
					first = n.Box
				}
			}
		}
		if first != (image.Rectangle{}) && !goesOn {
			above = first
		}
	}
	return told, untold
}
