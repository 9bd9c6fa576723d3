//go:build !linux

package process

func (*Watch) wants() bool { return false }

// AnyRunnable tells whether any thread of a process is runnable, or blocked on a disk.
func AnyRunnable(int) bool { return false }
