package guard

import (
	"context"
	"fmt"
	"strings"

	"desktop-agent/actuator"
	"desktop-agent/llm"
	"desktop-agent/run"
)

// Accept asks a person about what a provider has against a call of its model. Nobody else
// can accept it: no table, no foresight, and no leave that was given for a kind of action;
// and it is accepted for this call alone. Another action is not done in its place: the call is
// the model's, and may be several.
func (g *Guard) Accept(ctx context.Context, c run.Concern) (by string, err error) {
	if g.Approve == Never || g.Approve == "" {
		return "", fmt.Errorf("%s: nobody is asked for approval", checkWords(c.Checks))
	}
	if g.Ask == nil {
		return "", fmt.Errorf("%s: %w", checkWords(c.Checks), errNobody)
	}
	in := run.Intent{Action: actuator.Wait{Milliseconds: 1}, On: c.On, Index: c.Index}
	words := []string{"look at the screen"}
	if len(c.Actions) > 0 {
		in.Action, words = c.Actions[0], nil
	}
	for _, a := range c.Actions {
		words = append(words, actuator.DescribeFull(a))
	}
	q := g.approval(in, Classify(in), decision{reason: "the provider of the model raised a safety check: " + checkWords(c.Checks)}, nil)
	q.Action, q.Once = strings.Join(words, "; "), true
	if _, err := g.ask(ctx, in, q); err != nil {
		return "", err
	}
	return "a person", nil
}

// checkWords tells checks on one line.
func checkWords(list []llm.Check) string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = llm.OneLine(c.Code)
		if c.Message != "" {
			words[i] += " (" + llm.OneLine(c.Message) + ")"
		}
	}
	return strings.Join(words, "; ")
}
