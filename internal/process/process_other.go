//go:build !linux

package process

// A Watch looks at processes, again and again. This system does not tell of them.
type Watch struct{ PIDs []int }

// Wants tells whether any of the processes wants a processor.
func (*Watch) Wants() bool { return false }

// AnyRunnable tells whether any thread of a process is runnable, or blocked on a disk.
func AnyRunnable(int) bool { return false }
