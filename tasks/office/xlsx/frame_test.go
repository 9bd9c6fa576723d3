package xlsx

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldens are what testdata/make.py found out from pandas.
type goldens struct {
	Sheets map[string]struct{ Headers, Types, Last []string }
	Equal  map[string][]string
}

func readGoldens(t *testing.T) (*Book, goldens) {
	t.Helper()
	data, err := os.ReadFile("testdata/frames.json")
	require.NoError(t, err)
	var g goldens
	require.NoError(t, json.Unmarshal(data, &g))
	b, err := Open("testdata/frames.xlsx", "result")
	require.NoError(t, err)
	t.Cleanup(b.Close)
	require.Len(t, b.Sheets, len(g.Sheets))
	return b, g
}

func readFrame(t *testing.T, b *Book, name string) *Frame {
	t.Helper()
	s, err := b.Sheet(name)
	require.NoError(t, err)
	f, err := s.Frame()
	require.NoError(t, err)
	return f
}

func TestFrames(t *testing.T) {
	b, g := readGoldens(t)
	for name, want := range g.Sheets {
		f := readFrame(t, b, name)
		headers, types := []string{}, []string{}
		for i := range f.headers {
			headers = append(headers, PyStr(f.headers[i]))
			kind := f.columns[i].kind
			if isDates(f.columns[i]) {
				kind = "datetime64[ns]"
			}
			types = append(types, kind)
		}
		assert.Equal(t, want.Headers, headers, name)
		assert.Equal(t, want.Types, types, name)
		// That version reads no spans of time, which later ones do.
		if want.Last != nil && name != "spans" {
			assert.Equal(t, want.Last, f.lastRow(), name)
		}
	}
}

// TestFrameEqual compares all sheets with all, as pandas does.
func TestFrameEqual(t *testing.T) {
	b, g := readGoldens(t)
	for precision, decimals := range map[string]int{"4": 4, "0": 0, "-1": -1, "7": 7} {
		frames := map[string]*Frame{}
		for name := range g.Sheets {
			frames[name] = readFrame(t, b, name)
			frames[name].Round(decimals, false)
		}
		for name, f := range frames {
			for other, h := range frames {
				want := name == other || slices.Contains(g.Equal[precision], min(name, other)+" "+max(name, other))
				why := f.Differs(h)
				assert.Equal(t, want, why == "", "%s and %s to %s decimals: %s", name, other, precision, why)
			}
		}
	}
}

func TestFrameDiffers(t *testing.T) {
	b, _ := readGoldens(t)
	for _, tt := range []struct{ name, other, want string }{
		{"ints", "gap", "cell B3 is 4, expected blank"},
		{"ints", "header", "cell A2 is 1, expected not there"},
		{"ints", "dup", `the header of column B is "b", expected "a.2"`},
		{"ints", "single2", `the header of column B is "b", expected not there`},
		{"bools", "boolnum", "column A (a) is of type bool, expected int64"},
		{"mixed", "mixedtext", `cell B3 is 4, expected "4"`},
		{"dates", "datesgap", "cell A3 is 2023-05-06 07:08:09, expected blank"},
	} {
		assert.Equal(t, tt.want, readFrame(t, b, tt.name).Differs(readFrame(t, b, tt.other)), "%s %s", tt.name, tt.other)
	}
}

func TestLastRow(t *testing.T) {
	row, err := LastRow("testdata/frames.xlsx")
	require.NoError(t, err)
	assert.Equal(t, []string{"3", "4"}, row)
	_, err = LastRow("testdata/absent.xlsx")
	require.ErrorContains(t, err, "missing")
	_, err = LastRow("testdata/make.py")
	require.ErrorContains(t, err, ".py")
}

func TestPyFloat(t *testing.T) {
	for want, f := range map[string]float64{
		"1.0": 1, "0.1": 0.1, "1e+16": 1e16, "1000000000000000.0": 1e15, "0.0001": 1e-4, "1e-05": 1e-5, "-2.5": -2.5,
		"1.5e+300": 1.5e300, "0.0": 0,
	} {
		assert.Equal(t, want, pyFloat(f))
	}
}

// TestDates has the formats that openpyxl takes for dates.
func TestDates(t *testing.T) {
	for format, want := range map[string]bool{
		"General": false, "0.00": false, "yyyy-mm-dd": true, "h:mm": true, "[h]:mm": true, `0" days"`: false, "[Red]0": false,
		"[$-409]0": false, `0\d`: false, "0_d": false, "0;yyyy": false, "d": true, "0.00E+00": false, `#,##0.00\ [$SEK]`: false,
	} {
		assert.Equal(t, want, isDateFormat(format), format)
	}
	assert.True(t, elapsed.MatchString("[hh]:mm"))
	assert.False(t, elapsed.MatchString("hh:mm"))
}
