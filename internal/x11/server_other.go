//go:build unix && !linux

package x11

// ServerOf returns the process of the server of a display: here it is not known, which is 0.
func ServerOf(string) (pid int) { return 0 }
