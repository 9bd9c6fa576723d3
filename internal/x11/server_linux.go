package x11

import (
	"net"

	"golang.org/x/sys/unix"
)

// ServerOf returns the process of the server of a display, such as ":0"; "" means $DISPLAY.
// It is the one that listens at the display's socket: 0 for a display of another machine,
// and where none answers.
func ServerOf(display string) (pid int) {
	at, err := ParseDisplay(display)
	if err != nil || !at.Local() {
		return 0
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: at.Address, Net: "unix"})
	if err != nil {
		return 0
	}
	defer conn.Close()
	socket, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	// See unix(7), SO_PEERCRED: what was in effect when it began to listen.
	_ = socket.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
