//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
)

// ErrUnsupported reports that private desktops need Linux.
var ErrUnsupported = errors.New("private desktops need Linux with Xvfb: use this machine's own desktop, or a Linux machine")

// A Desktop is a private desktop; see the package comment. This system has none.
type Desktop struct{}

// Start returns [ErrUnsupported].
func Start(context.Context, *Options) (*Desktop, error) {
	return nil, fmt.Errorf("start desktop on %s: %w", runtime.GOOS, ErrUnsupported)
}

// Attach returns [ErrUnsupported].
func Attach(context.Context, string, *slog.Logger) (*Desktop, error) {
	return nil, fmt.Errorf("attach: %w: %w", ErrGone, ErrUnsupported)
}

// Probe returns [ErrUnsupported].
func Probe(context.Context) error { return ErrUnsupported }

// Confined returns [ErrUnsupported].
func (d *Desktop) Confined() error { return ErrUnsupported }

// Kept returns false.
func Kept(string) bool { return false }

// Display returns "".
func (d *Desktop) Display() string { return "" }

// BusAddress returns "".
func (d *Desktop) BusAddress() string { return "" }

// Home returns "".
func (d *Desktop) Home() string { return "" }

// Env returns nil.
func (d *Desktop) Env() []string { return nil }

// Processes returns nil.
func (d *Desktop) Processes() []int { return nil }

// Open returns [ErrUnsupported].
func (d *Desktop) Open(_ context.Context, program string, _ ...string) (*Process, error) {
	return nil, fmt.Errorf("open %s: %w", program, ErrUnsupported)
}

// Close does nothing.
func (d *Desktop) Close() error { return nil }

// Done returns nil.
func (d *Desktop) Done() <-chan struct{} { return nil }

// Err returns [ErrUnsupported].
func (d *Desktop) Err() error { return ErrUnsupported }

// A Process is a program that was opened on a desktop. This system has none.
type Process struct{}

// PID returns 0.
func (p *Process) PID() int { return 0 }

// Window returns 0.
func (p *Process) Window() uint32 { return 0 }

// Output returns "".
func (p *Process) Output() string { return "" }

// Done returns nil.
func (p *Process) Done() <-chan struct{} { return nil }

// Err returns [ErrUnsupported].
func (p *Process) Err() error { return ErrUnsupported }

// Code returns -1.
func (p *Process) Code() int { return -1 }

// Close does nothing.
func (p *Process) Close() error { return nil }

// GuestEnv returns nil.
func (d *Desktop) GuestEnv() []string { return nil }

// Launch returns [ErrUnsupported].
func (d *Desktop) Launch(Command) (*Process, error) {
	return nil, fmt.Errorf("launch: %w", ErrUnsupported)
}

// Folder returns "".
func (d *Desktop) Folder() string { return "" }

// A Folder is one that several desktops may use. This system has none.
type Folder struct{}

// NewFolder returns [ErrUnsupported].
func NewFolder(*slog.Logger) (*Folder, error) { return nil, ErrUnsupported }

// Path returns "".
func (f *Folder) Path() string { return "" }

// Close does nothing.
func (f *Folder) Close() error { return nil }
