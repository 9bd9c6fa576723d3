package getter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"desktop-agent/internal/devtools"
	"desktop-agent/tasks"
)

// openTabs is open_tabs_info: the title and URL of all tabs, the one used last
// first. Pages that are being loaded are waited for, but not for ever.
func (g *getter) openTabs(ctx context.Context) (tasks.Value, error) {
	b, err := g.browser(ctx, false)
	if errors.Is(err, errNoBrowser) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	tabs, err := b.tabs(ctx)
	if err != nil {
		return nil, err
	}
	limit := time.Now().Add(loadLimit / 2)
	for _, t := range tabs {
		b.settle(ctx, t.ID, limit)
	}
	if tabs, err = b.tabs(ctx); err != nil {
		return nil, err
	}
	found := make([]any, len(tabs))
	for i, t := range tabs {
		found[i] = map[string]any{"title": t.Title, "url": t.URL}
	}
	return found, nil
}

// settle waits for a tab to be loaded. One that does not answer is left alone.
func (b *browser) settle(ctx context.Context, id string, limit time.Time) {
	ctx, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	s, err := b.attach(ctx, id)
	if err != nil {
		return
	}
	defer s.close()
	for range 1000 {
		var state string
		asking, cancel := context.WithTimeout(ctx, pageLimit)
		err := s.eval(asking, "document.readyState", &state)
		cancel()
		if err != nil || state == "complete" || pause(ctx) != nil {
			return
		}
	}
}

// activeTab is active_tab_info: the title, URL and HTML of the tab in front.
func (g *getter) activeTab(ctx context.Context) (tasks.Value, error) {
	if g.o.Defects.Has(tabReloaded) {
		url, err := g.url(ctx)
		if err != nil || url == "" {
			return nil, err
		}
		return g.visit(ctx, url)
	}
	b, t, err := g.front(ctx)
	if err != nil || t == nil {
		return nil, err
	}
	b.settle(ctx, t.ID, time.Now().Add(loadLimit/2))
	s, err := b.attach(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	defer s.close()
	info, err := s.info(ctx)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		// It is busy, or asks the user something: the browser knows this much.
		return map[string]any{"title": t.Title, "url": t.URL, "content": ""}, nil
	}
	return info, err
}

// front returns the tab in front: the one with the focus, or else that which can be
// seen and is in the address bar, or else any that can be seen. There is none if
// no browser runs.
func (g *getter) front(ctx context.Context) (*browser, *devtools.Target, error) {
	b, err := g.browser(ctx, false)
	if errors.Is(err, errNoBrowser) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	tabs, err := b.tabs(ctx)
	if err != nil || len(tabs) == 0 {
		return b, nil, err
	}
	limited, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	var visible []devtools.Target
	for _, t := range tabs {
		lies, err := b.facing(limited, t.ID)
		silent := errors.Is(err, context.DeadlineExceeded)
		if err != nil {
			g.o.Log.InfoContext(ctx, "a tab does not answer", "url", t.URL, "err", err)
		}
		if lies.Focused && lies.Visible {
			return b, &t, nil
		}
		if lies.Visible || silent { // one that is busy may be in front, one that is gone not
			visible = append(visible, t)
		}
	}
	if len(visible) == 0 {
		visible = tabs // the window is hidden
	}
	if len(visible) > 1 {
		url, err := g.url(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, t := range visible {
			if samePage(t.URL, url) {
				return b, &t, nil
			}
		}
	}
	return b, &visible[0], nil
}

// A facing is how a tab lies.
type facing struct{ Visible, Focused bool }

// facing asks a tab how it lies.
func (b *browser) facing(ctx context.Context, id string) (f facing, err error) {
	ctx, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	s, err := b.attach(ctx, id)
	if err != nil {
		return f, err
	}
	defer s.close()
	err = s.eval(ctx, `({Visible: document.visibilityState === "visible", Focused: document.hasFocus()})`, &f)
	return f, err
}

// samePage compares two URLs whatever their escapes and final slashes.
func samePage(a, b string) bool {
	return strings.TrimRight(unquote(a), "/") == strings.TrimRight(unquote(b), "/")
}

// maxContent is how many UTF-16 units of a page's HTML are read.
const maxContent = 16 << 20

// info returns what a tab shows.
func (s *session) info(ctx context.Context) (tasks.Value, error) {
	ctx, cancel := context.WithTimeout(ctx, loadLimit/4)
	defer cancel()
	var page map[string]any
	err := s.eval(ctx, fmt.Sprintf(`({
		title: document.title,
		url: location.href,
		content: ((document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "") +
			(document.documentElement ? document.documentElement.outerHTML : "")).slice(0, %d),
	})`, maxContent), &page)
	if err != nil {
		return nil, err
	}
	return page, nil
}

// visit opens a page and returns what it shows.
func (g *getter) visit(ctx context.Context, url string) (value tasks.Value, err error) {
	b, err := g.browser(ctx, true)
	if err != nil {
		return nil, err
	}
	err = b.open(ctx, url, func(s *session) error {
		value, err = s.info(ctx)
		return err
	})
	return value, err
}

// pageInfo is page_info: the title, URL and HTML of a page that is opened for it,
// with the cookies that the agent has.
func (g *getter) pageInfo(ctx context.Context) (tasks.Value, error) {
	url, err := need(g.p, "url")
	if err != nil {
		return nil, err
	}
	return g.visit(ctx, url)
}

// savedAddress is chrome_saved_address: the HTML of the page with the addresses
// that the browser knows.
func (g *getter) savedAddress(ctx context.Context) (tasks.Value, error) {
	value, err := g.visit(ctx, "chrome://settings/addresses")
	if page, ok := value.(map[string]any); ok {
		return page["content"], err
	}
	return nil, err
}

// appearance is chrome_appearance_mode_ui: light, dark, or as the system has it,
// as a running browser says; else as its profile does.
func (g *getter) appearance(ctx context.Context) (tasks.Value, error) {
	b, err := g.browser(ctx, false)
	if err != nil {
		g.o.Log.InfoContext(ctx, "asking the profile", "err", err)
		return g.colorScheme(ctx)
	}
	var number any
	err = b.open(ctx, "chrome://settings/appearance", func(s *session) error {
		// This page is the browser's own, and only its own world has the settings.
		return s.evaluate(ctx, `new Promise(done => chrome.settingsPrivate.getPref("browser.theme.color_scheme2",
			pref => done(pref ? pref.value : null)))`, 0, &number)
	})
	if err != nil || number == nil {
		g.o.Log.InfoContext(ctx, "asking the profile", "err", err)
		return g.colorScheme(ctx)
	}
	return scheme(number), nil
}
