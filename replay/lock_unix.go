//go:build unix

package replay

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// holds says that a lock is held by the open file.
const holds = true

// lock makes this process the only writer of a journal until it is unlocked, which the end
// of the process also does.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w", f.Name(), ErrWriter)
	}
	return err
}

// unlock gives the lock back. To close the file is not enough: a process that is being
// started has it open too, until it runs its own program. See flock(2).
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// locked reports whether a journal has a writer.
func locked(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		_ = unlock(f)
	}
	return errors.Is(err, unix.EWOULDBLOCK)
}

// inodeOf returns the number of a file on its disk, as /proc/locks writes it.
func inodeOf(info os.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Ino)
	}
	return "?"
}
