package getter

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
)

// A port of a browser that somebody else has made.
type port struct {
	list  string                               // the answer to /json/list
	reply func(conn *websocket.Conn, r string) // what a tab does with a call
}

func (p *port) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/json/version":
		w.Write([]byte("{}"))
	case r.URL.Path == "/json/list":
		w.Write([]byte(p.list))
	case strings.HasPrefix(r.URL.Path, "/devtools/page/"):
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			_, call, err := conn.Read(r.Context())
			if err != nil {
				return
			}
			p.reply(conn, string(call))
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func TestStrangePort(t *testing.T) {
	send := func(text string) func(*websocket.Conn, string) {
		return func(conn *websocket.Conn, _ string) {
			_ = conn.Write(t.Context(), websocket.MessageText, []byte(text))
		}
	}
	const tab = `{"id":"../../json/version","type":"page","url":"http://a/","title":"A"}`
	for _, tt := range []struct {
		name string
		p    port
		want string // part of the error of a look at the page
		tabs int    // -1: an error
	}{
		{"no JSON", port{list: "<html>"}, "invalid character", -1},
		{"nothing", port{list: `[]`}, "", 0},
		{"none of ours", port{list: `[{"id":"1","type":"iframe"},{"id":"2","type":"page","url":"chrome://omnibox-popup.top-chrome/"},{"id":"3","type":"page","url":"devtools://x"}]`}, "", 0},
		{"garbage", port{list: "[" + tab + "]", reply: send("garbage")}, "invalid character", 1},
		{"an error", port{list: "[" + tab + "]", reply: send(`{"id":1,"error":{"message":"no such page"}}`)}, "no such page", 1},
		{"a wrong type", port{list: "[" + tab + "]", reply: send(`{"id":1,"result":{"executionContextId":"x"}}`)}, "cannot unmarshal", 1},
		{"hangs up", port{list: "[" + tab + "]", reply: func(conn *websocket.Conn, _ string) { conn.CloseNow() }}, "Page.createIsolatedWorld", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(&tt.p)
			defer server.Close()
			f := &fake{server: server.Listener.Addr().String(), dials: "127.0.0.1:1337"}
			tabs, err := Get(t.Context(), f, &tasks.Getter{Type: "open_tabs_info"}, nil)
			if tt.tabs < 0 {
				require.ErrorContains(t, err, tt.want)
			} else {
				require.NoError(t, err)
				assert.Len(t, tabs, tt.tabs)
			}
			value, err := Get(t.Context(), f, &tasks.Getter{Type: "active_tab_info"}, nil)
			if tt.want == "" {
				require.NoError(t, err)
				assert.Nil(t, value)
			} else {
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
}

// A look that opens a page starts the browser if none runs.
func TestStartsBrowser(t *testing.T) {
	f := &fake{err: nil}
	f.network = true
	server := httptest.NewServer(&port{list: "[]"})
	defer server.Close()
	f.server = server.Listener.Addr().String()
	starts := &starting{fake: f}
	_, err := Get(t.Context(), starts, &tasks.Getter{Type: "page_info", Params: params("url", "https://example.com/")}, nil)
	require.ErrorContains(t, err, "404", "the port cannot open tabs")
	require.Len(t, f.started, 1)
	assert.Equal(t, []string{"google-chrome", "--remote-debugging-port=1337"}, f.started[0].Args)
}

// A starting computer has a browser once that was started.
type starting struct{ *fake }

func (s *starting) Start(ctx context.Context, c env.Command) error {
	s.dials = "127.0.0.1:1337"
	return s.fake.Start(ctx, c)
}
