package plant

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// An opening tells whether a file was opened, or the names in a folder were listed.
type opening struct{ events *os.File }

// newOpening begins to watch a file or a folder of this machine.
func newOpening(name string) (*opening, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	o := &opening{os.NewFile(uintptr(fd), "inotify")}
	if _, err := unix.InotifyAddWatch(fd, name, unix.IN_OPEN); err != nil {
		_ = o.close()
		return nil, fmt.Errorf("watch %s: %w", name, err)
	}
	return o, nil
}

// opened reports whether any program has opened it since it was last asked.
func (o *opening) opened() (bool, error) {
	conn, err := o.events.SyscallConn()
	if err != nil {
		return false, err
	}
	found := false
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		for data := make([]byte, 1<<16); ; {
			n, err := unix.Read(int(fd), data)
			switch err {
			case nil:
				found = itself(data[:n]) || found
			case unix.EINTR:
			case unix.EAGAIN:
				return true
			default:
				failed = os.NewSyscallError("read", err)
				return true
			}
		}
	})
	if err == nil {
		err = failed
	}
	return found, err
}

// itself reports whether one of some events is of what is watched: those of files in a
// folder have a name.
func itself(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		mask, name := binary.NativeEndian.Uint32(events[4:]), int(binary.NativeEndian.Uint32(events[12:]))
		if mask&unix.IN_OPEN != 0 && name == 0 {
			return true
		}
		events = events[min(len(events), unix.SizeofInotifyEvent+name):]
	}
	return false
}

func (o *opening) close() error { return o.events.Close() }
