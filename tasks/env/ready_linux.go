package env

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"desktop-agent/screen"
)

// patience is how long a program that takes no input is waited for before its task goes on
// without it: as long as OSWorld sleeps before it scores.
const patience = 20 * time.Second

// Quiet waits until the programs have taken all input, do no work, and the screen
// is still; who takes none is waited for as long as the patience. The context bounds the wait,
// and its end is an error: a screen that never rests is told by the cause.
func (e *Env) Quiet(ctx context.Context) error {
	begin := time.Now()
	for {
		settled, err := e.screen.Settle(ctx)
		if err != nil {
			return err
		}
		if settled.Reason != screen.SettledCeiling && (!settled.Unanswered() || time.Since(begin) > patience) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
}

// Closed waits until no process of the machine that this program may look at
// holds a file of the task open.
func (e *Env) Closed(ctx context.Context, guest string) error {
	file, err := e.Host(guest)
	if err != nil {
		return err
	}
	return e.until(ctx, 0, func() (bool, error) {
		info, err := os.Stat(file)
		if err != nil {
			return true, nil // nobody can hold what is not there
		}
		return !held(info), nil
	})
}

// held reports whether a process has a file open.
func held(file os.FileInfo) bool {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, process := range processes {
		if _, err := strconv.Atoi(process.Name()); err != nil {
			continue
		}
		folder := filepath.Join("/proc", process.Name(), "fd")
		open, err := os.ReadDir(folder)
		if err != nil {
			continue // another user's, or gone
		}
		for _, fd := range open {
			if info, err := os.Stat(filepath.Join(folder, fd.Name())); err == nil && os.SameFile(info, file) {
				return true
			}
		}
	}
	return false
}
