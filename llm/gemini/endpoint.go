// Package gemini lets Google's Gemini models answer for [desktop-agent/llm], by the
// protocol generateContent: those of the Gemini API, and of Vertex AI by its base URL and
// a header with a token.
//
// With [llm.Request.Computer] the model is offered its own computer tool, for a desktop.
// Its functions come back as calls with [llm.ToolCall.Computer] set, with the arguments in
// the model's words: points on a grid from 0 to 999 over the screenshot. A call whose
// safety_decision asks for confirmation has a check; it is acknowledged only if the
// answer's [llm.Message.Accepted] says so. The screenshot of the user's message behind the
// answers is sent as part of the answer to the last of these calls.
//
// What the model said is sent back part by part as it came, since Gemini signs it
// ([llm.State]). What another model said is written anew: its calls of functions with the
// signature that Google documents for that, its calls of a computer tool as text.
//
// Models and servers differ in what they take. The first request of a model is sent the
// widest way; when the server refuses something of it by name, it is sent again without,
// and what worked is remembered for the model. Requests are not tried again after other
// failures, nor limited in time beyond their context: both are for [llm.Client].
//
// The official library is not used: it brings gRPC and Google Cloud's way of signing in,
// and sorts the properties of schemas, which models fill in as they come. The tests hold
// requests against it all the same; see testdata/sdk.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"desktop-agent/llm"
	"desktop-agent/llm/wire"
)

// API is what [llm.State] calls this adapter.
const API = "gemini"

// googleURL is where Google serves the models.
const googleURL = "https://generativelanguage.googleapis.com/v1beta"

// An Endpoint is a server and the way to be let in. It is a [llm.Model], safe for
// concurrent use. It reads nothing from the environment but the proxy settings of
// [net/http], and those only if HTTP is nil or uses them.
type Endpoint struct {
	BaseURL string                 // with the version, such as https://generativelanguage.googleapis.com/v1beta
	Key     wire.Secret            // none if empty
	Headers map[string]wire.Secret // sent with each request, in place of the usual ones
	HTTP    *http.Client           // nil for a plain one
	Log     *slog.Logger           // of what the server turned out not to take; nil for none

	dialects wire.Dialects[dialect]
}

// Complete sends the request. Its errors are of type [*llm.Error], or the cause of a
// cancelled ctx.
func (e *Endpoint) Complete(ctx context.Context, req *llm.Request) (*llm.Response, error) {
	return e.dialects.Complete(ctx, req, dialectOf(req.Model), e.Log, e.send)
}

// send sends the request once, in the given dialect. Where it fails, refused is what the
// server said about it, or empty.
func (e *Endpoint) send(ctx context.Context, req *llm.Request, d dialect) (resp *llm.Response, refused string, err error) {
	body, err := write(req, d)
	if err != nil {
		return nil, "", err
	}
	if strings.Trim(req.Model, "/") == "" {
		return nil, "", &llm.Error{Kind: llm.ErrRequest, Detail: "the request names no model; Gemini needs one, such as gemini-3.5-flash"}
	}
	x := e.exchange()
	data, err := call(ctx, x, http.MethodPost, modelPath(req.Model)+":generateContent", nil, body)
	if err != nil {
		return nil, x.Refused, err
	}
	resp, err = read(req, data)
	return resp, "", err
}

// modelPath is where a model is below the base URL.
func modelPath(model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	words := strings.Split(strings.Trim(model, "/"), "/")
	for i, w := range words {
		words[i] = url.PathEscape(w)
	}
	return strings.Join(words, "/")
}

// maxPages bounds the pages of a list of models that are read.
const maxPages = 20

// Models returns the names of the models that the endpoint offers, sorted. Vertex AI
// cannot tell.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	var names []string
	query := url.Values{"pageSize": {"1000"}}
	for range maxPages {
		data, err := call(ctx, e.exchange(), http.MethodGet, "models", query, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Models []struct {
				Name string `json:"name"`
			} `json:"models"`
			Next string `json:"nextPageToken"`
		}
		if err := json.Unmarshal(data, &page); err != nil {
			return nil, &llm.Error{Kind: llm.ErrBadReply, Detail: "it is no list of models", Err: err}
		}
		for _, m := range page.Models {
			names = append(names, strings.TrimPrefix(m.Name, "models/"))
		}
		if page.Next == "" {
			break
		}
		query.Set("pageToken", page.Next)
	}
	slices.Sort(names)
	return names, nil
}

func (e *Endpoint) exchange() *wire.Exchange {
	return &wire.Exchange{
		Server: &wire.Server{BaseURL: e.BaseURL, Like: googleURL, Key: e.Key, Headers: e.Headers, HTTP: e.HTTP},
		Reply:  "Gemini reply", Check: isReply,
	}
}

// call sends one request and returns the body of its answer.
func call(ctx context.Context, x *wire.Exchange, method, path string, query url.Values, body []byte) ([]byte, error) {
	base, values, err := x.Server.URL()
	if err != nil {
		return nil, err
	}
	maps.Copy(values, query)
	target := strings.TrimSuffix(base, "/") + "/" + path
	if len(values) > 0 {
		target += "?" + values.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, x.Explain(ctx, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if x.Server.Key != "" {
		req.Header.Set("X-Goog-Api-Key", string(x.Server.Key))
	}
	resp, err := x.Client().Do(req)
	if err != nil {
		return nil, x.Explain(ctx, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, x.Explain(ctx, err)
	}
	return data, nil
}

// LogValue shows where the endpoint is, and no secrets.
func (e *Endpoint) LogValue() slog.Value { return e.exchange().Server.LogValue() }
