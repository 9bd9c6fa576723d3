package llm_test

import (
	"context"
	"fmt"

	"desktop-agent/llm"
	"desktop-agent/llm/llmtest"
)

// An answer with a schema: what does not follow it is asked for again.
func ExampleDecode() {
	type answer struct {
		Seen  bool    `json:"seen" jsonschema:"whether the dialog is open"`
		Title *string `json:"title" jsonschema:"its title, or null"`
	}
	replies := &llmtest.Script{Replies: map[llm.Role][]llmtest.Func{llm.WorldModel: {
		llmtest.Text("Yes, the dialog is open."),
		llmtest.Text(`{"seen": true, "title": "Save As"}`),
	}}}
	client := &llm.Client{
		Model:   replies,
		Default: llm.Settings{Model: "some-model", MaxTokens: 500},
		Budget:  &llm.Budget{MaxCalls: 10},
	}
	a, err := llm.Decode[answer](context.Background(), client, &llm.Request{
		Role: llm.WorldModel, Messages: []llm.Message{llm.UserText("Is a dialog open?")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Seen, *a.Title, client.Budget.Spent().Calls)
	// Output: true Save As 2
}
