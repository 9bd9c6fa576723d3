package dialect

import (
	"errors"
	"strings"

	"desktop-agent/actuator"
)

// faraVerbs are what Fara does beside the actions of Qwen's form. It was made for
// browsers: what is the browser's own, the keys of any browser do here.
var faraVerbs = map[string]Verb{
	"visit_url": Visits("url"), "web_search": Visits("query"),
	"history_back":            Does(actuator.Press{Keys: []actuator.Key{"alt", "left"}, Count: 1}),
	"refresh":                 Does(actuator.Press{Keys: []actuator.Key{"f5"}, Count: 1}),
	"pause_and_memorize_fact": observeAgain, // the fact stays in the conversation, as it was written
	"ask_user_question":       asks("question", "text"),
	"type":                    typeFara,
}

// typeFara types, after a click where a point is given; over what is there, and with
// Enter, if it says so.
func typeFara(c Call, s Space) ([]actuator.Action, error) {
	text, err := c.Text("text", "text_value", "content")
	if err != nil {
		return nil, err
	}
	at, err := c.Point(s, qwenPoint...)
	if err != nil {
		return nil, err
	}
	var list []actuator.Action
	if at != nil {
		list = append(list, actuator.Click{At: at, Button: actuator.Left, Count: 1})
	}
	if c.Flag(false, "delete_existing_text") {
		list = append(list, actuator.Press{Keys: []actuator.Key{"ctrl", "a"}, Count: 1})
		if text == "" {
			list = append(list, actuator.Press{Keys: []actuator.Key{"delete"}, Count: 1})
		}
	}
	if c.Flag(false, "press_enter") && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if text != "" {
		list = append(list, actuator.Type{Text: actuator.Secret(text)})
	}
	if len(list) == 0 {
		return nil, errors.New("type types nothing; write the text")
	}
	return list, nil
}
