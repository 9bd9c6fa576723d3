package tasks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The rule for metrics of one file, and for those of several.
func TestOneAndAllFiles(t *testing.T) {
	a, b := File{Path: "a"}, File{Path: "b"}
	for _, tt := range []struct {
		name         string
		v            Value
		one          string
		all          Files
		wrong, noOne string // part of the errors
	}{
		{name: "a file", v: a, one: "a", all: Files{a}},
		{name: "a list of one", v: Files{a}, one: "a", all: Files{a}},
		{name: "several", v: Files{a, b}, noOne: "one file is wanted, not 2", all: Files{a, b}},
		{name: "the first of several is missing", v: Files{{}, b}, noOne: "one file is wanted, not 2", all: Files{{}, b}},
		{name: "a missing file", v: File{}, noOne: "there is no file", all: Files{{}}},
		{name: "a list of a missing file", v: Files{{}}, noOne: "there is no file", all: Files{{}}},
		{name: "an empty list", v: Files{}, noOne: "there is no file", wrong: "there is no file"},
		{name: "nothing", v: nil, noOne: "there is no file", wrong: "there is no file"},
		{name: "a text", v: "a", noOne: "a file is wanted, not string", wrong: "a file is wanted, not string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, err := OneFile(tt.v)
			if assert.Equal(t, tt.one, one); tt.noOne == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.noOne)
			}
			all, err := AllFiles(tt.v)
			if assert.Equal(t, tt.all, all); tt.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.wrong)
			}
		})
	}
}
