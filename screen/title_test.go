package screen

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnmarked(t *testing.T) {
	for _, tt := range []struct {
		title, name string
		marked      bool
	}{
		{"*notes.txt - Mousepad", "notes.txt - Mousepad", true},
		{" * notes.txt ", "notes.txt", true},
		{"● notes.txt - Visual Studio Code", "notes.txt - Visual Studio Code", true},
		{"• notes.txt", "notes.txt", true},
		{"notes.txt *", "notes.txt", true},
		{"notes.txt ●", "notes.txt", true},
		{"notes.txt•", "notes.txt", true},
		{"notes.txt (modified)", "notes.txt", true},
		{"notes.txt [modified]", "notes.txt", true},
		{"notes.txt [+]", "notes.txt", true},
		{"notes.txt[+]", "notes.txt", true},
		{"*", "", true},
		{" notes.txt - Editor ", "notes.txt - Editor", false},
		{"2 * 3 - Editor", "2 * 3 - Editor", false},
		{"(modified) notes.txt", "(modified) notes.txt", false},
		{"", "", false},
	} {
		name, marked := Unmarked(tt.title)
		assert.Equal(t, tt.name, name, "%q", tt.title)
		assert.Equal(t, tt.marked, marked, "%q", tt.title)
	}
}
