//go:build unix

package x11

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Sockets is the folder where X servers have their sockets.
const Sockets = "/tmp/.X11-unix"

// SocketOf returns the path of the socket of a display of this machine, such as ":0".
func SocketOf(display string) string {
	return filepath.Join(Sockets, "X"+strings.TrimPrefix(display, ":"))
}

// A Display is where a server listens, by the name of its display; see X(7), "Display
// Names".
type Display struct {
	Network, Address string // as for [net.Dial]
	Number, Screen   int
	host             string // "" for this machine
}

// ParseDisplay takes the name of a display apart: ":0", "host:0.1", "tcp/host:0", or
// "/path/to/socket:0", whose socket has the number in its name. "" means $DISPLAY.
func ParseDisplay(name string) (Display, error) {
	if name == "" {
		name = os.Getenv("DISPLAY")
	}
	bad := fmt.Errorf("%q names no display: write for example :0", name)
	colon := strings.LastIndex(name, ":")
	if colon < 0 {
		return Display{}, bad
	}
	var d Display
	var err error
	server, rest := name[:colon], name[colon+1:]
	number, screen, more := strings.Cut(rest, ".")
	if d.Number, err = strconv.Atoi(number); err != nil || d.Number < 0 {
		return Display{}, bad
	}
	if more {
		if d.Screen, err = strconv.Atoi(screen); err != nil || d.Screen < 0 {
			return Display{}, bad
		}
	}
	if strings.HasPrefix(server, "/") {
		d.Network, d.Address = "unix", server+":"+number
		return d, nil
	}
	d.Network = "tcp"
	if i := strings.LastIndex(server, "/"); i >= 0 {
		d.Network, server = server[:i], server[i+1:]
	}
	if server == "" || server == "unix" {
		d.Network, d.Address = "unix", SocketOf(":"+number)
		return d, nil
	}
	d.host, d.Address = server, net.JoinHostPort(server, strconv.Itoa(6000+d.Number))
	return d, nil
}

// Local reports whether the server listens at a socket of this machine.
func (d Display) Local() bool { return d.Network == "unix" }

// Dial connects to the server, and says nothing to it yet.
func (d Display) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, d.Network, d.Address)
}

// CookieName is how the protocol calls what [Display.Cookie] returns, and CookieSize its
// length in bytes.
const (
	CookieName = "MIT-MAGIC-COOKIE-1"
	CookieSize = 16
)

// Cookie returns what lets this user connect, by the file of Xau ($XAUTHORITY; families
// of Xauth.h: 256 local, 65535 wild). It is nil if that has none: the server may know the
// user by other means.
func (d Display) Cookie() []byte {
	host, number := d.host, strconv.Itoa(d.Number)
	if host == "" || host == "localhost" {
		host, _ = os.Hostname() // without it no entry of one host fits
	}
	path := os.Getenv("XAUTHORITY")
	if path == "" {
		path = os.Getenv("HOME") + "/.Xauthority"
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	in := bufio.NewReader(io.LimitReader(f, 1<<20))
	for {
		var family uint16
		if binary.Read(in, binary.BigEndian, &family) != nil {
			return nil
		}
		var fields [4][]byte // address, number, name of the method, data
		for i := range fields {
			var size uint16
			if binary.Read(in, binary.BigEndian, &size) != nil {
				return nil
			}
			fields[i] = make([]byte, size)
			if _, err := io.ReadFull(in, fields[i]); err != nil {
				return nil
			}
		}
		const local, wild = 256, 65535
		here := family == wild || family == local && string(fields[0]) == host
		this := len(fields[1]) == 0 || string(fields[1]) == number
		if here && this && string(fields[2]) == CookieName && len(fields[3]) == CookieSize {
			return fields[3]
		}
	}
}
