//go:build unix && !darwin

package screen

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"desktop-agent/internal/x11"

	"github.com/jezek/xgb/screensaver"
	"github.com/jezek/xgb/xfixes"
	"github.com/jezek/xgb/xproto"
	"golang.org/x/sync/errgroup"
)

const (
	// pace is the time between two looks at how much the programs work.
	pace = 8 * time.Millisecond

	// slowAnswer is how long an idle program takes to answer at most.
	slowAnswer = 20 * time.Millisecond

	// slowManager is how long the window manager may take.
	slowManager = time.Second

	// slowDrawing is how long a new window may stay empty before it counts as
	// one that stays so.
	slowDrawing = 500 * time.Millisecond

	// slowStart is how long a program that has connected to the server and has shown
	// no window yet may do nothing, as it waits for services that start for it,
	// before it counts as one that will show none. A late answer begins this time anew, as
	// those services may be late as well; but not beyond lateStart, for on a crowded
	// machine all answers are late.
	slowStart = time.Second
	lateStart = 2 * time.Second

	// pageLag and placeLag are how long after it has drawn a page a browser may tell of the
	// page, and of the places in it, as they were before. Blink sends what changed 150 ms
	// after it did so last, and where things that have not the focus moved to, 500 ms; see
	// kDelayForDeferredUpdatesAfterPageLoad and kDelayForLocationUpdatesNonFocused in its
	// ax_object_cache_impl.cc. The rest is for the browser, which passes it on. Places are
	// waited for where the page was drawn for longer than oneChange: one change is told at
	// once, and of several the last is told late.
	pageLag   = 180 * time.Millisecond
	placeLag  = 530 * time.Millisecond
	oneChange = 100 * time.Millisecond
)

// busyCursors are the names of the pointers that mean "at work".
var busyCursors = []string{"watch", "wait", "left_ptr_watch", "progress", "half-busy"}

// A wait is one time of waiting for the screen to be still.
type wait struct {
	*display
	start    time.Time
	busy     []string
	pending  map[xproto.Window]time.Time // managed windows not drawn yet, and since when they are known
	managed  map[xproto.Window]bool      // the managed windows as they were seen last; nil: not known
	appeared []xproto.Window             // top-level windows that were shown meanwhile
	starting map[uint32]time.Time        // clients that connected meanwhile, and since when they are known
	timers   time.Duration               // spent on waiting for short timers
	fruit    bool                        // a program worked or drew by a timer, or it may have
	answered time.Time                   // when all had taken the input
	worked   time.Time                   // when something was drawn or a program worked last, or else that
	lateAt   time.Time                   // when somebody answered late last, after all had taken the input; zero if nobody did
	events   int                         // of the watch, as many as were looked at: none falls between two looks
	armed    time.Time                   // when a program was last seen to have set another short timer

	mu   sync.Mutex // guards busy, next.hung and slow while programs are asked
	slow bool       // somebody answered, but late
	next rest       // what will be left
}

// settle waits until the screen is still:
//
//   - the window manager has handled all input, so that it has reached the programs;
//   - the programs that it may concern have answered, so they have taken it;
//   - and then, for a quiet interval, nothing was drawn but what blinks, no window
//     came or went, and none of these programs worked;
//   - at the end of which all of them answer at once, once more, and none of them
//     is about to go on by itself.
//
// What was there before the input does not count: a program that works all the time,
// one that hung the last time already, a busy pointer that stays.
func (d *display) settle(ctx context.Context) (Settled, error) {
	start := time.Now()
	if d.settling.Off {
		return Settled{Reason: SettledOff}, d.conn.RoundTrip()
	}
	if d.unmoved() {
		return Settled{Reason: SettledQuiet, Waited: time.Since(start)}, nil
	}
	w := &wait{display: d, start: start, pending: map[xproto.Window]time.Time{}, starting: map[uint32]time.Time{}, managed: d.rest.managed, next: rest{
		hung: map[uint32]bool{}, managed: map[xproto.Window]bool{}, clients: map[uint32]bool{}}}
	limited, cancel := context.WithDeadline(ctx, start.Add(d.settling.Ceiling))
	defer cancel()
	d.load.begin(d.undisturbed())
	d.load.anew()
	err := w.run(limited)
	d.load.end()
	reason := SettledQuiet
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		reason, err = SettledCeiling, nil
	}
	seen := d.watch.snapshot()
	w.next.at, w.next.events, w.next.closed, w.next.cursor = time.Now(), seen.events, seen.closed, w.cursor()
	settled := Settled{Reason: reason, Waited: time.Since(start), Busy: w.busy}
	w.next.quiet = err == nil && reason == SettledQuiet && !settled.Unanswered()
	if err == nil {
		d.rest = w.next
	}
	slices.Sort(settled.Busy)
	return settled, d.lost(err)
}

// A rest is what was left when the last wait ended.
type rest struct {
	at      time.Time
	quiet   bool                   // it ended because the screen was still, and everybody had answered
	still   time.Time              // when that wait began, if no timer was left that it had to wait for
	events  int                    // of the watch, by then
	closed  int                    // menus that had closed
	cursor  string                 // the pointer's name
	hung    map[uint32]bool        // clients that had not answered
	clients map[uint32]bool        // clients of the server; nil: not known
	managed map[xproto.Window]bool // managed windows; nil: not known
}

// looks says that a look begins which follows no wait.
func (d *display) looks() { d.load.begin(d.undisturbed()) }

// stir says that there will be input.
func (d *display) stir() { d.load.stir(d.undisturbed()) }

// undisturbed reports whether a rest began, and there was no input of anybody since.
func (d *display) undisturbed() bool {
	since := d.load.since()
	return !since.IsZero() && (!d.hasIdle || d.noInput(since))
}

// looked says that the look that followed the last wait is over: reading a tree
// makes programs work. What they drew by then has been told when it returns.
func (d *display) looked() {
	d.load.end()
	_ = d.conn.RoundTrip() // a display that is gone is told by whoever needs it
}

// revived tells whether a program that had not answered by the end of the last wait
// does so now. It is one again that is waited for.
func (d *display) revived() bool {
	revived := false
	for owner := range d.rest.hung {
		ctx, cancel := context.WithTimeout(context.Background(), d.settling.Quiet)
		windows, err := d.windowsOf(owner)
		if err == nil && len(windows) > 0 && d.rest.hung[owner] && d.pingAny(ctx, windows) == nil {
			d.rest.hung[owner], revived = false, true
		}
		cancel()
	}
	return revived
}

// windowsOf returns the managed windows of a client.
func (d *display) windowsOf(owner uint32) (list []xproto.Window, err error) {
	managed, err := d.conn.Clients()
	for _, id := range managed {
		if d.conn.Owner(id) == owner {
			list = append(list, id)
		}
	}
	return list, err
}

// stirred tells whether anything happened since the last wait ended.
func (d *display) stirred() bool { return d.watch.snapshot().events != d.rest.events }

// run waits without a limit of its own.
func (w *wait) run(ctx context.Context) error {
	if _, err := w.ask(ctx); err != nil {
		return err
	}
	w.answered = time.Now()
	w.drew() // by the input itself
	w.worked, w.fruit = w.answered, w.answered.Sub(w.start) > shortTimer/3
	asked, late := w.answered, 0
	for again := false; ; again = true {
		if err := w.quiet(ctx, time.Now(), again); err != nil {
			return err
		}
		prompt, err := w.ask(ctx)
		if err != nil {
			return err
		}
		// Who is late again, and has done nothing in between, waits for a processor:
		// on a crowded machine everybody is late.
		switch {
		case prompt:
			late = 0
		case w.active().After(asked):
			late = 1
		default:
			late++
		}
		asked = time.Now()
		drew := w.drew()
		// What it did before it answered, it may have done by a timer.
		if drew {
			w.worked, w.fruit = asked, true
		}
		if !prompt {
			w.lateAt = asked
			w.load.answered()
		}
		if late == 1 || drew || !w.complete() {
			continue
		}
		fired, err := w.awaitTimer(ctx)
		if !fired || err != nil {
			if w.timers > 0 {
				w.load.learn(w.fruit, w.menuClosed())
			}
			return err
		}
	}
}

// untouched reports whether nothing was done since the last wait began, and nothing
// happened since it ended, and it left no timer that could matter: those that there are
// were waited for then, and are those of a caret or repeat.
func (w *wait) untouched() bool {
	if w.rest.still.IsZero() || !w.hasIdle || !w.active().Equal(w.answered) || !w.load.idled() ||
		w.watch.snapshot().events != w.rest.events || !maps.Equal(w.rest.clients, w.next.clients) {
		return false
	}
	return w.noInput(w.rest.still)
}

// directly is how soon after the end of a wait the next one begins for it to say what that
// one said. Neither a program that is run nor a call of a tree is over in that time.
const directly = 2 * time.Millisecond

// unmoved reports whether a wait has only just ended with a still screen and an answer of
// everybody, and neither was anything done since nor did anything happen: a script that
// sleeps after what it does, and then looks, waits three times for the same.
func (d *display) unmoved() bool {
	return d.rest.quiet && time.Since(d.rest.at) < directly && d.hasIdle &&
		d.noInput(d.rest.at) && !d.stirred()
}

// noInput reports whether there was no input since then, as well as the server's
// milliseconds tell it.
func (d *display) noInput(since time.Time) bool {
	last, err := screensaver.QueryInfo(d.conn.Conn, xproto.Drawable(d.conn.Root)).Reply()
	return err == nil && time.Duration(last.MsSinceUserInput)*time.Millisecond > time.Since(since)+time.Millisecond
}

// awaitTimer waits until a short timer of a program has fired. It returns false
// if there is none, or none that can be due to the input. A menu that opened is the
// effect of the input already: nothing more is waited for then. Any other window that
// came or went is not, and neither is a menu that closed: LibreOffice has its tool
// bars follow 300 ms after a dialog has closed, and a menu closes before the program
// does what was chosen in it.
func (w *wait) awaitTimer(ctx context.Context) (fired bool, err error) {
	w.chained()
	limit := w.load.timer()
	if limit == 0 || w.untouched() {
		w.next.still = w.start
		return false, nil
	}
	if w.menuOpened() || w.menuClosed() && w.load.vain() {
		return false, nil
	}
	patience := timerPatience
	if w.fruit {
		patience = fruitPatience
	}
	if w.timers >= patience {
		w.load.giveUp()
		return false, nil
	}
	if time.Since(w.active()) > shortTimer+slowAnswer && time.Since(w.armed) > shortTimer+slowAnswer {
		w.next.still = w.start
		return false, nil // all that was started then has fired, and nothing came of it
	}
	w.sign("timer")
	start := time.Now()
	defer func() { w.timers += time.Since(start) }()
	for time.Since(start) < limit+pace {
		select {
		case <-ctx.Done():
			return true, ended(ctx)
		case <-w.conn.Closed():
			return true, x11.ErrNoDisplay
		case <-time.After(pace):
		}
		if _, worked := w.load.working(); w.drew() || worked {
			w.worked, w.fruit = time.Now(), true
			return true, nil
		}
		w.chained()
		if w.load.timer() == 0 {
			return true, nil
		}
	}
	return true, nil
}

// chained notes whether a program has set itself another short timer, which may be what it
// does in the end, though the one before led to nothing that can be seen: LibreOffice finds
// 300 ms after it has laid out a table that its tool bars are out of date, and has them follow
// another 300 ms later. That counts where work came of a timer already, and of what is due
// to the input itself: after Ctrl+Home, Calc's timers of 20, 220 and 50 ms lead to nothing,
// and one of 200 ms, which the last of them sets, to its tool bars.
func (w *wait) chained() {
	if w.load.armed() && (w.fruit || time.Since(w.active()) <= shortTimer+slowAnswer) {
		w.armed = time.Now()
	}
}

// active is when a sign of work was seen last, of which a late answer is one.
func (w *wait) active() time.Time {
	if w.lateAt.After(w.worked) {
		return w.lateAt
	}
	return w.worked
}

// drew reports whether anything was drawn, or a window came or went, since it was asked last.
func (w *wait) drew() bool {
	before := w.events
	w.events = w.watch.snapshot().events
	return w.events != before
}

// menuOpened reports whether a menu was opened meanwhile, and is open. A tip is
// none, and what was done may have opened a menu and a window.
func (w *wait) menuOpened() bool {
	return slices.ContainsFunc(w.watch.open(w.appeared), func(id xproto.Window) bool {
		kind, err := w.conn.Cardinals(id, "_NET_WM_WINDOW_TYPE")
		return err == nil && !slices.ContainsFunc(kind, func(atom uint32) bool {
			return w.conn.AtomName(xproto.Atom(atom)) == "_NET_WM_WINDOW_TYPE_TOOLTIP"
		})
	}) && len(w.pending) == 0
}

// menuClosed reports whether a menu has closed, and no window came or went with it.
func (w *wait) menuClosed() bool {
	return w.watch.snapshot().closed != w.rest.closed && (w.rest.managed == nil || maps.Equal(w.rest.managed, w.next.managed))
}

// sign notes a sign of work.
func (w *wait) sign(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.busy, s) {
		w.busy = append(w.busy, s)
	}
}

// quiet returns once nothing has happened for the quiet interval, which begins
// at since. What happens after a silence is done by a timer; and so may be what is drawn
// in a quiet interval that follows another one, however soon: a late answer, which made it
// begin anew, says nothing of how long the program had done nothing.
func (w *wait) quiet(ctx context.Context, since time.Time, again bool) error {
	began, active, last := since, since, since
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ended(ctx)
		case <-w.conn.Closed():
			return x11.ErrNoDisplay
		case <-timer.C:
		}
		now := time.Now()
		awake, worked := w.load.working()
		silent := now.Sub(since) > slowAnswer
		if awake {
			w.sign("processor")
			since = now
		}
		if worked {
			active = now
		}
		if w.drew() {
			w.sign("drawing")
			w.fruit = w.fruit || again
		}
		g := w.watch.snapshot()
		if g.last.After(since) {
			since = g.last
		}
		if g.last.After(active) {
			active = g.last
		}
		w.fruit = w.fruit || silent && active != last
		last = active
		if now.Sub(since) >= w.settling.Quiet && !w.lags(now.Sub(g.last), g.last.Sub(w.start)) {
			if !w.load.ready() {
				if active != began {
					w.worked = active
				}
				return nil
			}
			w.sign("processor")
			since, active = now, now
		}
		next := pace
		if left := w.settling.Quiet - now.Sub(since); left > 0 { // else a page is waited for
			next = min(pace, left+time.Millisecond/2)
		}
		timer.Reset(next)
	}
}

// lags tells whether a program may still tell of a page as it was before: so long after it
// was drawn last, which went on for so long.
func (w *wait) lags(since, drawing time.Duration) bool {
	return since < placeLag && (since < pageLag || drawing > oneChange) && w.load.pages()
}

// complete tells whether every new window has been drawn, no program is about to show
// its first one, and no pointer asks for patience.
func (w *wait) complete() bool {
	done := true
	for id, since := range w.pending {
		box, err := w.conn.Box(id)
		if err != nil || w.watch.painted(box, w.rest.at) || time.Since(since) > slowDrawing {
			delete(w.pending, id)
			continue
		}
		w.sign("new window")
		done = false
	}
	for owner, since := range w.starting {
		if known := time.Since(since); min(known, time.Since(w.active())) > slowStart || min(known, time.Since(w.worked)) > lateStart {
			delete(w.starting, owner)
			continue
		}
		w.sign("new program")
		done = false
	}
	if name := w.cursor(); slices.Contains(busyCursors, name) && name != w.rest.cursor {
		w.sign("pointer")
		done = false
	}
	return done
}

// cursor returns the name of the pointer's image.
func (w *wait) cursor() string {
	if !w.hasCursor {
		return ""
	}
	reply, err := xfixes.GetCursorImageAndName(w.conn.Conn).Reply()
	if err != nil {
		return ""
	}
	return reply.Name
}

// ask returns once everybody whom the input may concern has taken it, and
// tells whether they did so at once. Who has not answered the last time either
// does not count.
func (w *wait) ask(ctx context.Context) (prompt bool, err error) {
	w.slow = false
	if err := w.askManager(ctx); err != nil {
		return false, err
	}
	concerned, err := w.concerned()
	if err != nil {
		return false, err
	}
	var all errgroup.Group
	for owner, windows := range concerned {
		all.Go(func() error { return w.pingOne(ctx, owner, windows) })
	}
	if err := all.Wait(); err != nil {
		return false, err
	}
	// What the programs sent before they answered has been handled by now; this
	// brings the events of it.
	return !w.slow, w.conn.RoundTrip()
}

// askManager waits for the window manager, if there is one.
func (w *wait) askManager(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, slowManager)
	defer cancel()
	start := time.Now()
	err := w.conn.PingManager(limited)
	switch {
	case errors.Is(err, x11.ErrNoManager):
		return nil
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		w.sign(noAnswer)
		return nil
	case err == nil && time.Since(start) > slowAnswer:
		w.slow = true
		w.sign("slow answer")
	}
	return err
}

// pingOne pings a client through the first of its windows that takes part. One
// that did not answer the last time is not waited for again.
func (w *wait) pingOne(ctx context.Context, owner uint32, windows []xproto.Window) error {
	limited := ctx
	if w.rest.hung[owner] {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, w.settling.Quiet)
		defer cancel()
	}
	start := time.Now()
	err := w.pingAny(limited, windows)
	hung := limited.Err() != nil && errors.Is(err, limited.Err())
	slow := !hung && time.Since(start) > slowAnswer
	switch {
	case hung:
		w.sign(noAnswer)
	case slow:
		w.sign("slow answer")
	}
	w.mu.Lock()
	w.next.hung[owner] = hung
	w.slow = w.slow || slow
	w.mu.Unlock()
	if hung && ctx.Err() == nil {
		return nil
	}
	return err
}

func (d *display) pingAny(ctx context.Context, windows []xproto.Window) error {
	for _, id := range windows {
		err := d.conn.Ping(ctx, id)
		if errors.Is(err, x11.ErrNoPing) || errors.Is(err, x11.ErrGone) {
			continue
		}
		return err
	}
	return nil
}

// concerned returns the clients that input may concern, each with the windows
// through which it can be asked: those of the active window, of the window under
// the pointer, and of windows that appeared. It makes their processes, and those
// of clients that are new to the server, the ones to be measured.
func (w *wait) concerned() (map[uint32][]xproto.Window, error) {
	managed, err := w.conn.Clients()
	if err != nil {
		return nil, fmt.Errorf("list of windows: %w", err)
	}
	active, err := w.conn.Active()
	if err != nil {
		return nil, fmt.Errorf("active window: %w", err)
	}
	check, err := w.conn.Cardinals(w.conn.Root, "_NET_SUPPORTING_WM_CHECK")
	if err != nil {
		return nil, fmt.Errorf("window manager: %w", err)
	}
	manager := uint32(0)
	if len(check) > 0 {
		manager = w.conn.Owner(xproto.Window(check[0]))
	}
	w.watch.managedBy(manager)
	concerned := append(w.underPointer(), active)
	now := map[xproto.Window]bool{}
	for _, id := range managed {
		if w.rest.managed != nil && !w.rest.managed[id] {
			concerned = append(concerned, id)
			if !w.next.managed[id] {
				w.pending[id] = time.Now()
			}
		}
		w.next.managed[id], now[id] = true, true
	}
	if w.managed != nil && !maps.Equal(w.managed, now) {
		w.load.forget()
	}
	w.managed = now
	w.appeared = append(w.appeared, w.watch.appeared()...)
	concerned = append(concerned, w.appeared...)

	list := map[uint32][]xproto.Window{}
	for _, id := range concerned {
		if owner := w.conn.Owner(id); id != 0 && id != w.conn.Root && owner != manager && owner != w.self {
			list[owner] = append(list[owner], id)
		}
	}
	for _, id := range managed { // they may answer for the others
		if owner := w.conn.Owner(id); list[owner] != nil && !slices.Contains(list[owner], id) {
			list[owner] = append(list[owner], id)
		}
	}
	var pids []int
	processes := w.processes()
	for owner, pid := range processes {
		connected := w.rest.clients != nil && !w.rest.clients[owner]
		if _, ok := list[owner]; ok || connected {
			pids = append(pids, pid)
		}
		if connected && !w.next.clients[owner] && pid != os.Getpid() {
			w.starting[owner] = time.Now()
		}
		w.next.clients[owner] = true
	}
	// A window that came is what a program started for; it may have connected more than once.
	shown := w.rest.managed != nil && slices.ContainsFunc(managed, func(id xproto.Window) bool { return !w.rest.managed[id] })
	maps.DeleteFunc(w.starting, func(owner uint32, _ time.Time) bool { return shown || processes[owner] == 0 })
	w.load.follow(pids)
	return list, nil
}

// underPointer returns the windows under the pointer, the outermost first.
func (w *wait) underPointer() []xproto.Window {
	var path []xproto.Window
	for at := w.conn.Root; len(path) < 32; {
		reply, err := xproto.QueryPointer(w.conn.Conn, at).Reply()
		if err != nil || reply.Child == 0 {
			return path
		}
		at = reply.Child
		path = append(path, at)
	}
	return path
}
