package report

import (
	"fmt"
	"unicode/utf8"

	"desktop-agent/run"
)

// cut leaves out what the models read and wrote beyond so many bytes. The
// replies come first: they say more than the prompts.
func (s *stepView) cut(limit int) {
	left := limit
	for _, c := range s.Calls {
		gone := 0
		take := func(text *string) {
			whole := len(*text)
			*text = head(*text, left)
			left -= len(*text)
			gone += whole - len(*text)
		}
		if c.Response != nil {
			reply := *c.Response
			take(&reply.Text)
			c.Response = &reply
		}
		c.Messages = append([]run.Message(nil), c.Messages...)
		for i := range c.Messages {
			take(&c.Messages[i].Text)
		}
		if gone > 0 {
			c.Cut = fmt.Sprintf("%s bytes are left out here, as the run is long. The journal has them.", count(gone))
		}
	}
}

// head returns the beginning of a text, not more than n bytes.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n = max(0, n)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// clip shortens a text to about n bytes, and shows that it did.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return head(text, n) + "…"
}
