//go:build unix

package x11

import (
	"encoding/hex"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/jezek/xgb"
)

// A passer is a connection over which files can be passed, and that can write several
// requests at once.
type passer struct {
	*net.UnixConn

	mu    sync.Mutex
	files map[string]*os.File // by the request that they go with
	holds int                 // how many want requests to be written together
	held  []byte              // these requests
}

// Write writes a request, with its file if it has one; or keeps it for [passer.release].
func (p *passer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	file := p.files[string(b)]
	delete(p.files, string(b))
	if file == nil && p.holds > 0 {
		p.held = append(p.held, b...)
		return len(b), nil
	}
	if err := p.flush(); err != nil {
		return 0, err
	}
	if file == nil {
		return p.UnixConn.Write(b)
	}
	n, _, err := p.WriteMsgUnix(b, syscall.UnixRights(int(file.Fd())), nil)
	if err == nil && n < len(b) {
		var more int
		more, err = p.UnixConn.Write(b[n:])
		n += more
	}
	return n, err
}

// flush writes what is held.
func (p *passer) flush() error {
	if len(p.held) == 0 {
		return nil
	}
	_, err := p.UnixConn.Write(p.held)
	p.held = p.held[:0]
	return err
}

func (p *passer) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds++
}

func (p *passer) release() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holds--; p.holds > 0 {
		return nil
	}
	return p.flush()
}

// Together writes what send asks of the server at once, so that the server comes to all of
// it however long this process waits for its turn. send waits for no answer, and asks for
// some hundred things at most: the library waits for an answer itself after a thousand that
// have none. To a server of another machine they are written one by one.
func (c *Conn) Together(send func()) (err error) {
	if c.passer == nil {
		send()
		return nil
	}
	if err := c.RoundTrip(); err != nil { // then nothing is left to be answered
		return err
	}
	c.passer.hold()
	defer func() { err = c.passer.release() }()
	send()
	return nil
}

// dialPasser connects to a server of this machine.
func dialPasser(at Display) (*xgb.Conn, *passer, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: at.Address, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	p := &passer{UnixConn: conn, files: map[string]*os.File{}}
	x, err := greet(p, at)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return x, p, nil
}

// greet begins to speak with the server of a display.
func greet(conn net.Conn, at Display) (x *xgb.Conn, err error) {
	if cookie := at.Cookie(); cookie != nil {
		x, err = xgb.NewConnNetWithCookieHex(conn, hex.EncodeToString(cookie))
	} else {
		x, err = xgb.NewConnNet(conn)
	}
	if err != nil {
		return nil, err
	}
	x.DefaultScreen = at.Screen
	return x, nil
}
