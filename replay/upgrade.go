package replay

import (
	"reflect"

	"desktop-agent/llm"
	"desktop-agent/run"
)

// An upgrade makes events of older schemas those of the present one.
//
// Schema 1 wrote each conversation of a model in full, kept neither states nor
// texts of the accessibility tree, did not name screens, and had no hashes.
type upgrade struct {
	schema int
	asked  map[conversation][]run.Message
}

// A conversation is what calls of one role for one purpose make.
type conversation struct {
	role    llm.Role
	purpose string
}

func (u *upgrade) event(data run.EventData) run.EventData {
	switch data := data.(type) {
	case run.RunStarted:
		u.schema = data.Schema
	case run.ModelCalled:
		if u.schema == 1 {
			return u.call(data)
		}
	}
	return data
}

// call leaves out what a conversation has in common with the one before.
func (u *upgrade) call(c run.ModelCalled) run.ModelCalled {
	key := conversation{c.Role, c.Purpose}
	before := u.asked[key]
	if u.asked == nil {
		u.asked = map[conversation][]run.Message{}
	}
	u.asked[key] = c.Messages
	c.Shared = 0 // schema 1 had no such field: what a file says there counts nothing
	for c.Shared < min(len(before), len(c.Messages)) && reflect.DeepEqual(before[c.Shared], c.Messages[c.Shared]) {
		c.Shared++
	}
	c.Messages = c.Messages[c.Shared:]
	return c
}
