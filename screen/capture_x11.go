//go:build unix && !darwin

package screen

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"log/slog"
	"runtime"
	"sync"
	"unsafe"

	"desktop-agent/internal/x11"

	"github.com/jezek/xgb/randr"
	"github.com/jezek/xgb/shm"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/sys/unix"
)

// A captured is a picture of the desktop and what was asked for together with it.
type captured struct {
	bare, frame *image.RGBA // without and with the pointer
	cursor      image.Point
	monitors    []Monitor
}

// capture takes a picture of the whole desktop, with pointer and monitors when
// everything is asked for.
func (d *display) capture(everything bool) (captured, error) {
	const attempts = 10 // the screen may change its size in between, and change it again
	for n := 1; ; n++ {
		w, h, err := d.geometry()
		if err != nil {
			return captured{}, err
		}
		taken, err := d.captureSized(w, h, everything)
		if _, resized := errors.AsType[xproto.MatchError](err); !resized || n == attempts {
			return taken, d.lost(err)
		}
	}
}

// captureSized sends all requests at once, so that the answers tell of one moment.
func (d *display) captureSized(w, h int, everything bool) (captured, error) {
	d.shared.fit(d.format.stride(w) * h)
	pixels := d.requestPixels(w, h)
	var (
		cursor   xfixes.GetCursorImageCookie
		pointer  xproto.QueryPointerCookie
		monitors randr.GetMonitorsCookie
	)
	if everything {
		pointer = xproto.QueryPointer(d.conn.Conn, d.conn.Root)
		if d.hasCursor {
			cursor = xfixes.GetCursorImage(d.conn.Conn)
		}
		if d.hasMonitors {
			monitors = randr.GetMonitors(d.conn.Conn, d.conn.Root, true)
		}
	}
	s := captured{bare: image.NewRGBA(image.Rect(0, 0, w, h))} // takes as long as the server's part
	data, err := pixels()
	if err != nil {
		return captured{}, err
	}
	if err := d.format.convert(s.bare, data); err != nil || !everything {
		return s, err
	}
	p, err := pointer.Reply()
	if err != nil {
		return s, fmt.Errorf("pointer: %w", err)
	}
	s.cursor = image.Pt(int(p.RootX), int(p.RootY))
	s.frame = image.NewRGBA(s.bare.Rect)
	draw.Draw(s.frame, s.frame.Rect, s.bare, image.Point{}, draw.Src) // unlike copy, not watched word by word by the race detector
	if d.hasCursor {
		if c, err := cursor.Reply(); err == nil {
			s.cursor = image.Pt(int(c.X), int(c.Y))
			drawCursor(s.frame, c)
		}
	}
	s.monitors = d.monitors(monitors, s.bare.Rect)
	return s, nil
}

// requestPixels asks for the whole picture; the function that it returns waits
// for it. What that returns is valid until the next request.
func (d *display) requestPixels(w, h int) func() ([]byte, error) {
	root, all := xproto.Drawable(d.conn.Root), uint32(0xffffffff)
	if d.shared.data != nil {
		cookie := shm.GetImage(d.conn.Conn, root, 0, 0, uint16(w), uint16(h), all, xproto.ImageFormatZPixmap, d.shared.id, 0)
		return func() ([]byte, error) {
			_, err := cookie.Reply()
			return d.shared.data, err
		}
	}
	cookie := xproto.GetImage(d.conn.Conn, xproto.ImageFormatZPixmap, root, 0, 0, uint16(w), uint16(h), all)
	return func() ([]byte, error) {
		reply, err := cookie.Reply()
		if err != nil {
			return nil, err
		}
		return reply.Data, nil
	}
}

// monitors returns the monitors in the order of the server, the whole desktop
// where it knows of none.
func (d *display) monitors(cookie randr.GetMonitorsCookie, desktop image.Rectangle) []Monitor {
	var list []Monitor
	if d.hasMonitors {
		if reply, err := cookie.Reply(); err == nil {
			for _, m := range reply.Monitors {
				at := image.Pt(int(m.X), int(m.Y))
				monitor := Monitor{Primary: m.Primary, Box: image.Rectangle{Min: at, Max: at.Add(image.Pt(int(m.Width), int(m.Height)))}}
				if name, err := xproto.GetAtomName(d.conn.Conn, m.Name).Reply(); err == nil {
					monitor.Name = name.Name
				}
				list = append(list, monitor)
			}
		}
	}
	if len(list) == 0 {
		list = []Monitor{{Name: "screen", Box: desktop, Primary: true}}
	}
	return list
}

// drawCursor draws the pointer's image, whose alpha is premultiplied, with its
// hot spot where the pointer is.
func drawCursor(m *image.RGBA, c *xfixes.GetCursorImageReply) {
	origin := image.Pt(int(c.X)-int(c.Xhot), int(c.Y)-int(c.Yhot))
	size := image.Pt(int(c.Width), int(c.Height))
	box := image.Rectangle{Min: origin, Max: origin.Add(size)}.Intersect(m.Rect)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			argb := c.CursorImage[(y-origin.Y)*size.X+x-origin.X]
			rest := 255 - argb>>24
			p := m.Pix[m.PixOffset(x, y):][:4:4]
			p[0] = byte(argb>>16&0xff + (uint32(p[0])*rest+127)/255)
			p[1] = byte(argb>>8&0xff + (uint32(p[1])*rest+127)/255)
			p[2] = byte(argb&0xff + (uint32(p[2])*rest+127)/255)
		}
	}
}

// A segment is memory shared with the X server. It belongs to no name, so that the
// system frees it also when the program is killed; and to no number that others could
// find it by, so that the server may be in a namespace of its own.
type segment struct {
	conn   *x11.Conn
	log    *slog.Logger
	id     shm.Seg
	data   []byte // nil while there is none
	failed bool   // the server is elsewhere, or shares no memory
}

// fit makes the segment large enough. Without one, pictures come over the connection.
func (s *segment) fit(size int) {
	if s.failed || len(s.data) >= size {
		return
	}
	if s.data != nil {
		shm.Detach(s.conn.Conn, s.id)
		if err := s.free(); err != nil {
			s.log.Warn("shared memory", "err", err)
		}
	}
	if err := s.attach(size); err != nil {
		s.failed = true
		s.log.Warn("no memory shared with the X server", "err", err)
	}
}

// attach makes a segment and shows it to the server.
func (s *segment) attach(size int) error {
	file, err := nameless(size)
	if err != nil {
		return fmt.Errorf("make shared memory: %w", err)
	}
	defer file.Close() // both sides hold the memory, which ends with its last holder
	if s.data, err = unix.Mmap(int(file.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return fmt.Errorf("attach shared memory: %w", err)
	}
	s.id, err = shm.NewSegId(s.conn.Conn)
	if err == nil {
		err = s.conn.AttachMemory(s.id, file)
	}
	if err == nil {
		err = s.verify()
	}
	if err != nil {
		return errors.Join(err, s.free())
	}
	return nil
}

// verify makes sure that the server writes to this memory.
func (s *segment) verify() error {
	for _, pattern := range []byte{0x5a, 0xa5} {
		s.data[0], s.data[1], s.data[2] = pattern, pattern, pattern
		_, err := shm.GetImage(s.conn.Conn, xproto.Drawable(s.conn.Root), 0, 0, 1, 1, 0xffffffff,
			xproto.ImageFormatZPixmap, s.id, 0).Reply()
		if err != nil {
			return err
		}
		if s.data[0] != pattern || s.data[1] != pattern || s.data[2] != pattern {
			return nil
		}
	}
	return errors.New("the server writes elsewhere")
}

// free lets the memory go.
func (s *segment) free() error {
	if s.data == nil {
		return nil
	}
	data := s.data
	s.data = nil
	if err := unix.Munmap(data); err != nil {
		return fmt.Errorf("free shared memory: %w", err)
	}
	return nil
}

// A pixelFormat tells how the server lays out pixels.
type pixelFormat struct {
	bytes            int // of a pixel: 2 or 4
	red, green, blue uint32
	order            binary.ByteOrder
	fast             bool // 32 bits, blue first: what nearly every server has
}

// formatOf finds out the pixel format of the root window.
func formatOf(conn *x11.Conn) (pixelFormat, error) {
	setup := xproto.Setup(conn.Conn)
	f := pixelFormat{order: binary.LittleEndian}
	if setup.ImageByteOrder == xproto.ImageOrderMSBFirst {
		f.order = binary.BigEndian
	}
	for _, format := range setup.PixmapFormats {
		if format.Depth == conn.Screen.RootDepth {
			f.bytes = int(format.BitsPerPixel) / 8
		}
	}
	for _, depth := range conn.Screen.AllowedDepths {
		for _, v := range depth.Visuals {
			if v.VisualId == conn.Screen.RootVisual && v.Class == xproto.VisualClassTrueColor {
				f.red, f.green, f.blue = v.RedMask, v.GreenMask, v.BlueMask
			}
		}
	}
	if f.bytes != 2 && f.bytes != 4 || f.red == 0 {
		return f, fmt.Errorf("the screen has a depth of %d bits; 24 are needed, or 15 or 16", conn.Screen.RootDepth)
	}
	littleHost := binary.NativeEndian.Uint16([]byte{1, 0}) == 1
	f.fast = littleHost && f.order == binary.LittleEndian && f.bytes == 4 &&
		f.red == 0xff0000 && f.green == 0xff00 && f.blue == 0xff
	return f, nil
}

// stride returns the number of bytes of a row, which ends at 32 bits.
func (f pixelFormat) stride(w int) int { return (w*f.bytes + 3) &^ 3 }

// convert fills a picture with the server's pixels.
func (f pixelFormat) convert(m *image.RGBA, data []byte) error {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	stride := f.stride(w)
	if len(data) < stride*h {
		return fmt.Errorf("the server sent %d bytes of a picture of %d", len(data), stride*h)
	}
	if f.fast {
		swapRedBlue(m.Pix[:4*w*h], data)
		return nil
	}
	for y := range h {
		for x := range w {
			at := data[y*stride+x*f.bytes:]
			var v uint32
			if f.bytes == 2 {
				v = uint32(f.order.Uint16(at))
			} else {
				v = f.order.Uint32(at)
			}
			p := m.Pix[y*m.Stride+4*x:][:4:4]
			p[0], p[1], p[2], p[3] = channel(v, f.red), channel(v, f.green), channel(v, f.blue), 0xff
		}
	}
	return nil
}

// channel returns the part of a pixel under a mask, stretched to 8 bits.
func channel(v, mask uint32) byte {
	low := mask & -mask
	return byte(uint64(v&mask/low) * 255 / uint64(mask/low))
}

// swapRedBlue turns blue-green-red pixels into opaque red-green-blue ones, in
// strips on several processors.
func swapRedBlue(to, from []byte) {
	const smallest = 1 << 18 // bytes for which a processor is worth its start
	strips := min(runtime.GOMAXPROCS(0), 4, len(to)/smallest+1)
	size := (len(to)/strips + 63) &^ 63
	var all sync.WaitGroup
	for len(to) > size {
		t, f := to[:size], from[:size]
		all.Go(func() { swapStrip(t, f) })
		to, from = to[size:], from[size:]
	}
	swapStrip(to, from)
	all.Wait()
}

// swapStrip swaps two pixels at a time, eight a turn. Slices of 64 bytes or more
// must begin at a multiple of 8 bytes, as whole pictures and their strips do. The race
// detector need not watch each word, at many times its cost: the picture is not yet
// anybody's, and the server, which writes the other, is not watched anyhow.
//
//go:norace
func swapStrip(to, from []byte) {
	const (
		second = 0x000000ff_000000ff // every second byte of each pixel: red or blue
		green  = 0x0000ff00_0000ff00
		opaque = 0xff000000_ff000000
	)
	pairs := len(to) / 8
	if len(to) < 64 {
		pairs = 0
	}
	for i := 8 * pairs; i < len(to); i += 4 {
		to[i], to[i+1], to[i+2], to[i+3] = from[i+2], from[i+1], from[i], 0xff
	}
	if pairs == 0 {
		return
	}
	t := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(to))), pairs)
	f := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(from))), pairs)
	for len(f) >= 4 {
		from, to := (*[4]uint64)(f), (*[4]uint64)(t)
		a, b, c, d := from[0], from[1], from[2], from[3]
		to[0] = a&second<<16 | a&green | a>>16&second | opaque
		to[1] = b&second<<16 | b&green | b>>16&second | opaque
		to[2] = c&second<<16 | c&green | c>>16&second | opaque
		to[3] = d&second<<16 | d&green | d>>16&second | opaque
		f, t = f[4:], t[4:]
	}
	for i, v := range f {
		t[i] = v&second<<16 | v&green | v>>16&second | opaque
	}
}
