package openai

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3/option"

	"desktop-agent/internal/retry"
	"desktop-agent/llm"
)

// maxBody bounds the bytes of an answer, and maxSaid those of it that are
// quoted in an error.
const (
	maxBody = 16 << 20
	maxSaid = 400
)

// An exchange is one request and its answer. It turns every failure into an
// [*llm.Error] before the library sees it, and notes what was refused.
type exchange struct {
	secrets    []string
	completion bool   // the answer has to have choices
	refused    string // what the endpoint said of a parameter, in lower case
}

// roundTrip is a middleware of the library.
func (x *exchange) roundTrip(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") { // what the library tells of this machine
			delete(req.Header, name)
		}
	}
	resp, err := next(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode/100 == 3:
		return nil, &llm.Error{Kind: llm.ErrRequest, Status: resp.StatusCode,
			Detail: x.said("it redirects to " + resp.Header.Get("Location"))}
	case resp.StatusCode >= 400: // whether or not all of it could be read
		return nil, x.failure(resp.StatusCode, resp.Header, body)
	case err != nil:
		return nil, &llm.Error{Kind: llm.ErrBadReply, Status: resp.StatusCode, Retry: true, Err: err,
			Detail: fmt.Sprintf("the connection broke off after %d bytes of the reply", len(body))}
	case len(body) > maxBody:
		return nil, &llm.Error{Kind: llm.ErrBadReply, Status: resp.StatusCode, Detail: fmt.Sprintf("the reply is longer than %d bytes", maxBody)}
	}
	if err := x.check(resp, body); err != nil {
		return nil, err
	}
	resp.Header.Set("Content-Type", "application/json") // some servers name another type
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// check refuses what is no answer although its status is good.
func (x *exchange) check(resp *http.Response, body []byte) error {
	var answer struct {
		Error   json.RawMessage   `json:"error"`
		Choices []json.RawMessage `json:"choices"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		page := isPage(resp.Header, body)
		return &llm.Error{Kind: llm.ErrBadReply, Status: resp.StatusCode, Retry: !page, Detail: x.said("it is no Chat Completions reply but " + describe(page, body))}
	}
	if x.completion && len(answer.Choices) == 0 && len(answer.Error) > 0 && string(answer.Error) != "null" {
		var e struct {
			Code int `json:"code"`
		}
		if json.Unmarshal(answer.Error, &e) != nil || e.Code < 400 || e.Code > 599 {
			e.Code = http.StatusBadGateway
		}
		return x.failure(e.Code, resp.Header, body)
	}
	return nil
}

// failure is the error for a status of 400 and above.
func (x *exchange) failure(status int, header http.Header, body []byte) error {
	said := parseSaid(header, body)
	e := &llm.Error{Kind: llm.ErrRequest, Status: status, Detail: x.said(said.message), RetryAfter: retry.After(header)}
	switch {
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests && said.code == "insufficient_quota":
		e.Kind = llm.ErrQuota
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Kind = llm.ErrAuth
	case status == http.StatusTooManyRequests:
		e.Kind, e.Retry = llm.ErrRateLimited, true
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		e.Kind, e.Retry = llm.ErrUnavailable, true
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		x.refused = said.refused
	}
	if advice := header.Get("X-Should-Retry"); advice == "false" {
		e.Retry = false
	}
	return e
}

// explain is the error of a request: one that roundTrip made, or else one of
// the connection.
func (x *exchange) explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &llm.Error{Kind: llm.ErrTimeout, Retry: true, Err: context.DeadlineExceeded}
	}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("request: %w: %w", ctx.Err(), cause)
	} else if cause != nil {
		return fmt.Errorf("request: %w", cause)
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the URL, which may hold secrets
	}
	e := &llm.Error{Kind: llm.ErrUnavailable, Detail: x.said(err.Error()), Retry: true}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		e.Kind = llm.ErrTimeout
	}
	_, badCert := errors.AsType[*tls.CertificateVerificationError](err)
	noTLS := errors.Is(err, http.ErrSchemeMismatch)
	if dns, ok := errors.AsType[*net.DNSError](err); badCert || noTLS || ok && dns.IsNotFound {
		e.Retry = false
	}
	return e
}

// said is text of the endpoint, fit for an error: one line, short, without secrets.
func (x *exchange) said(text string) string {
	for _, s := range x.secrets {
		text = strings.ReplaceAll(text, s, "[secret]")
		text = strings.ReplaceAll(text, url.QueryEscape(s), "[secret]")
		text = hidePrefix(text, s)
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if runes := []rune(text); len(runes) > maxSaid {
		text = string(runes[:maxSaid]) + "…"
	}
	return text
}

// hidePrefix hides what begins like the secret, such as a key whose middle is
// starred out, to the end of the word.
func hidePrefix(text, secret string) string {
	const enough = 6
	if len(secret) < 2*enough {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, secret[:enough])
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i] + "[secret]")
		text = text[i:]
		end := strings.IndexAny(text, " \t\r\n\"'`,;)<>")
		if end < 0 {
			return b.String()
		}
		text = text[end:]
	}
}

// said is what an endpoint tells about a failure.
type said struct {
	message string
	code    string
	refused string // the name of a parameter, or all that was said, in lower case
}

// parseSaid understands the forms of errors that are about: OpenAI's, a bare
// string, FastAPI's "detail", and text.
func parseSaid(header http.Header, body []byte) said {
	all := strings.ToLower(string(body[:min(len(body), 1<<16)]))
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return said{message: describe(isPage(header, body), body), refused: all}
	}
	var inner struct {
		Message string `json:"message"`
		Param   string `json:"param"`
		Code    any    `json:"code"`
	}
	s := said{refused: all}
	switch {
	case json.Unmarshal(outer.Error, &inner) == nil && inner.Message != "":
		s.message = inner.Message
		s.code, _ = inner.Code.(string)
	case json.Unmarshal(outer.Error, &s.message) == nil && s.message != "":
	case outer.Message != "":
		s.message = outer.Message
	case len(outer.Detail) > 0:
		if json.Unmarshal(outer.Detail, &s.message) != nil {
			s.message = string(outer.Detail)
		}
	default:
		s.message = describe(false, body)
	}
	if inner.Param != "" {
		s.refused = strings.ToLower(inner.Param)
	}
	return s
}

func isPage(header http.Header, body []byte) bool {
	return strings.HasPrefix(header.Get("Content-Type"), "text/html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// describe says what came instead of JSON.
func describe(page bool, body []byte) string {
	switch text := strings.TrimSpace(string(body[:min(len(body), 1<<12)])); {
	case page:
		return "a web page"
	case text == "":
		return "nothing"
	default:
		return strconv.Quote(text)
	}
}
