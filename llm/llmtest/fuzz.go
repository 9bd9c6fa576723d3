package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"desktop-agent/llm"
)

// A FuzzSubject is an adapter whose reading of replies is fuzzed.
type FuzzSubject struct {
	New     func(*http.Client) llm.Model // asks by this client
	Request func() *llm.Request
	Secret  string // that the adapter was given, and no error may have in it
	// Calls returns the IDs of the calls in a request of the adapter, and of those that are
	// answered in it.
	Calls func(sent []byte) (called, answered []string)
}

// FuzzEndpoint holds what every adapter promises of whatever an endpoint answers, with seeds of
// its form: it is an error of a kind, in one line and without the secret; or a reply whose calls
// have an ID each, that can be sent back with an answer to each of them. Of one that was
// declined or cut off, nothing is called that may be half.
func FuzzEndpoint(f *testing.F, s *FuzzSubject, seeds ...string) {
	for _, body := range seeds {
		f.Add(uint16(http.StatusOK), body)
	}
	for _, body := range []string{
		`{"error":{"message":"bad key ` + s.Secret + `","type":"authentication_error","code":"invalid_api_key"}}`, `{"error":"` + s.Secret + `"}`, `[{"error":{"code":429,"details":[{"retryDelay":"1e9h"}]}}]`,
		`{"error":{"code":418,"message":null}}`, `{"detail":[{"loc":["x"]}]}`, `{"message":"temperature is not supported"}`, "<html>" + s.Secret, `null`, `[]`, `"x"`, "", "\xff",
	} {
		f.Add(uint16(http.StatusOK), body)
		f.Add(uint16(http.StatusBadRequest), body)
		f.Add(uint16(http.StatusTooManyRequests), body)
	}
	f.Fuzz(func(t *testing.T, status uint16, body string) {
		c := &canned{status: 200 + int(status)%400, body: body}
		model, req := s.New(&http.Client{Transport: c}), s.Request()
		resp, err := model.Complete(t.Context(), req)
		if err != nil {
			checkFuzzError(t, s.Secret, resp, err)
			return
		}
		if slices.Contains([]string{llm.FinishRefusal, llm.FinishFilter}, resp.Finish) && len(resp.Calls) > 0 {
			t.Errorf("it was declined (%s), and calls %+v", resp.Finish, resp.Calls)
		}
		var ids []string
		req.Messages = append(req.Messages, resp.Message())
		for _, call := range resp.Calls {
			if call.ID == "" || slices.Contains(ids, call.ID) {
				t.Errorf("call %+v of %+v", call, resp.Calls)
			}
			ids = append(ids, call.ID)
			reply := llm.Message{From: llm.ToolReply, CallID: call.ID, Parts: []llm.Part{llm.Text("done")}}
			for _, check := range call.Checks {
				reply.Accepted = append(reply.Accepted, check.ID)
			}
			req.Messages = append(req.Messages, reply)
		}
		req.Messages = append(req.Messages, llm.Message{From: llm.User, Parts: []llm.Part{llm.Text("now"), dot()}})
		c.sent = nil
		if _, err := model.Complete(t.Context(), req); err != nil {
			checkFuzzError(t, s.Secret, nil, err)
		}
		if c.sent == nil || !json.Valid(c.sent) {
			t.Fatalf("the reply %+v cannot be sent back: %.2000s", resp, c.sent)
		}
		called, answered := s.Calls(c.sent)
		if !slices.Equal(called, ids) || !slices.Equal(slices.Sorted(slices.Values(answered)), slices.Sorted(slices.Values(ids))) {
			t.Errorf("of %q, %q are sent back and %q answered: %.2000s", ids, called, answered, c.sent)
		}
	})
}

func checkFuzzError(t *testing.T, secret string, resp *llm.Response, err error) {
	t.Helper()
	e, ok := errors.AsType[*llm.Error](err)
	switch {
	case !ok || e.Kind == nil || e.Detail == "" || resp != nil:
		t.Errorf("error %T %v with %v", err, err, resp)
	case strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") || e.RetryAfter < 0:
		t.Errorf("error %q", err)
	}
}

// A RoundTrip is a transport for HTTP that a test plays, without a connection.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip is of [http.RoundTripper].
func (r RoundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// canned answers all requests the same, and keeps the newest.
type canned struct {
	status int
	body   string
	sent   []byte
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		c.sent = sent
	}
	if err := context.Cause(r.Context()); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: c.status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: -1, Request: r,
	}, nil
}

// dot is a picture of one pixel.
func dot() llm.Image {
	var b bytes.Buffer
	picture := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black})
	if err := png.Encode(&b, picture); err != nil {
		panic(err)
	}
	return llm.Image{Data: b.Bytes(), Type: "image/png", FrameID: "f1"}
}
