//go:build unix

package bench

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock makes this process the only writer until it is unlocked, which the end of the process
// also does.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}

// unlock gives the lock back. To close the file is not enough: a process that is being
// started has it open too, until it runs its own program. See flock(2).
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// syncDir makes new names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
