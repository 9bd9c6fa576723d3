//go:build unix

package bench

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock makes this process the only writer until the file is closed, which the
// end of the process also does.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}

// syncDir makes new names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
