//go:build !linux

package process

// A Watch looks at processes, again and again. This system does not tell of them.
type Watch struct {
	PIDs []int
	idle int
}

// Idle returns how often it was asked.
func (w *Watch) Idle() int {
	w.idle++
	return w.idle
}

// AnyRunnable tells whether any thread of a process is runnable, or blocked on a disk.
func AnyRunnable(int) bool { return false }
