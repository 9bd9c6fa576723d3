package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"desktop-agent/internal/devtools"
	"desktop-agent/tasks"
	"desktop-agent/tasks/env"

	"golang.org/x/net/publicsuffix"
)

const (
	// debuggingPort is where tasks have Chrome listen.
	debuggingPort = "127.0.0.1:9222"
	// portLimit is how long Chrome may take to listen there.
	portLimit = 75 * time.Second
	// loadLimit is how long a page may take to be there.
	loadLimit = 60 * time.Second
	// lookAgain is the time between two looks.
	lookAgain = 50 * time.Millisecond
	// maxAnswer is how many bytes of an answer of Chrome are read.
	maxAnswer = 8 << 20
)

func checkTabs(key string) func(tasks.Params) error {
	return func(p tasks.Params) error {
		urls, err := p.Texts(key)
		if err == nil && len(urls) == 0 {
			err = fmt.Errorf("%s is missing", key)
		}
		return err
	}
}

// A chrome is a running Chrome that can be debugged.
type chrome struct{ devtools.Port }

// chrome connects to Chrome, which may still be starting.
func (r *run) chrome(ctx context.Context) (*chrome, error) {
	c := &chrome{devtools.Port{Address: debuggingPort, Client: devtools.Client(r.e.Dial), Most: maxAnswer}}
	ctx, cancel := context.WithTimeout(ctx, portLimit)
	defer cancel()
	var last error
	for {
		_, err := c.pages(ctx)
		if err == nil {
			return c, nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			if errors.Is(last, syscall.ECONNREFUSED) {
				last = errors.New("nothing listens there: launch google-chrome with --remote-debugging-port")
			}
			return nil, fmt.Errorf("chrome at %s: %w", debuggingPort, last)
		}
	}
}

// pages returns the open tabs.
func (c *chrome) pages(ctx context.Context) (pages []devtools.Target, err error) {
	all, err := c.Targets(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Type == "page" {
			pages = append(pages, t)
		}
	}
	return pages, nil
}

// openTabs opens pages in new tabs, and closes the first tab, which Chrome
// begins with.
func (r *run) openTabs(ctx context.Context, p tasks.Params) error {
	urls, err := p.Texts("urls_to_open")
	if err != nil {
		return err
	}
	for _, u := range urls {
		if env.Remote(u) && !r.e.Network() {
			return &Unsupported{Type: "chrome_open_tabs", Reason: fmt.Sprintf("%s is in the live web, and the network is off", u)}
		}
	}
	c, err := r.chrome(ctx)
	if err != nil {
		return err
	}
	first, err := c.pages(ctx)
	if err != nil {
		return err
	}
	for i, u := range urls {
		t, err := c.Open(ctx, u)
		if err != nil {
			return fmt.Errorf("open %s: %w", u, err)
		}
		c.loaded(ctx, t.ID)
		if i == 0 && len(first) > 0 {
			if err := c.Close(ctx, first[0].ID); err != nil {
				return fmt.Errorf("close the first tab: %w", err)
			}
		}
	}
	return r.settled(ctx)
}

// loaded waits for a tab to show something. A page that does not come is none of
// the set-up's errors: it may be what the task is about.
func (c *chrome) loaded(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	for {
		pages, err := c.pages(ctx)
		if err != nil {
			return
		}
		for _, t := range pages {
			if t.ID == id && t.URL != "" && t.URL != "about:blank" {
				return
			}
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return
		}
	}
}

// settled waits for the desktop to be quiet, but not for ever: pages may move.
func (r *run) settled(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, missLimit)
	defer cancel()
	if err := r.e.Quiet(limited); err != nil && limited.Err() == nil {
		return err
	}
	return ctx.Err()
}

// closeTabs closes the tabs that show some pages.
func (r *run) closeTabs(ctx context.Context, p tasks.Params) error {
	urls, err := p.Texts("urls_to_close")
	if err != nil {
		return err
	}
	c, err := r.chrome(ctx)
	if err != nil {
		return err
	}
	for _, u := range urls {
		pages, err := c.pages(ctx)
		if err != nil {
			return err
		}
		closed := false
		for _, t := range pages {
			if !samePage(u, t.URL) {
				continue
			}
			closed = true
			if err := c.Close(ctx, t.ID); err != nil {
				return fmt.Errorf("close %s: %w", u, err)
			}
			break
		}
		if !closed && !r.o.Defects.Has(noTab) {
			return fmt.Errorf("close %s: no tab shows it", u)
		}
	}
	return r.settled(ctx)
}

// samePage compares two URLs as tasks mean them: "www." and the public suffix of
// the host do not matter, and neither does a final slash; what is without a
// scheme is http.
func samePage(a, b string) bool { return plain(a) == plain(b) }

func plain(text string) string {
	if !strings.Contains(text, ":") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	if net.ParseIP(host) == nil && strings.Contains(host, ".") {
		suffix, _ := publicsuffix.PublicSuffix(host)
		host = strings.TrimSuffix(host, "."+suffix)
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return u.Scheme + "://" + host + strings.TrimSuffix(u.EscapedPath(), "/") + "?" + u.RawQuery + "#" + u.Fragment
}
