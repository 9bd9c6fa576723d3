package getter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"desktop-agent/internal/devtools"
	"desktop-agent/screen"
	"desktop-agent/tasks/env"
)

const (
	// portLimit is how long a running browser may take to listen at its debugging port.
	portLimit = 15 * time.Second
	// startLimit is how long one that is started for the look may take.
	startLimit = 60 * time.Second
	// loadLimit is how long a page may take to be there.
	loadLimit = 60 * time.Second
	// answerLimit is how long the browser itself may take to answer, on a machine that does
	// much else.
	answerLimit = 20 * time.Second
	// pageLimit is how long a page may take to answer. One that is busy for ever
	// does not answer at all.
	pageLimit = 5 * time.Second
	// lookAgain is the time between two looks.
	lookAgain = 50 * time.Millisecond
	// maxMessage is how many bytes a message of the browser may have.
	maxMessage = 128 << 20
	// maxTabs is how many tabs are looked at.
	maxTabs = 500
)

// ports are where the tasks have the browser listen: by way of socat, or itself.
var ports = []string{"127.0.0.1:9222", "127.0.0.1:1337"}

// errNoBrowser reports that no browser runs.
var errNoBrowser = errors.New("no browser runs")

// A browser is a running Chrome that can be debugged:
// https://chromedevtools.github.io/devtools-protocol.
type browser struct{ port devtools.Port }

// browser connects to the browser. One that runs may still be starting; start
// starts one if none runs, else that is [errNoBrowser]. One that runs but does not
// listen cannot be looked at, which is an error.
func (g *getter) browser(ctx context.Context, start bool) (*browser, error) {
	limit := time.Time{}
	for {
		for _, port := range ports {
			b := &browser{port: devtools.Port{Address: port, Client: devtools.Client(g.e.Dial), Most: maxMessage, Limit: answerLimit}}
			if err := b.port.Version(ctx); err == nil {
				return b, nil
			}
		}
		if err := errors.Join(context.Cause(ctx), g.e.Err()); err != nil {
			return nil, err
		}
		if limit.IsZero() {
			runs, err := g.chromeRuns(ctx)
			limit = time.Now().Add(portLimit)
			switch {
			case err != nil:
				return nil, err
			case !runs && !start:
				return nil, errNoBrowser
			case !runs:
				limit = time.Now().Add(startLimit)
				err = g.e.Start(ctx, env.Command{Args: []string{"google-chrome", "--remote-debugging-port=1337"}})
			}
			if err != nil {
				return nil, err
			}
		}
		if time.Now().After(limit) {
			return nil, fmt.Errorf("the browser does not listen at %s: it was started without --remote-debugging-port",
				strings.Join(ports, " or "))
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// chromeRuns reports whether the browser has a window.
func (g *getter) chromeRuns(ctx context.Context) (bool, error) {
	windows, err := g.e.Windows(ctx)
	if slices.ContainsFunc(windows, isBrowser) {
		return true, err
	}
	return false, err
}

func isBrowser(w screen.Window) bool {
	class := strings.ToLower(w.Class)
	return strings.Contains(class, "chrome") || strings.Contains(class, "chromium")
}

// pause waits before the next look.
func pause(ctx context.Context) error {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tabs returns the tabs, the one used last first. What the browser draws as
// pages of its own, such as the list under the address bar, is none.
func (b *browser) tabs(ctx context.Context) ([]devtools.Target, error) {
	all, err := b.port.Targets(ctx)
	if err != nil {
		return nil, err
	}
	var tabs []devtools.Target
	for _, t := range all {
		u, err := url.Parse(t.URL)
		own := err == nil && (u.Scheme == "devtools" || u.Scheme == "chrome" && strings.HasSuffix(u.Host, ".top-chrome"))
		if t.Type == "page" && !own && len(tabs) < maxTabs {
			tabs = append(tabs, t)
		}
	}
	return tabs, nil
}

// open opens a page in a tab of its own, and closes it after use.
func (b *browser) open(ctx context.Context, address string, use func(*session) error) error {
	t, err := b.port.Open(ctx, address)
	if err != nil {
		return err
	}
	defer func() {
		_ = b.port.Close(context.WithoutCancel(ctx), t.ID) // the tab may be gone
	}()
	s, err := b.attach(ctx, t.ID)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.loaded(ctx); err != nil {
		return fmt.Errorf("%.200s: %w", address, err)
	}
	return use(s)
}

// A session talks with one tab.
type session struct {
	conn  *websocket.Conn
	last  int    // number of the last call
	frame string // of the page
	world int    // where scripts are run, apart from those of the page; 0: not made
}

// attach begins to talk with a tab.
func (b *browser) attach(ctx context.Context, id string) (*session, error) {
	dial, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	conn, _, err := websocket.Dial(dial, "ws://"+b.port.Address+"/devtools/page/"+url.PathEscape(id), &websocket.DialOptions{HTTPClient: b.port.Client})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	return &session{conn: conn, frame: id}, nil
}

func (s *session) close() { _ = s.conn.CloseNow() }

// call calls a method of the protocol. An answer may be nil.
func (s *session) call(ctx context.Context, method string, params, answer any) error {
	s.last++
	message, err := json.Marshal(map[string]any{"id": s.last, "method": method, "params": params})
	if err != nil {
		return err
	}
	if err := s.conn.Write(ctx, websocket.MessageText, message); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var reply struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text, &reply); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case reply.ID != s.last: // an event
		case reply.Error != nil:
			return fmt.Errorf("%s: %.300s", method, reply.Error.Message)
		case answer == nil:
			return nil
		default:
			return json.Unmarshal(reply.Result, answer)
		}
	}
}

// eval runs a script in the page, and reads what it gives. It runs in a world of
// its own, where the page cannot have changed what functions do.
func (s *session) eval(ctx context.Context, script string, into any) error {
	if s.world == 0 {
		var made struct{ ExecutionContextID int }
		if err := s.call(ctx, "Page.createIsolatedWorld", map[string]any{"frameId": s.frame, "worldName": "getter"}, &made); err != nil {
			return err
		}
		s.world = made.ExecutionContextID
	}
	return s.evaluate(ctx, script, s.world, into)
}

// evaluate runs a script in a world, that of the page if it is 0.
func (s *session) evaluate(ctx context.Context, script string, world int, into any) error {
	params := map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}
	if world != 0 {
		params["contextId"] = world
	}
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := s.call(ctx, "Runtime.evaluate", params, &answer); err != nil {
		return err
	}
	if e := answer.ExceptionDetails; e != nil {
		return fmt.Errorf("script: %.200s %.300s", e.Text, e.Exception.Description)
	}
	if into == nil || answer.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, into)
}

// loaded waits for a page that was just opened.
func (s *session) loaded(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loadLimit, fmt.Errorf("the page took more than %v", loadLimit))
	defer cancel()
	for {
		var state struct{ Ready, At string }
		// A script fails while one page takes the place of another.
		if err := s.eval(ctx, "({Ready: document.readyState, At: location.href})", &state); err != nil {
			s.world = 0
		}
		switch {
		case state.Ready != "complete" || state.At == "about:blank":
		case strings.HasPrefix(state.At, "chrome-error:"):
			return errors.New("the page cannot be had")
		default:
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}
