// Package openai lets an endpoint that speaks OpenAI's Chat Completions answer
// for [desktop-agent/llm]: OpenAI itself, a gateway, or a local server such as
// llama.cpp, Ollama or vLLM.
//
// Endpoints differ in what they take. The first request of a model is sent the
// widest way: a reply's length as max_tokens, a schema to be enforced as
// response_format. When the endpoint refuses one of these by name, the request
// is sent again without it, and what worked is remembered for the model. A schema
// that the endpoint cannot enforce, or turns out to ignore, is explained in the
// prompt, so callers validate replies in any case, as [llm.Decode] does.
//
// Requests are not tried again after other failures, nor limited in time beyond
// their context: both are for [llm.Client].
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"desktop-agent/llm"
)

// An Endpoint is a server and the way to be let in. It is a [llm.Model], safe
// for concurrent use. It reads nothing from the environment but the proxy
// settings of [net/http], and those only if HTTP is nil or uses them.
type Endpoint struct {
	BaseURL string            // with the version, such as "https://api.openai.com/v1"
	Key     Secret            // none if empty
	Headers map[string]Secret // sent with each request, in place of the usual ones
	Detail  string            // of pictures: "high", "low" or "auto"; "high" if empty
	HTTP    *http.Client      // nil for a plain one
	Log     *slog.Logger      // of what the endpoint turned out not to take; nil for none

	mu       sync.Mutex
	dialects map[string]dialect // by model, of requests that worked
}

// A Secret is text that no format, log or encoder shows.
type Secret string

// String hides the secret.
func (Secret) String() string { return "[secret]" }

// GoString hides the secret.
func (Secret) GoString() string { return "[secret]" }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// Complete sends the request. Its errors are of type [*llm.Error], or the cause of a
// cancelled ctx.
func (e *Endpoint) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	e.mu.Lock()
	d := e.dialects[req.Model]
	e.mu.Unlock()
	for {
		resp, refused, err := e.send(ctx, req, d)
		if err == nil {
			e.remember(req.Model, d.after(req, resp))
			return resp, nil
		}
		next, ok := d.without(refused, req)
		if !ok {
			return nil, err
		}
		if e.Log != nil {
			e.Log.InfoContext(ctx, "the endpoint does not take a parameter, going on without it",
				"model", req.Model, "now", next, "err", err)
		}
		d = next
	}
}

func (e *Endpoint) remember(model string, d dialect) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dialects == nil {
		e.dialects = map[string]dialect{}
	}
	e.dialects[model] = d
}

// send sends the request once, in the given dialect. Where it fails, refused is
// what the endpoint said about a parameter, or empty.
func (e *Endpoint) send(ctx context.Context, req *llm.Request, d dialect) (resp *llm.Response, refused string, err error) {
	params, err := e.params(req, d)
	if err != nil {
		return nil, "", err
	}
	x := exchange{secrets: e.secrets(), completion: true}
	opts, err := e.options(&x)
	if err != nil {
		return nil, "", err
	}
	chat := openai.NewChatCompletionService(opts...)
	got, err := chat.New(ctx, params)
	if err != nil {
		return nil, x.refused, x.explain(ctx, err)
	}
	resp, err = response(req, got)
	return resp, "", err
}

// Models returns the names of the models that the endpoint offers, sorted. Not
// every endpoint can tell.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	x := exchange{secrets: e.secrets()}
	opts, err := e.options(&x)
	if err != nil {
		return nil, err
	}
	models := openai.NewModelService(opts...)
	page, err := models.List(ctx)
	if err != nil {
		return nil, x.explain(ctx, err)
	}
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	slices.Sort(names)
	return names, nil
}

// options are those of one request. All that the library would otherwise
// choose is set here.
func (e *Endpoint) options(x *exchange) ([]option.RequestOption, error) {
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, &llm.Error{Kind: llm.ErrRequest, Err: errBaseURL,
			Detail: "the base URL is none; it looks like https://api.openai.com/v1"}
	}
	client := http.Client{}
	if e.HTTP != nil {
		client = *e.HTTP
	}
	if client.CheckRedirect == nil {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	opts := []option.RequestOption{
		option.WithHTTPClient(&client),
		option.WithBaseURL((&url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()),
		option.WithMaxRetries(0),
		option.WithMiddleware(x.roundTrip),
		option.WithHeader("User-Agent", "desktop-agent"),
	}
	if e.Key != "" {
		opts = append(opts, option.WithAPIKey(string(e.Key)))
	}
	for name, value := range e.Headers {
		opts = append(opts, option.WithHeader(name, string(value)))
	}
	for name, values := range u.Query() {
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	return opts, nil
}

var errBaseURL = errors.New("no base URL")

// secrets are the texts that must not be in an error, longest first.
func (e *Endpoint) secrets() []string {
	var all []string
	for _, s := range append([]Secret{e.Key}, headerValues(e.Headers)...) {
		if len(s) >= 4 { // a shorter one would cut up innocent words
			all = append(all, string(s))
		}
	}
	if u, err := url.Parse(e.BaseURL); err == nil {
		if p, ok := u.User.Password(); ok {
			all = append(all, p)
		}
		for _, values := range u.Query() {
			all = append(all, values...)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

func headerValues(h map[string]Secret) (values []Secret) {
	for _, v := range h {
		values = append(values, v)
	}
	return values
}

// LogValue shows where the endpoint is, and no secrets.
func (e *Endpoint) LogValue() slog.Value {
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return slog.StringValue(fmt.Sprintf("%d bytes that are no URL", len(e.BaseURL)))
	}
	return slog.StringValue((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String())
}
