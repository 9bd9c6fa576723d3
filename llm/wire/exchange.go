package wire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"desktop-agent/internal/retry"
	"desktop-agent/llm"
)

// maxBody bounds the bytes of an answer, and maxSaid those of it that are
// quoted in an error.
const (
	maxBody = 16 << 20
	maxSaid = 400
)

// An Exchange is one request and its answer. It turns every failure into an
// [*llm.Error] before the provider's library sees it, reads the whole answer, and sends
// and follows nothing twice.
type Exchange struct {
	Server *Server
	Reply  string // what an answer is, for errors: "Chat Completions reply"

	// Check looks at an answer whose status is good. It returns false if it is none, as what
	// is no JSON; the error that the answer holds then, if it holds one, is told. nil: all
	// JSON is an answer.
	Check func(body []byte) bool

	Refused string // what the endpoint said of a parameter, in lower case; "" for nothing

	failed error // what RoundTrip made of a failure
}

// Client returns what sends the request.
func (x *Exchange) Client() *http.Client {
	client := http.Client{}
	if x.Server.HTTP != nil {
		client = *x.Server.HTTP
	}
	client.Transport = roundTripper{x, cmp.Or(client.Transport, http.DefaultTransport)}
	return &client
}

type roundTripper struct {
	x    *Exchange
	next http.RoundTripper
}

// RoundTrip sends the request as it is, but for what libraries tell of this machine.
func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") || name == "X-Goog-Api-Client" {
			delete(req.Header, name)
		}
	}
	req.Header.Set("User-Agent", UserAgent)
	for name, value := range r.x.Server.Headers {
		req.Header.Set(name, string(value))
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp, err = r.x.read(resp); err != nil {
		r.x.failed = err
	}
	return resp, err
}

// read reads an answer to its end.
func (x *Exchange) read(resp *http.Response) (*http.Response, error) {
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
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// check refuses what is no answer although its status is good.
func (x *Exchange) check(resp *http.Response, body []byte) error {
	if string(bytes.TrimSpace(body)) == "null" { // of which libraries make no reply and no error
		return x.noReply(resp, body)
	}
	if x.Check != nil && x.Check(body) { // first, as nearly all are answers, and long ones take time to read
		return nil
	}
	var answer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return x.noReply(resp, body)
	}
	if x.Check == nil {
		return nil
	}
	if len(answer.Error) == 0 || string(answer.Error) == "null" {
		return x.noReply(resp, body)
	}
	var e struct {
		Code int `json:"code"`
	}
	if json.Unmarshal(answer.Error, &e) != nil || e.Code < 400 || e.Code > 599 {
		e.Code = http.StatusBadGateway
	}
	return x.failure(e.Code, resp.Header, body)
}

func (x *Exchange) noReply(resp *http.Response, body []byte) error {
	page := isPage(resp.Header, body)
	return &llm.Error{Kind: llm.ErrBadReply, Status: resp.StatusCode, Retry: !page,
		Detail: x.said("it is no " + cmp.Or(x.Reply, "reply") + " but " + describe(page, body))}
}

// failure is the error for a status of 400 and above.
func (x *Exchange) failure(status int, header http.Header, body []byte) error {
	said := parseSaid(header, body)
	e := &llm.Error{Kind: llm.ErrRequest, Status: status, Detail: x.said(said.message), RetryAfter: max(retry.After(header), said.wait)}
	switch {
	case status == http.StatusPaymentRequired, said.is(noCredit...), strings.Contains(said.message, "credit balance is too low"): // Anthropic says it with 400
		e.Kind = llm.ErrQuota
	case status == http.StatusUnauthorized, status == http.StatusForbidden, said.is("API_KEY_INVALID"): // Gemini says it with 400
		e.Kind = llm.ErrAuth
	case status == http.StatusTooManyRequests:
		e.Kind, e.Retry = llm.ErrRateLimited, true
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		e.Kind, e.Retry = llm.ErrUnavailable, true
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		x.Refused = said.refused
	}
	if advice := header.Get("X-Should-Retry"); advice == "false" {
		e.Retry = false
	}
	return e
}

// Explain is the error of a request that failed: what the server said, or else one of the
// connection, or of ctx.
func (x *Exchange) Explain(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &llm.Error{Kind: llm.ErrTimeout, Retry: true, Err: context.DeadlineExceeded}
	}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("request: %w: %w", ctx.Err(), cause)
	} else if cause != nil {
		return fmt.Errorf("request: %w", cause)
	}
	if e, ok := errors.AsType[*llm.Error](cmp.Or(x.failed, err)); ok {
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
func (x *Exchange) said(text string) string {
	for _, s := range x.Server.secrets() {
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
	names   []string // of the failure, by whatever field
	refused string   // the name of a parameter, or all that was said, in lower case
	wait    time.Duration
}

// noCredit are the names of failures that only money helps against.
var noCredit = []string{"insufficient_quota", "billing_error", "billing_not_active", dayIsSpent}

// dayIsSpent stands for Google's names of limits by the day, which no wait helps against.
const dayIsSpent = "PerDay"

func (s said) is(names ...string) bool {
	return slices.ContainsFunc(s.names, func(n string) bool { return slices.Contains(names, n) })
}

// failed is an error as OpenAI, Anthropic and Google write it: each leaves out some of it.
type failed struct {
	Message string `json:"message"`
	Param   string `json:"param"`
	Code    any    `json:"code"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Details []struct {
		Reason string `json:"reason"`
		Delay  string `json:"retryDelay"`
		Limits []struct {
			ID string `json:"quotaId"`
		} `json:"violations"`
	} `json:"details"`
}

// parseSaid understands the forms of errors that are about: those of the providers, a
// list of one, a bare string, FastAPI's "detail", and text.
func parseSaid(header http.Header, body []byte) said {
	s := said{refused: strings.ToLower(string(body[:min(len(body), 1<<16)]))}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &outer) != nil {
		s.message = describe(isPage(header, body), body)
		return s
	}
	var inner failed
	switch {
	case json.Unmarshal(outer.Error, &inner) == nil && inner.Message != "":
		s.message = inner.Message
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
	code, _ := inner.Code.(string)
	s.names = []string{code, inner.Type, inner.Status}
	for _, d := range inner.Details {
		s.names = append(s.names, d.Reason)
		for _, limit := range d.Limits {
			if strings.Contains(limit.ID, "PerDay") {
				s.names = append(s.names, dayIsSpent)
			}
		}
		if wait, err := time.ParseDuration(d.Delay); err == nil {
			s.wait = min(max(s.wait, wait), 24*time.Hour)
		}
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
