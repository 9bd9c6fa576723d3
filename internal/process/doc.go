// Package process tells whether a process wants a processor: on a busy machine one that
// gives no answer may only wait for its turn, or for another that does, such as the server
// of its display. Where the system does not tell, none does.
//
//	watch := process.Watch{PIDs: []int{pid, server}}
//	for !answered() && watch.Idle() < process.Looks {
//		time.Sleep(pace)
//	}
package process

// Looks is how often in a row processes are looked at and found idle until one that gives no
// answer counts as hanging.
const Looks = 2
