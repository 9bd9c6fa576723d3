//go:build unix

// Package x11 keeps a connection to an X server and knows the few conventions
// of window managers (EWMH, ICCCM) that seeing, acting and starting a desktop
// have in common.
package x11

import (
	"errors"
	"fmt"
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// A Conn is one connection to an X server. Its methods may be called by
// several goroutines at once.
type Conn struct {
	*xgb.Conn
	Screen *xproto.ScreenInfo
	Root   xproto.Window

	passer    *passer    // nil where the server is on another machine
	selecting sync.Mutex // held while an event mask is read and changed

	mu        sync.Mutex
	decoders  map[byte]xgb.NewEventFun // of extensions, by event code
	atoms     map[string]xproto.Atom
	names     map[xproto.Atom]string
	listeners map[*listener]bool
	closed    chan struct{} // closed when the server hangs up
	pings     uint32        // the last time stamp sent by Ping
}

// ErrNoDisplay reports that no X server answers.
var ErrNoDisplay = errors.New("no X display")

// Dial connects to the display, such as ":0"; "" means $DISPLAY.
func Dial(display string) (*Conn, error) {
	var (
		c   *xgb.Conn
		p   *passer
		err error
	)
	if at, bad := ParseDisplay(display); bad == nil && at.Local() {
		c, p, err = dialPasser(at)
	} else {
		c, err = xgb.NewConnDisplay(display)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %q: %v", ErrNoDisplay, display, err)
	}
	conn := newConn(c)
	conn.passer = p
	return conn, nil
}

func newConn(c *xgb.Conn) *Conn {
	screen := xproto.Setup(c).DefaultScreen(c)
	conn := &Conn{
		pings: xproto.Setup(c).ResourceIdBase, // no two connections send the same
		Conn:  c, Screen: screen, Root: screen.Root,
		decoders:  map[byte]xgb.NewEventFun{},
		atoms:     map[string]xproto.Atom{},
		names:     map[xproto.Atom]string{},
		listeners: map[*listener]bool{},
		closed:    make(chan struct{}),
	}
	go conn.dispatch()
	return conn
}

// Closed is closed when the connection ends, also by the server's doing.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

// RoundTrip returns once the server has handled every request sent before it.
func (c *Conn) RoundTrip() error {
	_, err := xproto.GetInputFocus(c.Conn).Reply()
	return err
}

// Atom returns the atom of name, which is looked up once.
func (c *Conn) Atom(name string) (xproto.Atom, error) {
	c.mu.Lock()
	atom, ok := c.atoms[name]
	c.mu.Unlock()
	if ok {
		return atom, nil
	}
	reply, err := xproto.InternAtom(c.Conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, fmt.Errorf("atom %s: %w", name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.atoms[name] = reply.Atom
	return reply.Atom, nil
}

// A listener gets every event of a connection, in order, without a limit on how
// many wait: an X server must never be made to wait for a reader.
type listener struct {
	mu     sync.Mutex
	queue  []xgb.Event
	signal chan struct{} // has room for one
}

// Listen calls handle for each event that arrives from now on, one at a time,
// until stop is called or the connection ends. stop returns when the last call
// of handle has; handle must not call it.
func (c *Conn) Listen(handle func(xgb.Event)) (stop func()) {
	l := &listener{signal: make(chan struct{}, 1)}
	quit, done := make(chan struct{}), make(chan struct{})
	c.mu.Lock()
	c.listeners[l] = true
	c.mu.Unlock()
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-c.closed:
				return
			case <-l.signal:
			}
			l.mu.Lock()
			events := l.queue
			l.queue = nil
			l.mu.Unlock()
			for _, e := range events {
				handle(e)
			}
		}
	}()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		delete(c.listeners, l)
		c.mu.Unlock()
		close(quit)
		<-done
	})
}

// dispatch reads events for as long as the connection lives.
func (c *Conn) dispatch() {
	defer close(c.closed)
	for {
		event, err := c.WaitForEvent()
		if event == nil && err == nil {
			return
		}
		if event == nil {
			continue // an error of a request that nobody waits for
		}
		c.mu.Lock()
		if event = c.decode(event); event == nil {
			c.mu.Unlock()
			continue
		}
		c.deliver(event)
		c.mu.Unlock()
	}
}

// deliver passes an event on to who listens. The caller holds the lock.
func (c *Conn) deliver(event xgb.Event) {
	for l := range c.listeners {
		l.mu.Lock()
		l.queue = append(l.queue, event)
		l.mu.Unlock()
		select {
		case l.signal <- struct{}{}:
		default:
		}
	}
}
