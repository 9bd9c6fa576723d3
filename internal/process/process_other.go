//go:build !linux

package process

// A Watch looks at one process, again and again. This system does not tell of it.
type Watch struct{ PID int }

// Wants tells whether the process wants a processor.
func (*Watch) Wants() bool { return false }

// AnyRunnable tells whether any thread of a process is runnable, or blocked on a disk.
func AnyRunnable(int) bool { return false }
