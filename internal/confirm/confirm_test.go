package confirm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"desktop-agent/internal/confirm"
)

// TestRead holds how an answer is read, and that nothing but a plain yes is one.
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		answer, word, rest string
		yes                bool
	}{
		{"yes", confirm.Yes, "", true},
		{"y", confirm.Yes, "", true},
		{"YES", confirm.Yes, "", true},
		{" Yes!\n", confirm.Yes, "", true},
		{"yes .", confirm.Yes, "", true},
		{"yes, but not the last one", confirm.Yes, "but not the last one", false},
		{"yes\tif it is cheap", confirm.Yes, "if it is cheap", false},
		{"yes?", "yes?", "", false},
		{"yes,no", "yes,no", "", false},
		{"yesterday", "yesterday", "", false},
		{"yeah", "yeah", "", false},
		{"yup", "yup", "", false},
		{"no", confirm.No, "", false},
		{"N", confirm.No, "", false},
		{"No, it is too dear.", confirm.No, "it is too dear.", false},
		{"not yes", "not", "yes", false},
		{"Edit: pyautogui.press('Esc')", "edit", "pyautogui.press('Esc')", false},
		{"done.", "done", "", false},
		{"", "", "", false},
		{" \n", "", "", false},
	} {
		word, rest := confirm.Read(tt.answer)
		assert.Equal(t, tt.word, word, "%q", tt.answer)
		assert.Equal(t, tt.rest, rest, "%q", tt.answer)
		assert.Equal(t, tt.yes, confirm.IsYes(tt.answer), "%q", tt.answer)
	}
}
