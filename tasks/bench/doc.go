// Package bench distributes the trials of a benchmark over workers, and collects
// exactly one result of each. What a trial does is a function, see [Do].
//
// The trials lie in a work queue of NATS JetStream. A worker holds a trial by a
// lease that it renews while it works; if it dies or hangs, the lease ends and
// another worker gets the trial. A trial whose workers were lost as often as is
// allowed gets the status [tasks.Lost], and counts. Results go through a second
// stream that takes the first result of each trial and refuses another, so that
// a trial that was done twice counts once.
//
// # One machine
//
// [Local] has the server in its own process and starts worker processes, by
// executing a command (its own, with a hidden argument) that calls [Child]:
//
//	c := &bench.Coordinator{Dir: "results", Trials: trials}
//	l := &bench.Local{Workers: 4, Argv: []string{self, "bench-worker"}}
//	err := l.Run(ctx, c)
//
// # Many machines
//
// [Serve] has a server that listens, on the loopback unless it is told more, with
// TLS and a credential for workers; [Coordinator.Run] uses a cluster that is
// already there. The workers are [Worker.Work] in both cases. Trajectories travel
// through the object store of JetStream, unless a worker sees the results folder
// itself. No connection leaves this machine without TLS and a credential.
//
// A worker needs these rights, where R is the name of the run, and the credentials
// that [Serve] makes have no others: to publish to
//
//	bench.R.result.*  bench.R.back.*.*  bench.R.beat.>  $O.bench-R.>
//	$JS.API.STREAM.INFO.bench-R-results  $JS.API.STREAM.MSG.GET.bench-R-results
//	$JS.API.CONSUMER.INFO.bench-R-trials.workers
//	$JS.API.CONSUMER.MSG.NEXT.bench-R-trials.workers  $JS.ACK.bench-R-trials.workers.>
//	$JS.API.STREAM.INFO.OBJ_bench-R  $JS.API.STREAM.PURGE.OBJ_bench-R
//	$JS.API.DIRECT.GET.OBJ_bench-R.>
//
// and to subscribe to _INBOX.> and bench.R.over. With these, it can neither say
// what a run is nor which trials it has.
//
// # The terms of a run
//
// What workers are told of a run is published once, and the server refuses to
// replace it, whoever asks. Each trial names the terms by their digest; a worker
// that prepared for others does not do it, and ends with [ErrReplaced].
//
// # The results folder
//
// Its journal, results.jsonl, has a line for each trial that is finished and is
// the truth for starting again: trials in it are not repeated. The files of a
// trial lie in CONFIG/DOMAIN/TASK/REPEAT. Names that begin with a point are the
// package's own.
package bench
