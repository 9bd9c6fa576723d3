//go:build linux

package screen_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"desktop-agent/internal/x11"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/sys/unix"
)

// The ways in which a staged window spends the time between its stages.
const (
	stagedCompute = "compute" // computes, and answers nobody meanwhile
	stagedSleep   = "sleep"   // sleeps, and answers nobody meanwhile
	stagedThread  = "thread"  // computes in another thread, and answers at once
	stagedChild   = "child"   // another process computes
	stagedBlink   = "blink"   // draws nothing when clicked, but blinks
	stagedSpin    = "spin"    // draws without end once clicked
	stagedHang    = "hang"    // answers nobody once clicked, until it has a signal, and then draws
	stagedBurn    = "burn"    // computes without end, and draws nothing
	stagedChain   = "chain"   // draws by a timer, then finds by another that nothing is to be done yet, and by a third draws again
	stagedLinks   = "links"   // draws by the last of three timers, each set by the one before
	stagedLag     = "lag"     // as chain, and is late to answer just before it draws first
	stagedTick    = "tick"    // once clicked, waits for events 100 ms long again and again, and does nothing
	stagedBrief   = "brief"   // as tick, 15 ms long
	stagedDialog  = "dialog"  // has a dialog and a short timer all the time; clicked, it closes the dialog by one and goes on as chain does
	stagedLate    = "late"    // shows its window only some time after it has connected; see stagedLateDelay
	stagedTardy   = "tardy"   // is always late to answer, as on a crowded machine
	stagedNever   = "never"   // connects, and shows nothing at all
	stagedMenu    = "menu"    // opens a menu, and acts on a click into it by a timer; see stagedMenuDelay
)

// stagedMenuDelay is how long after a menu has closed the staged window does what
// was chosen: like a toolkit it waits for events with that limit, and answers
// meanwhile.
const stagedMenuDelay = 200 * time.Millisecond

// stagedLateDelay is how long after it has connected a program waits for others, a
// service on the bus that has to be started first, before it shows its window.
const stagedLateDelay = 600 * time.Millisecond

// burnArgument makes the staged window's program compute for so many
// milliseconds and nothing else.
const burnArgument = "burn-ms="

// stagedWindow shows a window that draws in several stages when it is clicked.
// It ends when its display does.
func stagedWindow(kind string) {
	if n, ok := cutNumber(kind, burnArgument); ok {
		burn(time.Duration(n) * time.Millisecond)
		return
	}
	w, err := newStaged(kind)
	if err != nil {
		fmt.Fprintln(os.Stderr, "staged window:", err)
		os.Exit(1)
	}
	w.run()
}

// A toolkit waits for events in its first thread, and the kernel tells how long: so
// the window that stands for one stays on it.
func init() {
	if os.Getenv(windowVariable) != "" {
		runtime.LockOSThread()
	}
}

func cutNumber(s, prefix string) (int, bool) {
	if len(s) <= len(prefix) || s[:len(prefix)] != prefix {
		return 0, false
	}
	n, err := strconv.Atoi(s[len(prefix):])
	return n, err == nil
}

type staged struct {
	conn   *x11.Conn
	kind   string
	window xproto.Window
	menu   xproto.Window // open; 0 if it is closed
	dialog xproto.Window // of stagedDialog
	gc     xproto.Gcontext
	clicks int
	wake   [2]int // a pipe that is written to with each event

	// A toolkit takes events and draws in its first thread, so it answers a ping once it has
	// dealt with what came before, or while it waits for a timer.
	turn    sync.Mutex
	mayTurn *sync.Cond
	undone  int // events that were not dealt with yet
	waits   bool
	asked   int // pings since the last click
}

func newStaged(kind string) (*staged, error) {
	conn, err := x11.Dial("")
	if err != nil {
		return nil, err
	}
	switch kind {
	case stagedLate:
		time.Sleep(stagedLateDelay)
	case stagedNever:
		<-conn.Closed()
	}
	w := &staged{conn: conn, kind: kind}
	w.mayTurn = sync.NewCond(&w.turn)
	if err := unix.Pipe2(w.wake[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, err
	}
	w.window, _ = xproto.NewWindowId(conn.Conn)
	w.gc, _ = xproto.NewGcontextId(conn.Conn)
	xproto.CreateWindow(conn.Conn, conn.Screen.RootDepth, w.window, conn.Root, 0, 0, 400, 300, 0,
		xproto.WindowClassInputOutput, conn.Screen.RootVisual, xproto.CwBackPixel|xproto.CwEventMask,
		[]uint32{0xffffff, xproto.EventMaskButtonPress | xproto.EventMaskStructureNotify})
	xproto.CreateGC(conn.Conn, w.gc, xproto.Drawable(w.window), xproto.GcForeground, []uint32{0})
	protocols, _ := conn.Atom("WM_PROTOCOLS")
	ping, _ := conn.Atom("_NET_WM_PING")
	value := make([]byte, 4)
	xgb.Put32(value, uint32(ping))
	xproto.ChangeProperty(conn.Conn, xproto.PropModeReplace, w.window, protocols, xproto.AtomAtom, 32, 1, value)
	title := "staged " + kind
	xproto.ChangeProperty(conn.Conn, xproto.PropModeReplace, w.window, xproto.AtomWmName, xproto.AtomString, 8, uint32(len(title)), []byte(title))
	class := "staged\x00Staged\x00"
	xproto.ChangeProperty(conn.Conn, xproto.PropModeReplace, w.window, xproto.AtomWmClass, xproto.AtomString, 8, uint32(len(class)), []byte(class))
	return w, nil
}

// run shows the window and handles events one after the other, as programs do.
func (w *staged) run() {
	events := make(chan xgb.Event, 1000)
	protocols, _ := w.conn.Atom("WM_PROTOCOLS")
	woken := w.kind == stagedChain || w.kind == stagedLag || w.kind == stagedLinks || w.kind == stagedMenu // by what it waits for, as a toolkit is
	w.conn.Listen(func(e xgb.Event) {
		w.turn.Lock()
		defer w.turn.Unlock()
		if e, ok := e.(xproto.ClientMessageEvent); ok && e.Type == protocols {
			for w.undone > 0 && !w.waits {
				w.mayTurn.Wait()
			}
			if w.asked++; w.kind == stagedTardy || w.kind == stagedLag && w.clicks > 0 && w.asked == 2 {
				time.Sleep(25 * time.Millisecond) // more than an idle program takes
			}
			if w.kind == stagedTardy {
				burn(4 * time.Millisecond) // as with the caches of others
			}
			w.answer(e)
			return
		}
		w.undone++
		events <- e
		if woken {
			_, _ = unix.Write(w.wake[1], []byte{0})
		}
	})
	xproto.MapWindow(w.conn.Conn, w.window) // only now: what comes before somebody listens is lost
	if w.kind == stagedDialog {
		w.openDialog()
	}
	go func() {
		<-w.conn.Closed()
		os.Exit(0)
	}()
	var blink <-chan time.Time
	if w.kind == stagedBlink {
		blink = time.Tick(300 * time.Millisecond)
	}
	for on := false; ; {
		for woken && len(events) == 0 {
			w.poll([]unix.PollFd{{Fd: int32(w.wake[0]), Events: unix.POLLIN}}, -1)
			_, _ = unix.Read(w.wake[0], make([]byte, 1))
		}
		for w.kind == stagedDialog && w.clicks == 0 && len(events) == 0 {
			w.wait(100 * time.Millisecond)
		}
		select {
		case <-blink:
			on = !on
			w.fill(xproto.Rectangle{X: 10, Y: 10, Width: 2, Height: 17}, map[bool]uint32{true: 0, false: 0xffffff}[on])
		case e := <-events:
			if _, ok := e.(xproto.ButtonPressEvent); ok {
				w.turn.Lock()
				w.clicks++
				w.asked = 0
				w.turn.Unlock()
				w.clicked()
			}
			w.turn.Lock()
			w.undone--
			w.mayTurn.Signal()
			w.turn.Unlock()
		}
	}
}

// wait waits as a toolkit does, in the first thread, with a limit that the kernel tells.
func (w *staged) wait(delay time.Duration) { w.poll(nil, int(delay.Milliseconds())) }

// poll is wait for one who may be woken by one of these files, in so many milliseconds; -1
// is for ever.
func (w *staged) poll(files []unix.PollFd, milliseconds int) {
	w.turn.Lock()
	w.waits = true
	w.mayTurn.Signal()
	w.turn.Unlock()
	_, _ = unix.Poll(files, milliseconds)
	for !w.turn.TryLock() { // it is seen to work: a toolkit would answer in this thread
		runtime.Gosched()
	}
	w.waits = false
	w.turn.Unlock()
}

// answer sends a ping back to the root window as it came.
func (w *staged) answer(e xproto.ClientMessageEvent) {
	e.Window = w.conn.Root
	xproto.SendEvent(w.conn.Conn, false, w.conn.Root,
		xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(e.Bytes()))
}

// clicked does what the window is for.
func (w *staged) clicked() {
	switch w.kind {
	case stagedCompute:
		w.stages(burn)
	case stagedSleep:
		w.stages(time.Sleep)
	case stagedThread:
		go w.stages(burn)
	case stagedChild:
		go w.stages(func(d time.Duration) {
			_ = exec.Command(os.Args[0], burnArgument+strconv.Itoa(int(d.Milliseconds()))).Run()
		})
	case stagedSpin:
		go func() {
			for i := uint32(0); ; i++ {
				w.fill(xproto.Rectangle{X: 100, Y: 100, Width: 32, Height: 32}, i*0x10305)
				time.Sleep(16 * time.Millisecond)
			}
		}()
	case stagedHang:
		wake := make(chan os.Signal, 1)
		signal.Notify(wake, syscall.SIGUSR1)
		<-wake
		w.fill(xproto.Rectangle{Width: 400, Height: 300}, 0xff)
	case stagedBurn:
		go burn(time.Hour)
	case stagedMenu:
		w.choose()
	case stagedTick:
		w.tick(100 * time.Millisecond)
	case stagedBrief:
		w.tick(15 * time.Millisecond)
	case stagedDialog:
		w.wait(100 * time.Millisecond)
		xproto.DestroyWindow(w.conn.Conn, w.dialog)
		w.chain()
	case stagedChain, stagedLag:
		w.chain()
	case stagedLinks:
		for _, delay := range []time.Duration{40, 240, 200} {
			w.wait(delay * time.Millisecond)
		}
		w.fill(xproto.Rectangle{Y: 120, Width: 400, Height: 60}, 0)
	}
}

// tick waits so long again and again, and does nothing.
func (w *staged) tick(every time.Duration) {
	for {
		w.wait(every)
	}
}

// chain draws two stripes by the first and the third of three timers.
func (w *staged) chain() {
	for i, delay := range []time.Duration{100, 280, 280} {
		w.wait(delay * time.Millisecond)
		if i != 1 {
			w.fill(xproto.Rectangle{Y: int16(60 * i), Width: 400, Height: 60}, 0)
			_ = w.conn.RoundTrip()
		}
	}
}

// openDialog shows a second window that the window manager knows, below the first.
func (w *staged) openDialog() {
	w.dialog, _ = xproto.NewWindowId(w.conn.Conn)
	xproto.CreateWindow(w.conn.Conn, w.conn.Screen.RootDepth, w.dialog, w.conn.Root, 0, 0, 100, 100, 0,
		xproto.WindowClassInputOutput, w.conn.Screen.RootVisual, xproto.CwBackPixel, []uint32{0xcccccc})
	xproto.MapWindow(w.conn.Conn, w.dialog)
}

// choose opens the menu, in the middle of the window, or closes it and does later
// what it is for: a stripe at the top becomes black.
func (w *staged) choose() {
	if w.menu != 0 {
		xproto.DestroyWindow(w.conn.Conn, w.menu)
		w.menu = 0
		_ = w.conn.RoundTrip()
		w.wait(stagedMenuDelay)
		w.fill(xproto.Rectangle{Width: 400, Height: 60}, 0)
		return
	}
	at, err := xproto.TranslateCoordinates(w.conn.Conn, w.window, w.conn.Root, 150, 100).Reply()
	if err != nil {
		return
	}
	w.menu, _ = xproto.NewWindowId(w.conn.Conn)
	xproto.CreateWindow(w.conn.Conn, w.conn.Screen.RootDepth, w.menu, w.conn.Root, at.DstX, at.DstY, 100, 100, 0,
		xproto.WindowClassInputOutput, w.conn.Screen.RootVisual, xproto.CwBackPixel|xproto.CwOverrideRedirect|xproto.CwEventMask,
		[]uint32{0xcccccc, 1, xproto.EventMaskButtonPress})
	xproto.MapWindow(w.conn.Conn, w.menu)
}

// stages draws 2 to 4 stripes, each 30 to 120 ms after the one before.
func (w *staged) stages(spend func(time.Duration)) {
	n := 2 + rand.IntN(3)
	for i := range n {
		spend(time.Duration(30+rand.IntN(91)) * time.Millisecond)
		colour := rand.Uint32() & 0xffffff
		w.fill(xproto.Rectangle{Y: int16(60 * i), Width: 400, Height: 60}, colour)
	}
}

func (w *staged) fill(r xproto.Rectangle, colour uint32) {
	xproto.ChangeGC(w.conn.Conn, w.gc, xproto.GcForeground, []uint32{colour})
	xproto.PolyFillRectangle(w.conn.Conn, xproto.Drawable(w.window), w.gc, []xproto.Rectangle{r})
}

// burn computes for a while.
func burn(d time.Duration) {
	x := 1
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 1000 {
			x = x*31 + 7
		}
	}
	if x == 0 { // never, as x stays odd or even in turn; keeps the loop
		fmt.Fprintln(os.Stderr, x)
	}
}
