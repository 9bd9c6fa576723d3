package sandbox

// Processes returns the numbers of the desktop's processes, with those that programs on it
// have started.
func (d *Desktop) Processes() []int { return marked(d.mark) }
