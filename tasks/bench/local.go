package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"desktop-agent/internal/child"
)

const (
	firstBeat  = time.Minute // for a worker process to start
	hungAfter  = 3           // leases without a beat
	maxDeaths  = 10          // of the workers of one place, while nothing at all is finished
	outputTime = 2 * time.Second
)

// Local runs trials on this machine: a server and the coordinator in this
// process, and worker processes. Argv is necessary.
type Local struct {
	Workers int // how many processes; default 1

	// Argv is the command of a worker process, which calls [Child] with its
	// standard input.
	Argv []string
	Env  []string // for it, besides the environment of this process

	// Secret is what worker processes are told, see [Worker.Secret]. It is neither
	// in their environment nor on their command line, where other programs of this
	// user could read it.
	Secret string

	// Output gets what worker processes print; nil: nothing does. It is written
	// to by several goroutines, one at a time.
	Output io.Writer

	Grace time.Duration // how long a worker process may take to end; default 20 s
}

// Run is [Coordinator.Run] on this machine. A worker process that dies or hangs
// is replaced. When Run returns, none is left, and nothing but the results folder:
// the queue is in memory, so Storage and Replicas of the coordinator do not count.
func (l *Local) Run(ctx context.Context, c *Coordinator) error {
	if len(l.Argv) == 0 {
		return errors.New("bench: Local needs the command of its worker processes")
	}
	col, err := c.open()
	if err != nil {
		return err
	}
	defer col.close()
	if len(col.left) == 0 {
		return nil
	}
	// No worker is left of an earlier start; so nobody writes there.
	store := filepath.Join(c.Dir, localName)
	if err := errors.Join(os.RemoveAll(filepath.Join(c.Dir, partialName)), os.RemoveAll(store)); err != nil {
		return err
	}
	defer os.RemoveAll(store)
	return l.serve(ctx, col, store)
}

// serve starts the server, and works.
func (l *Local) serve(ctx context.Context, col *collection, store string) error {
	token := rand.Text()
	s, err := startServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: token, StoreDir: store,
		ServerName: "bench",
	}, col.Log)
	if err != nil {
		return err
	}
	defer s.stop()
	nc, err := s.connect("bench coordinator", col.Log, nil)
	if err != nil {
		return err
	}
	defer nc.Close()
	// The journal is what stays; what the server knows ends with this process.
	c := *col.Coordinator
	c.Storage, c.Replicas = jetstream.MemoryStorage, 1
	col.Coordinator = &c
	if err := col.attach(ctx, nc, false); err != nil {
		return err
	}
	shared, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	f := &fleet{Local: l, col: col, first: hello{
		URL: s.ClientURL(), Token: token, Run: cmp.Or(c.Name, defaultRun), Shared: shared, Secret: l.Secret,
	}}
	return f.work(ctx)
}

// hello is what a worker process is told, on its standard input.
type hello struct {
	URL    string `json:"url"`
	Token  string `json:"token"`
	Run    string `json:"run"`
	Name   string `json:"name"`
	Shared string `json:"shared"`
	Secret string `json:"secret"`
}

// farewell is what a worker process is told, when it shall end. Without it the end
// of its standard input is that of its parent.
const farewell = "end\n"

// A fleet is the worker processes of a run.
type fleet struct {
	*Local
	col   *collection
	first hello
	out   sync.Mutex
	lives []chan struct{} // a beat of the worker at each place
}

// work collects what the fleet does. Workers end before the coordinator, so that
// it gets what they finish.
func (f *fleet) work(ctx context.Context) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	collecting, enough := context.WithCancelCause(context.WithoutCancel(ctx))
	defer enough(nil)
	subs, err := f.listen()
	if err != nil {
		return err
	}
	defer subs()
	var places sync.WaitGroup
	failed := make(chan error, len(f.lives))
	for i := range f.lives {
		places.Go(func() {
			if err := f.hold(working, i); err != nil {
				failed <- err
				stop()
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		places.Wait()
		select {
		case err := <-failed:
			enough(err)
		default:
			enough(context.Cause(ctx))
		}
	}()
	err = f.col.collect(collecting)
	stop()
	<-ended
	return err
}

// listen passes on the beats of workers.
func (f *fleet) listen() (stop func(), err error) {
	f.lives = make([]chan struct{}, max(f.Workers, 1))
	var subs []*nats.Subscription
	stop = func() {
		for _, sub := range subs {
			_ = sub.Unsubscribe()
		}
	}
	for i := range f.lives {
		life := make(chan struct{}, 1)
		f.lives[i] = life
		sub, err := f.col.queue.nc.Subscribe(f.col.queue.subject("beat", workerName(i)), func(*nats.Msg) {
			select {
			case life <- struct{}{}:
			default:
			}
		})
		if err != nil {
			stop()
			return nil, err
		}
		subs = append(subs, sub)
	}
	return stop, nil
}

// workerName names the worker at a place.
func workerName(i int) string { return fmt.Sprintf("worker-%d", i+1) }

// hold keeps a worker process at a place until ctx ends. It fails if processes
// die again and again while nothing is finished.
func (f *fleet) hold(ctx context.Context, place int) error {
	deaths, finished := 0, f.col.finished.Load()
	for {
		tail := &tail{}
		err := f.process(ctx, place, tail)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil { // else it ended with the run, a moment before this was told
			f.col.log.Warn("a worker process ended", "worker", workerName(place), "err", err)
		}
		if now := f.col.finished.Load(); now != finished {
			deaths, finished = 0, now
		}
		if deaths++; deaths >= maxDeaths {
			return fmt.Errorf("bench: worker processes end again and again, and no trial is finished: %w: %s", cmp.Or(err, errEnded), tail)
		}
		if wait(ctx, min(firstPause<<deaths, longPause/4)) != nil {
			return nil
		}
	}
}

var errEnded = errors.New("they end by themselves")

// process is the life of one worker process.
func (f *fleet) process(ctx context.Context, place int, tail *tail) error {
	cmd := exec.Command(f.Argv[0], f.Argv[1:]...)
	cmd.Env = append(os.Environ(), f.Env...)
	out := &output{mu: &f.out, to: f.Output, tail: tail}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = outputTime
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait(cmd) }()
	h := f.first
	h.Name = workerName(place)
	if err := json.NewEncoder(in).Encode(h); err != nil {
		f.col.log.Debug("hello", "err", err) // it is dead already
	}
	return f.watch(ctx, f.lives[place], cmd, in, ended)
}

// watch waits for the end of a process. It ends one that hangs, and one that is
// not wanted any more.
func (f *fleet) watch(ctx context.Context, life <-chan struct{}, cmd *exec.Cmd, in io.WriteCloser, ended <-chan error) error {
	timer := time.NewTimer(firstBeat)
	defer timer.Stop()
	stop := ctx.Done()
	for {
		select {
		case err := <-ended:
			in.Close()
			return err
		case <-life:
			if stop != nil {
				timer.Reset(hungAfter * f.col.setup.lease)
			}
		case <-stop:
			stop = nil
			_, _ = io.WriteString(in, farewell) // one that is dead already does not read it
			in.Close()
			timer.Reset(cmp.Or(f.Grace, 2*defaultGrace))
		case <-timer.C:
			f.col.log.Warn("a worker process hangs and is killed", "pid", cmd.Process.Pid)
			_ = cmd.Process.Kill()
		}
	}
}

// output writes to one writer for several processes, and keeps the end.
type output struct {
	mu   *sync.Mutex
	to   io.Writer
	tail *tail
}

func (s *output) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail.add(p)
	if s.to == nil {
		return len(p), nil
	}
	return s.to.Write(p)
}

// A tail is the end of a text.
type tail struct{ text []byte }

func (t *tail) add(p []byte) {
	const most = 2000
	t.text = append(t.text, p...)
	if over := len(t.text) - most; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
}

func (t *tail) String() string { return cut(string(t.text), maxText) }
