//go:build unix

package x11

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/shm"
)

// The library cannot pass files, by which memory is shared with a server that has none
// of the numbers of System V's: one in a container, or in a namespace of its own. So the
// connection to a server of this machine is one that sends a file along with the one
// request that takes one, ShmAttachFd of MIT-SHM 1.2.

// errNoMemory reports that no memory can be shared with a server.
var errNoMemory = errors.New("the X server shares no memory over this connection")

// attachFd is the number of that request.
const attachFd = 6

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

// AttachMemory shows the server the memory of a file, which it may then write to under
// the number id. [Conn.Extension] must have been called for MIT-SHM. The file may be
// closed afterwards.
func (c *Conn) AttachMemory(id shm.Seg, file *os.File) error {
	if c.passer == nil {
		return errNoMemory
	}
	v, err := shm.QueryVersion(c.Conn).Reply()
	if err != nil {
		return fmt.Errorf("share memory: %w", err)
	}
	if v.MajorVersion < 1 || v.MajorVersion == 1 && v.MinorVersion < 2 {
		return fmt.Errorf("%w: it has MIT-SHM %d.%d, and 1.2 is needed", errNoMemory, v.MajorVersion, v.MinorVersion)
	}
	c.ExtLock.RLock()
	request := []byte{c.Extensions["MIT-SHM"], attachFd}
	c.ExtLock.RUnlock()
	request = binary.LittleEndian.AppendUint16(request, 3) // words
	request = binary.LittleEndian.AppendUint32(request, uint32(id))
	request = append(request, 0, 0, 0, 0) // not for reading alone
	c.passer.mu.Lock()
	c.passer.files[string(request)] = file
	c.passer.mu.Unlock()
	cookie := c.NewCookie(true, false)
	c.NewRequest(request, cookie)
	if err := cookie.Check(); err != nil {
		return fmt.Errorf("share memory: %w", err)
	}
	return nil
}

// dialPasser connects to a server of this machine.
func dialPasser(display string, at address) (*xgb.Conn, *passer, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: at.socket(), Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	p := &passer{UnixConn: conn, files: map[string]*os.File{}}
	x, err := greet(p, display)
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	x.DefaultScreen = at.screen
	return x, p, nil
}

// greet begins to speak with the server of a display.
func greet(conn net.Conn, display string) (*xgb.Conn, error) {
	if cookie := cookieOf(display); cookie != "" {
		return xgb.NewConnNetWithCookieHex(conn, cookie)
	}
	return xgb.NewConnNet(conn)
}
