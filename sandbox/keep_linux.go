package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"desktop-agent/internal/bus"
	"desktop-agent/internal/seal"
	"desktop-agent/internal/x11"
)

// The files of a desktop's folder by which another program finds it again.
const (
	keptFile     = "desktop.json"
	watchdogFile = "watchdog"
)

// kept is what must be known of a desktop to take it over.
type kept struct {
	Display string        `json:"display"`
	Socket  string        `json:"socket"`
	ID      string        `json:"id"` // of the socket
	Mark    string        `json:"mark"`
	Home    string        `json:"home"` // "" for the one in the folder
	Size    image.Point   `json:"size"`
	DPI     int           `json:"dpi"`
	KeepFor time.Duration `json:"keep_for"`
	Env     []string      `json:"env"`
	Way     []string      `json:"way"`    // into the container of its programs
	Shares  string        `json:"shares"` // why they have none
}

// writeKept writes down what another program must know to take the desktop over.
func (d *Desktop) writeKept() error {
	if d.options.KeepFor <= 0 {
		return nil
	}
	o := d.options
	shares := ""
	if d.shares != nil {
		shares = d.shares.Error()
	}
	text, err := json.Marshal(kept{
		Way: d.entered.Prefix, Shares: shares,
		Display: d.display, Socket: d.screen.socket, ID: d.screen.id, Mark: d.mark, Home: o.Home, Size: o.Size, DPI: o.DPI, KeepFor: o.KeepFor, Env: o.Env,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.folder, keptFile), text, 0o600)
}

// Attach takes over a desktop that outlived the program which started it; see
// [Options.KeepFor]. folder is what [Desktop.Folder] told that one. From then on it is a
// desktop like one that was started here. The error is an [ErrGone] if its time is over, or
// if it is broken: then nothing of it is left.
func Attach(ctx context.Context, folder string, log *slog.Logger) (*Desktop, error) {
	k, old, err := readKept(folder)
	if err != nil {
		return nil, fmt.Errorf("attach to the desktop in %s: %w: %w", folder, ErrGone, err)
	}
	options, err := (&Options{Size: k.Size, DPI: k.DPI, KeepFor: k.KeepFor, Env: k.Env, Log: log}).withDefaults()
	if err != nil {
		return nil, err
	}
	options.Home = k.Home
	tools, err := findTools()
	if err != nil {
		return nil, err
	}
	if err := seal.Files(); err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	d := &Desktop{
		options: options, tools: tools, folder: folder, mark: k.Mark, display: k.Display,
		entered: Entrance{Prefix: k.Way, Files: k.Way},
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	if k.Shares != "" {
		d.shares = errors.New(k.Shares)
	}
	d.close = sync.OnceValue(d.shutDown)
	d.base = d.environment()
	if d.watchdog, err = startWatchdog(d.folder, d.mark, d.options, d.fail); err != nil {
		return nil, err
	}
	_ = syscall.Kill(-old, syscall.SIGKILL) // its group: the sleep of a shell too
	d.launcher, err = newLauncher(d.watchdog)
	if err == nil {
		err = d.rejoin(ctx, k)
	}
	if err != nil {
		return nil, fmt.Errorf("attach to the desktop in %s: %w: %w", folder, ErrGone, errors.Join(err, d.Close()))
	}
	return d, nil
}

// rejoin connects to the display and the bus of a desktop.
func (d *Desktop) rejoin(ctx context.Context, k *kept) error {
	if idOf(k.Socket) != k.ID {
		return errors.New("its display is another one now")
	}
	conn, err := x11.Dial(k.Display)
	if err != nil {
		return err
	}
	if err := conn.Extension("X-Resource"); err != nil {
		conn.Close()
		return err
	}
	d.mu.Lock()
	d.screen = &screen{socket: k.Socket, id: k.ID, conn: conn}
	d.mu.Unlock()
	d.watch.Go(func() {
		<-conn.Closed()
		select {
		case <-d.closing:
		default:
			d.fail(&DiedError{Part: "X server (Xvfb)", Status: "it closed the connection"})
		}
	})
	session, err := bus.Connect(ctx, d.bus)
	if err != nil {
		return fmt.Errorf("session bus: %w", err)
	}
	return session.Close()
}

// Kept reports whether a desktop waits in a folder for somebody who takes it over.
func Kept(folder string) bool {
	_, _, err := readKept(folder)
	return err == nil
}

// readKept reads what is known of a desktop, and the number of its watchdog, which must
// run: from the moment when that begins to clean up, the desktop is gone.
func readKept(folder string) (*kept, int, error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return nil, 0, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
		return nil, 0, errors.New("it is no folder of a desktop of this user")
	}
	text, err := os.ReadFile(filepath.Join(folder, keptFile))
	if err != nil {
		return nil, 0, err
	}
	k := &kept{}
	if err := json.Unmarshal(text, k); err != nil {
		return nil, 0, err
	}
	text, err = os.ReadFile(filepath.Join(folder, watchdogFile))
	if err != nil {
		return nil, 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, 0, err
	}
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	words := strings.Split(string(line), "\x00")
	if err != nil || !slices.Contains(words, watchdogName) || !slices.Contains(words, folder) {
		return nil, 0, errors.New("nobody watches it any more")
	}
	if !strings.HasPrefix(k.Mark, markName+"=") {
		return nil, 0, errors.New("it has no mark")
	}
	return k, pid, nil
}
