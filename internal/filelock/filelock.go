// Package filelock makes a process the only writer of a file, until it closes it or ends:
// see flock(2). Where files are not locked this way it does nothing.
package filelock

import (
	"errors"
	"os"
)

// ErrLocked reports a file that has another writer.
var ErrLocked = errors.New("another process has locked the file")

// Close gives the lock back and closes the file. To close it is not enough: a process that
// is being started has it open too, until it runs its own program.
func Close(f *os.File) error { return errors.Join(unlock(f), f.Close()) }
