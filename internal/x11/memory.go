//go:build unix

package x11

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

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
