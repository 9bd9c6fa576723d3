// Package process tells whether a process wants a processor: on a busy machine one that
// gives no answer may only wait for its turn, or for another that does, such as the server
// of its display. Where the system does not tell, none does.
//
//	watch := process.Watch{PIDs: []int{pid, server}}
//	for !answered() && watch.Idle() < process.Looks {
//		time.Sleep(pace)
//	}
package process

import "time"

// Looks is how often in a row processes are looked at and found idle until one that gives no
// answer counts as hanging.
const Looks = 2

// A Watch looks at processes that do one thing together, again and again.
type Watch struct {
	PIDs   []int         // 0 for one that is not known: of that nothing is told
	delay  time.Duration // the run delay of them all at the last look
	looked bool
	idle   int
}

// Idle looks at the processes, and returns how often in a row none of them wanted a
// processor.
func (w *Watch) Idle() int {
	w.idle++
	if w.wants() {
		w.idle = 0
	}
	return w.idle
}
