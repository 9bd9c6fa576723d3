//go:build unix && !darwin

package screen

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"desktop-agent/internal/x11"

	"github.com/jezek/xgb/damage"
	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/res"
	"github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/shm"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
)

// A display is a connection to an X server with all that is kept between
// observations. One goroutine at a time uses it, except where a method says so.
type display struct {
	conn   *x11.Conn
	log    *slog.Logger
	format pixelFormat
	shared *segment // nil: pictures come over the connection

	hasCursor, hasMonitors, hasDamage, hasClients, hasIdle bool // extensions

	settling SettleOptions
	watch    *watch
	load     load
	rest     rest
	self     uint32 // our own client, see [x11.Conn.Owner]
	stop     func() // ends the watch
}

// ServerOf returns the process of the server of a display, such as ":0", for which programs
// wait; "" means $DISPLAY. It is 0 where that is not known, as that of another machine.
func ServerOf(display string) (pid int) { return x11.ServerOf(display) }

// openDisplay connects to the X server and begins to watch it.
func openDisplay(opt Options) (*display, error) {
	conn, err := x11.Dial(opt.Display)
	if err != nil {
		return nil, fmt.Errorf("%w; set DISPLAY to a running desktop, or use --virtual for a private one", err)
	}
	d := &display{conn: conn, log: opt.Log, settling: opt.Settle.withDefaults()}
	d.self = xproto.Setup(conn.Conn).ResourceIdBase
	if err := d.prepare(); err != nil {
		d.hangUp()
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// prepare finds out what the server can do. Only what there is no substitute
// for is an error.
func (d *display) prepare() error {
	var err error
	sharing := false
	if d.format, err = formatOf(d.conn); err != nil {
		return err
	}
	for _, e := range []struct {
		name    string
		has     *bool
		version func() error
	}{
		{"XFIXES", &d.hasCursor, func() error { _, err := xfixes.QueryVersion(d.conn.Conn, 5, 0).Reply(); return err }},
		{"DAMAGE", &d.hasDamage, func() error { _, err := damage.QueryVersion(d.conn.Conn, 1, 1).Reply(); return err }},
		{"RANDR", &d.hasMonitors, func() error {
			v, err := randr.QueryVersion(d.conn.Conn, 1, 5).Reply()
			if err == nil && (v.MajorVersion < 1 || v.MajorVersion == 1 && v.MinorVersion < 5) {
				return fmt.Errorf("version %d.%d has no monitors", v.MajorVersion, v.MinorVersion)
			}
			return err
		}},
		{"X-Resource", &d.hasClients, func() error {
			v, err := res.QueryVersion(d.conn.Conn, 1, 2).Reply()
			if err == nil && (v.ServerMajor < 1 || v.ServerMajor == 1 && v.ServerMinor < 2) {
				return fmt.Errorf("version %d.%d cannot name processes", v.ServerMajor, v.ServerMinor)
			}
			return err
		}},
		{"MIT-SCREEN-SAVER", &d.hasIdle, func() error {
			_, err := screensaver.QueryVersion(d.conn.Conn, 1, 1).Reply()
			return err
		}},
		{"MIT-SHM", &sharing, func() error { _, err := shm.QueryVersion(d.conn.Conn).Reply(); return err }},
	} {
		if err := d.conn.Extension(e.name); err != nil {
			d.log.Warn("extension", "err", err)
		} else if err := e.version(); err != nil {
			d.log.Warn("extension", "name", e.name, "err", err)
		} else {
			*e.has = true
		}
	}
	d.shared = &segment{conn: d.conn, log: d.log, failed: !sharing}
	if d.watch, d.stop, err = d.startWatch(); err != nil {
		return fmt.Errorf("watch the screen: %w", err)
	}
	return nil
}

// hangUp ends the connection, so that whoever uses the display fails soon. Any
// goroutine may call it.
func (d *display) hangUp() { d.conn.Close() }

// close frees everything. The connection must have been hung up.
func (d *display) close() error {
	select {
	case <-d.conn.Closed():
	case <-time.After(closeLimit):
		return errors.New("the X server does not answer")
	}
	if d.stop != nil {
		d.stop()
	}
	if d.shared != nil {
		return d.shared.free()
	}
	return nil
}

// geometry returns the size of the desktop as it is now.
func (d *display) geometry() (w, h int, err error) {
	g, err := xproto.GetGeometry(d.conn.Conn, xproto.Drawable(d.conn.Root)).Reply()
	if err != nil {
		return 0, 0, fmt.Errorf("size of the screen: %w", d.lost(err))
	}
	return int(g.Width), int(g.Height), nil
}

// lost turns the error of a connection that ended into one that says so.
func (d *display) lost(err error) error {
	select {
	case <-d.conn.Closed():
	default:
		if !errors.Is(err, io.EOF) { // what the library says a moment before it is closed
			return err
		}
	}
	return fmt.Errorf("%w any more: the X server ended the connection", x11.ErrNoDisplay)
}
