package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"desktop-agent/llm"
)

// A Cost is what a judgement took.
type Cost struct {
	Usage   llm.Usage `json:"usage"`
	Calls   int       `json:"calls"`
	Model   string    `json:"model"`   // the name in the prices, or else as the endpoint names it
	Dollars float64   `json:"dollars"` // by the prices; 0 if the model has none
}

// againPrompt is the data of prompts/again.tmpl.
type againPrompt struct{ Problem string }

// ask asks until a reply is a valid verdict, or the replies are used up.
func ask[T reply](ctx context.Context, j *Judge, req *llm.Request, x *exhibit) (*Verdict, Cost, error) {
	m := &meter{model: j.Model, most: j.Replies}
	asked := *req
	for {
		r, err := llm.Decode[T](ctx, llm.InFront(m, j.Model), &asked)
		if err != nil {
			return nil, m.spent(j.Prices), m.explain(err)
		}
		v, problem := r.verdict(x)
		if problem == "" {
			if v == nil {
				return nil, m.spent(j.Prices), ErrUndecided
			}
			return v, m.spent(j.Prices), nil
		}
		m.problem = problem
		if asked.Messages, err = again(asked.Messages, r, problem); err != nil {
			return nil, m.spent(j.Prices), err
		}
	}
}

// again adds a reply and what is wrong with it to the conversation.
func again(messages []llm.Message, r any, problem string) ([]llm.Message, error) {
	said, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	text, err := prompts.Render("again", againPrompt{Problem: problem})
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(messages),
		llm.Message{From: llm.Assistant, Parts: []llm.Part{llm.Text(said)}}, llm.UserText(text)), nil
}

// A meter passes requests on, counts what they cost and ends the asking.
type meter struct {
	model   llm.Model
	most    int // calls
	cost    Cost
	problem string // with the last reply that followed the schema
}

// errSpent ends the asking.
var errSpent = errors.New("no more replies are asked for")

// Complete passes a request on, unless too many came before.
func (m *meter) Complete(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	if m.cost.Calls >= m.most {
		return nil, errSpent
	}
	m.cost.Calls++
	resp, err := m.model.Complete(ctx, r)
	if e, ok := errors.AsType[*llm.Error](err); ok {
		m.cost.Usage = m.cost.Usage.Plus(e.Usage)
	}
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return nil, &llm.Error{Kind: llm.ErrBadReply, Detail: "there is no reply"}
	}
	u := resp.Usage
	if u == (llm.Usage{}) { // the endpoint does not count
		u = llm.Usage{Input: llm.Estimate(r).Input, Output: (len(resp.Text) + 2) / 3}
	}
	m.cost.Usage, m.cost.Model = m.cost.Usage.Plus(u), resp.Model
	return resp, nil
}

// spent returns the cost so far.
func (m *meter) spent(prices llm.Prices) Cost {
	if s, ok := llm.SettingsOf(m.model, Role); ok && s.Model != "" {
		m.cost.Model = s.Model
	}
	m.cost.Dollars = prices.Cost(m.cost.Model, m.cost.Usage)
	return m.cost
}

// explain says why there is no verdict where the replies were used up.
func (m *meter) explain(err error) error {
	if !errors.Is(err, errSpent) {
		return err
	}
	problem := m.problem
	if problem == "" {
		problem = "they did not follow the schema"
	}
	return &llm.Error{Kind: llm.ErrBadReply, Detail: fmt.Sprintf("%s: no valid verdict in %d replies, the last because: %s", Role, m.most, clip(problem, 600)), Err: err}
}
