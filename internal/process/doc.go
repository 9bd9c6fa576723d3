// Package process tells whether a process wants a processor: on a busy machine one that
// gives no answer may only wait for its turn. Where the system does not tell, none does.
//
//	watch := process.Watch{PID: pid}
//	for !answered() && watch.Wants() {
//		time.Sleep(pace)
//	}
package process
