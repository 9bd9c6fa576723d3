// Package devtools speaks to the debugging port of Chrome over HTTP:
// https://chromedevtools.github.io/devtools-protocol/#endpoints.
package devtools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// A Target is a tab, or something else that can be debugged.
type Target struct {
	ID    string `json:"id"`
	Type  string `json:"type"` // "page" is a tab
	URL   string `json:"url"`
	Title string `json:"title"`
}

// A Port is the debugging port of a running Chrome.
type Port struct {
	// Address is the port's host and number, such as 127.0.0.1:9222.
	Address string
	// Client makes the requests.
	Client *http.Client
	// Most is how many bytes of an answer are read.
	Most int64
	// Limit is how long an answer may take; 0: as long as the context lets it.
	Limit time.Duration
}

// Client returns a client whose connections are made by dial. Each serves one
// request, so that nothing has to be closed.
func Client(dial func(ctx context.Context, address string) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, address) },
		DisableKeepAlives: true,
	}}
}

// Version asks for the browser's version: whether it listens.
func (p *Port) Version(ctx context.Context) error {
	return p.ask(ctx, http.MethodGet, "/json/version", nil)
}

// Targets returns all that can be debugged, the tab used last first.
func (p *Port) Targets(ctx context.Context) (all []Target, err error) {
	err = p.ask(ctx, http.MethodGet, "/json/list", &all)
	return all, err
}

// Open opens a page in a new tab.
func (p *Port) Open(ctx context.Context, page string) (t Target, err error) {
	err = p.ask(ctx, http.MethodPut, "/json/new?"+url.QueryEscape(page), &t)
	return t, err
}

// Close closes a tab.
func (p *Port) Close(ctx context.Context, id string) error {
	return p.ask(ctx, http.MethodGet, "/json/close/"+url.PathEscape(id), nil)
}

// ask calls an end point. The answer is decoded unless answer is nil.
func (p *Port) ask(ctx context.Context, method, path string, answer any) error {
	if p.Limit > 0 {
		limited, cancel := context.WithTimeout(ctx, p.Limit)
		defer cancel()
		ctx = limited
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+p.Address+path, nil)
	if err != nil {
		return err
	}
	response, err := p.Client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, p.Most))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.200s", path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
