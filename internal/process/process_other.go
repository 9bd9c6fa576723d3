//go:build !linux

package process

// A Watch looks at one process, again and again. This system does not tell of it.
type Watch struct{ PID int }

// Wants tells whether the process wants a processor.
func (*Watch) Wants() bool { return false }

// Ready tells whether a thread of a process runs, or waits for a processor or a disk.
func Ready(int) bool { return false }
