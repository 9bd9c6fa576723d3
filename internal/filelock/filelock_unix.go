//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Held says that a lock is held by the open file.
const Held = true

// Lock makes this process the only writer of a file until [Close], or else it ends. The
// error is [ErrLocked] if there is another.
func Lock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// Locked reports whether a file has a writer.
func Locked(f *os.File) bool {
	err := flock(f, unix.LOCK_SH)
	if err == nil {
		_ = unlock(f)
	}
	return errors.Is(err, ErrLocked)
}

func flock(f *os.File, how int) error {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
