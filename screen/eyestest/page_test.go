//go:build linux

package eyestest

import (
	"encoding/json"
	"image"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"desktop-agent/screen/atspi"
)

// A pageEvent is what a page of ours tells of an event of the DOM: see
// testdata/pages/eye.js.
type pageEvent struct {
	Kind string
	X, Y int // pixels of the screen
	Path []struct {
		Tag, Type, Name, Value string
		Size                   int
	}
}

// A pageOracle serves pages and hears of what the pointer reaches in them.
type pageOracle struct {
	url    string
	mu     sync.Mutex
	events []pageEvent
}

func newPageOracle(t *testing.T) *pageOracle {
	t.Helper()
	p := &pageOracle{}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir("testdata/pages")))
	mux.HandleFunc("POST /event", func(_ http.ResponseWriter, r *http.Request) {
		var e pageEvent
		if json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<16)).Decode(&e) == nil {
			p.mu.Lock()
			p.events = append(p.events, e)
			p.mu.Unlock()
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.url = server.URL + "/"
	return p
}

// forget drops what was told until now.
func (p *pageOracle) forget() {
	p.mu.Lock()
	p.events = nil
	p.mu.Unlock()
}

// wait returns the first event of a kind, at a point unless that is zero.
func (p *pageOracle) wait(kind string, at image.Point, limit time.Duration) (pageEvent, bool) {
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		for _, e := range p.events {
			if e.Kind == kind && (at == image.Point{} || at == image.Pt(e.X, e.Y)) {
				p.mu.Unlock()
				return e, true
			}
		}
		p.mu.Unlock()
		if time.Now().After(end) {
			return pageEvent{}, false
		}
	}
}

// chain is the event's path in the words of AT-SPI.
func (e pageEvent) chain() (c chain) {
	for _, n := range e.Path {
		role := map[string]string{"button": "push button", "a": "link", "select": "combo box", "td": "table cell",
			"th": "column header", "li": "list item", "option": "list item", "h1": "heading", "h2": "heading", "label": "label"}[n.Tag]
		if n.Tag == "select" && n.Type != "select-one" || n.Tag == "select" && n.Size > 1 {
			role = "list box"
		}
		if n.Tag == "html" || n.Tag == "body" { // which have the words of all that is in them
			role = "document web"
		}
		if n.Tag == "input" {
			role = map[string]string{"checkbox": "check box", "radio": "radio button", "range": "slider", "number": "spin button",
				"password": "password text", "date": "date editor"}[n.Type]
			if role == "" {
				role = "entry"
			}
		}
		c = append(c, hit{role: role, name: strings.Join(strings.Fields(n.Name), " ")})
	}
	return c
}

// page is the oracle of a page of ours that is shown in a browser; of the browser's
// own controls those are known that light up.
func (d *desk) page(p *pageOracle, inPage func(item) bool) oracle {
	return func(it item, at image.Point) (chain, bool) {
		if !inPage(it) {
			return d.lights(it, at, nil) // the browser's own answers tell of popups that are not shown
		}
		p.forget()
		d.move(at.Add(image.Pt(1, 0)))
		d.move(at)
		e, ok := p.wait("move", at, 3*time.Second)
		if !ok {
			return nil, true
		}
		c := e.chain()
		// What such a field is made of, the DOM does not tell.
		if c[0].role == "date editor" && (it.role == "spin button" || it.role == "push button" || it.role == "static") ||
			c[0].role == "spin button" && it.role == "push button" {
			return nil, false
		}
		// Text of an element is a node of its own in the tree, and none in the DOM.
		if !atspi.Operable(it.role) && it.role != "table cell" {
			for _, h := range c {
				if it.node.Name != "" && strings.Contains(h.name, it.node.Name) && h.role != "document web" {
					return append(chain{{role: it.role, name: it.node.Name}}, c...), true
				}
			}
		}
		return c, true
	}
}
