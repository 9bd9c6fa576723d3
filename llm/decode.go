package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// reasks is how often Decode asks again after a reply that does not fit. Two
// help models that wrap or forget something; more only cost.
const reasks = 2

// maxReply bounds the bytes of a reply that are looked at, and maxQuote those
// that are shown again in a question or an error.
const (
	maxReply = 1 << 20
	maxQuote = 4000
)

// Decode sends the request and returns its reply as a T, which must be a struct;
// [SchemaFor] says what its fields may be. The schema goes with the request; one
// that the request has already is used instead. The reply is validated before it
// is decoded, so that nothing missing becomes a zero, and nothing unknown is
// dropped. It is never repaired: when it does not fit, the model is told why
// and asked again, twice at most, all within the deadline of one call; after
// that, or where it declined, the error is an [ErrBadReply] that quotes the last problem.
func Decode[T any](ctx context.Context, m Model, req *Request) (T, error) {
	var zero T
	r := *req
	if r.Schema == nil {
		s, err := SchemaFor[T]()
		if err != nil {
			return zero, err
		}
		r.Schema = s
	}
	if s, ok := SettingsOf(m, r.Role); ok {
		d := s.Deadline
		limited, cancel := context.WithTimeoutCause(ctx, d, &Error{
			Kind: ErrTimeout, Detail: fmt.Sprintf("no valid reply within %v", d), Err: context.DeadlineExceeded})
		defer cancel()
		ctx = limited
	}
	for n := 0; ; n++ {
		resp, _, err := CompleteTurn(ctx, m, &r)
		if err != nil {
			return zero, err
		}
		v, err := decode[T](resp, r.Schema)
		if err == nil {
			return v, nil
		}
		if n == reasks || resp.Ending() == Declined {
			return zero, badReply(&r, resp, n+1, err)
		}
		if r.Messages, err = reask(req.Messages, resp, err); err != nil {
			return zero, err
		}
	}
}

// Terms are what an answer must meet that a schema cannot say.
type Terms[T any] struct {
	// Problem returns what is wrong with an answer; nil if it can be used. last says that
	// there will be no other.
	Problem func(answer T, last bool) error
	// Question is what the model reads beside its answer: the problem, and what to do.
	Question func(answer T, problem error) (string, error)
	Suffix   string // of the purpose of the second question, such as "_again"
	// Read asks for an answer; nil for [Decode]. Answers that it reads are strings, as the
	// model wrote them.
	Read func(context.Context, Model, *Request) (T, error)
}

// DecodeChecked is [Decode] with terms. An answer with a problem is answered in the same
// exchange, once; a second one is an [ErrBadReply] whose Err is the problem.
func DecodeChecked[T any](ctx context.Context, m Model, req *Request, t Terms[T]) (T, error) {
	var zero T
	read := t.Read
	if read == nil {
		read = Decode[T]
	}
	answer, err := read(ctx, m, req)
	if err != nil {
		return zero, err
	}
	problem := t.Problem(answer, false)
	if problem == nil {
		return answer, nil
	}
	again, err := t.again(req, answer, problem)
	if err != nil {
		return zero, err
	}
	if answer, err = read(ctx, m, again); err != nil {
		return zero, err
	}
	if problem = t.Problem(answer, true); problem != nil {
		return zero, &Error{
			Kind: ErrBadReply, Err: problem,
			Detail: "two answers could not be used, the last because: " + strings.ReplaceAll(problem.Error(), "\n", "; "),
		}
	}
	return answer, nil
}

// again is a request with the answer to it, and what is wrong with that.
func (t Terms[T]) again(req *Request, answer T, problem error) (*Request, error) {
	said, written := any(answer).(string)
	if !written {
		data, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		said = string(data)
	}
	question, err := t.Question(answer, problem)
	if err != nil {
		return nil, err
	}
	r := *req
	r.Purpose += t.Suffix
	r.Messages = append(slices.Clone(req.Messages), Message{From: Assistant, Parts: []Part{Text(said)}}, UserText(question))
	return &r, nil
}

// decode finds, validates and decodes the object in a reply.
func decode[T any](resp *Response, s *Schema) (T, error) {
	var v, zero T
	data, err := extract(resp.Text)
	if err == nil {
		err = s.Validate(data)
	}
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		return zero, err
	}
	return v, nil
}

// reask adds what the reply says, cut to what is worth quoting, and what is wrong with it to the
// conversation.
func reask(messages []Message, resp *Response, problem error) ([]Message, error) {
	text, err := prompts.Render("reask", reaskPrompt{Problem: quote(problem.Error()), CutOff: resp.Ending() == CutOff})
	if err != nil {
		return nil, err
	}
	out := messages[:len(messages):len(messages)]
	if strings.TrimSpace(resp.Text) != "" {
		out = append(out, Message{From: Assistant, Parts: []Part{Text(quote(resp.Text))}})
	}
	return append(out, UserText(text)), nil
}

func badReply(r *Request, resp *Response, tries int, problem error) error {
	detail := fmt.Sprintf("%s: %d replies did not follow the schema, the last because: %s", r.Role, tries, quote(problem.Error()))
	if resp.Ending() == Declined {
		detail = fmt.Sprintf("%s: %s", r.Role, resp.Refusal())
	}
	return &Error{Kind: ErrBadReply, Detail: detail, Err: problem}
}

// quote cuts text to maxQuote bytes, at the edge of a character.
func quote(text string) string {
	if len(text) <= maxQuote {
		return text
	}
	cut := maxQuote
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// The ways in which a reply has no object in it; the model reads them.
var (
	errNoObject = errors.New("there is no JSON object in it")
	errCutOff   = errors.New("the JSON object is not finished")
	errTooLong  = fmt.Errorf("it is longer than %d bytes", maxReply)
)

// extract returns the first JSON object in text, which may stand in prose or in
// a code block. What looks like the begin of an object must be one: a '{' with a
// '"' or a '}' after it. So an object with a mistake is an error, and nothing
// inside of it is ever taken for the whole.
func extract(text string) (json.RawMessage, error) {
	if len(text) > maxReply {
		return nil, errTooLong
	}
	if whole := strings.TrimSpace(text); whole != "" && whole[0] != '{' && json.Valid([]byte(whole)) {
		return nil, errors.New("it is JSON, but not an object")
	}
	for rest := text; ; {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			return nil, errNoObject
		}
		rest = rest[i:]
		if inside := strings.TrimLeft(rest[1:], " \t\r\n"); inside == "" || inside[0] == '"' || inside[0] == '}' {
			return object(rest)
		}
		rest = rest[1:]
	}
}

// object decodes the object that text begins with.
func object(text string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := json.NewDecoder(strings.NewReader(text)).Decode(&raw)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, errCutOff
	case err != nil:
		return nil, fmt.Errorf("the JSON object in it has a mistake: %w", err)
	}
	return bytes.Clone(raw), nil
}
