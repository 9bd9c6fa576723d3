//go:build !linux

package env

import (
	"context"
	"image"
	"io/fs"
	"net"
	"time"

	"desktop-agent/sandbox"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// An Env is a running environment. This system has none: see [sandbox.ErrUnsupported],
// which every method returns that returns an error.
type Env struct{}

// Launch returns [sandbox.ErrUnsupported].
func (e *Env) Launch(context.Context, Command) (<-chan struct{}, error) {
	return nil, sandbox.ErrUnsupported
}

// Start returns [sandbox.ErrUnsupported].
func Start(context.Context, *Options) (*Env, error) { return nil, sandbox.ErrUnsupported }

// Close does nothing.
func (e *Env) Close() error { return nil }

// Fail does nothing.
func (e *Env) Fail(error) {}

// Isolation returns the zero value.
func (e *Env) Isolation() Isolation { return Isolation{} }

// Size returns the zero value.
func (e *Env) Size() image.Point { return image.Point{} }

// Network returns false.
func (e *Env) Network() bool { return false }

// Screen returns nil.
func (e *Env) Screen() *screen.Screen { return nil }

// Tree returns nil.
func (e *Env) Tree() *atspi.Reader { return nil }

// Display returns "".
func (e *Env) Display() string { return "" }

// Server returns 0: there is none.
func (e *Env) Server() int { return 0 }

// BusAddress returns "".
func (e *Env) BusAddress() string { return "" }

// Now returns the time.
func (e *Env) Now() time.Time { return time.Now().UTC() }

// Done returns nil.
func (e *Env) Done() <-chan struct{} { return nil }

// Err returns [sandbox.ErrUnsupported].
func (e *Env) Err() error { return sandbox.ErrUnsupported }

// Run returns [sandbox.ErrUnsupported].
func (e *Env) Run(context.Context, Command) (Output, error) { return Output{}, sandbox.ErrUnsupported }

// Start returns [sandbox.ErrUnsupported].
func (e *Env) Start(context.Context, Command) error { return sandbox.ErrUnsupported }

// Has returns false.
func (e *Env) Has(string) bool { return false }

// Perform returns [sandbox.ErrUnsupported].
func (e *Env) Perform(context.Context, string) error { return sandbox.ErrUnsupported }

// Host returns [sandbox.ErrUnsupported].
func (e *Env) Host(string) (string, error) { return "", sandbox.ErrUnsupported }

// Fetch returns [sandbox.ErrUnsupported].
func (e *Env) Fetch(string, string, int64) error { return sandbox.ErrUnsupported }

// Put returns [sandbox.ErrUnsupported].
func (e *Env) Put(string, string) error { return sandbox.ErrUnsupported }

// Chmod returns [sandbox.ErrUnsupported].
func (e *Env) Chmod(string, fs.FileMode) error { return sandbox.ErrUnsupported }

// Dial returns [sandbox.ErrUnsupported].
func (e *Env) Dial(context.Context, string) (net.Conn, error) { return nil, sandbox.ErrUnsupported }

// Windows returns [sandbox.ErrUnsupported].
func (e *Env) Windows(context.Context) ([]screen.Window, error) { return nil, sandbox.ErrUnsupported }

// Activate returns [sandbox.ErrUnsupported].
func (e *Env) Activate(context.Context, string, bool, bool) error { return sandbox.ErrUnsupported }

// CloseWindow returns [sandbox.ErrUnsupported].
func (e *Env) CloseWindow(context.Context, string, bool, bool) error { return sandbox.ErrUnsupported }

// WaitWindow returns [sandbox.ErrUnsupported].
func (e *Env) WaitWindow(context.Context, func(screen.Window) bool) (screen.Window, error) {
	return screen.Window{}, sandbox.ErrUnsupported
}

// Quiet returns [sandbox.ErrUnsupported].
func (e *Env) Quiet(context.Context) error { return sandbox.ErrUnsupported }

// Probe returns [sandbox.ErrUnsupported].
func Probe(context.Context, *Options) (Isolation, error) { return Isolation{}, sandbox.ErrUnsupported }

// Exceeded returns nil.
func (e *Env) Exceeded() error { return nil }

// has returns true: what is not looked for is not missing.
func has(string) bool { return true }

// packaged returns true.
func packaged(string) bool { return true }

// installed returns true.
func (p *program) installed() bool { return true }

// Note keeps what was not as it should be.
func (e *Env) Note(string) {}

// Notes returns what [Env.Note] was told.
func (e *Env) Notes() string { return "" }

// An Etc is a copy of this machine's /etc. This system has none.
type Etc struct{}

// Close does nothing.
func (c *Etc) Close() error { return nil }
