package sandbox

// A NoContainerError says why this machine makes no name spaces for programs.
type NoContainerError struct {
	Why string // such as "bubblewrap is not installed"
	Do  string // what to do about it, such as "apt-get install bubblewrap"
}

func (e *NoContainerError) Error() string { return e.Why + ": " + e.Do }
