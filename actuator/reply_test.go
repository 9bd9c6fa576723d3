package actuator

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSplitLabels(t *testing.T) {
	for _, tt := range []struct{ name, text, thought, expect string }{
		{"both", "Thought: I see a menu.\nExpect: It opens.\n", "I see a menu.", "It opens."},
		{"several lines", "Thought: one\ntwo: three\n\nfour\nExpect:\nfive\nsix", "one\ntwo: three\n\nfour", "five\nsix"},
		{"prose", "I click on it.", "I click on it.", ""},
		{"prose before a label", "So.\nExpect: it opens", "So.", "it opens"},
		{"other order", "Expect: a\nThought: b", "b", "a"},
		{"markdown", "**Thought:** a\n### Expected effect: b\n- **Action**: c", "a", "b"},
		{"upper case", "THOUGHT: a\nEXPECT: b", "a", "b"},
		{"twice", "Thought: a\nThought: b", "a\n\nb", ""},
		{"stars that are meant", "Thought: *.txt\nExpect: **bold**", "*.txt", "**bold**"},
		{"CRLF", "Thought: a\r\nExpect: b\r\n", "a", "b"},
		{"a word in a sentence", "I thought: no", "I thought: no", ""},
		{"empty", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			thought, expect := SplitLabels(tt.text)
			assert.Equal(t, tt.thought, thought)
			assert.Equal(t, tt.expect, expect)
		})
	}
}

func TestTooLong(t *testing.T) {
	assert.NoError(t, TooLong(MaxReply))
	assert.ErrorContains(t, TooLong(MaxReply+1), "short actions")
}
