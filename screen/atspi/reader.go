package atspi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"

	"desktop-agent/internal/bus"
)

// errNoBus reports that no accessibility bus answers.
var errNoBus = errors.New("no accessibility bus")

// Options say how trees are read. The zero value works.
type Options struct {
	BusAddress string        // of the session bus; "" means $DBUS_SESSION_BUS_ADDRESS
	Server     int           // process of the server of the display, for which programs wait; 0 if it is not known
	Silence    time.Duration // a program that answers nothing for so long hangs, unless it or the server wants a processor; 0 means [DefaultSilence]
	AppTimeout time.Duration // the most that one program may take in all; 0 means [DefaultAppTimeout]
	MaxNodes   int           // of one program; 0 means [DefaultMaxNodes]
	Log        *slog.Logger  // nil means none

	// Enable turns accessibility on for the session (org.a11y.Status), where
	// the desktop may remember it. Some programs (of Qt, Chromium, LibreOffice)
	// have a tree only if it was on when they started.
	Enable bool
}

// What holds where [Options] say nothing else.
const (
	DefaultSilence    = 300 * time.Millisecond
	DefaultAppTimeout = 2 * time.Second
	DefaultMaxNodes   = 4000
)

// A Reader reads the accessibility trees of all programs of a session. Its
// methods may be called by several goroutines; reading is one at a time.
type Reader struct {
	o Options

	mu   sync.Mutex
	bus  *dbus.Conn // the accessibility bus
	at   string     // its address
	apps map[reference]*app
}

// Open finds the accessibility bus of a session and connects to it.
func Open(ctx context.Context, o *Options) (*Reader, error) {
	r := &Reader{apps: map[reference]*app{}}
	if o != nil {
		r.o = *o
	}
	if r.o.BusAddress == "" {
		r.o.BusAddress = os.Getenv("DBUS_SESSION_BUS_ADDRESS")
	}
	if r.o.BusAddress == "" {
		return nil, fmt.Errorf("%w: there is no session bus; set DBUS_SESSION_BUS_ADDRESS", errNoBus)
	}
	if r.o.Silence == 0 {
		r.o.Silence = DefaultSilence
	}
	if r.o.AppTimeout == 0 {
		r.o.AppTimeout = DefaultAppTimeout
	}
	if r.o.MaxNodes == 0 {
		r.o.MaxNodes = DefaultMaxNodes
	}
	if r.o.Log == nil {
		r.o.Log = slog.New(slog.DiscardHandler)
	}
	return r, r.connect(ctx)
}

// connect asks the session bus for the accessibility bus and connects to that.
func (r *Reader) connect(ctx context.Context) error {
	conn, at, err := bus.ConnectAccessibility(ctx, r.o.BusAddress, r.o.Enable)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoBus, err)
	}
	r.bus, r.at = conn, at
	return nil
}

// Close ends all connections.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.apps {
		a.close()
	}
	clear(r.apps)
	if r.bus == nil {
		return nil
	}
	return r.bus.Close()
}

// A Program is one that has an accessibility tree.
type Program struct {
	Name string // what it calls itself, or else its process
	PID  int    // 0 if unknown
}

// Read reads what can be seen now: the nodes of all programs, and those programs that
// did not answer in time, which cost that time once. Programs that come or go meanwhile
// are no error.
func (r *Reader) Read(ctx context.Context) (nodes []Node, hung []Program, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	start := time.Now()
	apps, err := r.running(ctx)
	if err != nil {
		return nil, nil, err
	}
	readings := make([]reading, len(apps))
	var wait sync.WaitGroup
	for i, a := range apps {
		wait.Go(func() { readings[i] = a.read(ctx, r.o) })
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("accessibility tree: %w", err)
	}
	lists := make([][]Node, len(readings))
	calls := 0
	for i, reading := range readings {
		lists[i] = reading.nodes
		calls += reading.calls
		if reading.hung != nil {
			hung = append(hung, reading.program)
		}
	}
	nodes = number(lists)
	r.o.Log.DebugContext(ctx, "tree", "nodes", len(nodes), "calls", calls,
		"hung", len(hung), "ms", time.Since(start).Milliseconds())
	return nodes, hung, nil
}

// running returns the programs that are on the bus now, and forgets others.
func (r *Reader) running(ctx context.Context) ([]*app, error) {
	if !r.bus.Connected() {
		if err := r.connect(ctx); err != nil {
			return nil, err
		}
		r.forget(nil)
	}
	ctx, cancel := context.WithTimeout(ctx, r.o.AppTimeout)
	defer cancel()
	var list []struct {
		Name string
		Path dbus.ObjectPath
	}
	registry := r.bus.Object(bus.Registry, bus.RegistryRoot)
	if err := registry.CallWithContext(ctx, accessible+".GetChildren", 0).Store(&list); err != nil {
		return nil, fmt.Errorf("accessibility registry: %w", err)
	}
	var apps []*app
	keep := map[reference]bool{}
	for _, v := range list {
		ref := reference{v.Name, string(v.Path)}
		if ref.null() || keep[ref] {
			continue
		}
		keep[ref] = true
		if r.apps[ref] == nil {
			r.apps[ref] = &app{root: ref, bus: r.bus, address: r.at}
		}
		apps = append(apps, r.apps[ref])
	}
	r.forget(keep)
	return apps, nil
}

// forget drops all programs but those to keep.
func (r *Reader) forget(keep map[reference]bool) {
	for ref, a := range r.apps {
		if !keep[ref] {
			a.close()
			delete(r.apps, ref)
		}
	}
}

// processName returns what the system calls a process.
func processName(pid int, otherwise string) string {
	if pid == 0 {
		return otherwise
	}
	if name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil {
		return strings.TrimSpace(string(name))
	}
	return "process " + strconv.Itoa(pid)
}
