package bench

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"desktop-agent/tasks"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// Workers on other machines log in to the server, are told what the run is, and
// send the folders of trials. When the run is over, they end.
func TestServe(t *testing.T) {
	list := append(many("pass", 12), many("bare", 2)...)
	dir, counts := t.TempDir(), t.TempDir()
	urls := make(chan string, 1)
	served := make(chan error, 1)
	c := &Coordinator{Dir: dir, Trials: list, Spec: json.RawMessage(`{"model":"scripted"}`), Log: testLog(t)}
	go func() {
		served <- Serve(t.Context(), c, &ServeOptions{
			Server: &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, Username: "bench", Password: "secret"},
			Ready:  func(url, _ string) { urls <- url },
		})
	}()
	url := <-urls
	require.NotContains(t, url, "secret")

	w := &Worker{Patience: time.Minute, Do: (&script{counts: counts}).do}
	require.Error(t, w.Work(t.Context(), url, nats.UserInfo("bench", "wrong")), "who is not let in does not wait")

	var specs sync.Map
	var workers sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		workers.Go(func() {
			w := &Worker{Name: name, Dir: t.TempDir(), Log: testLog(t), Prepare: func(_ context.Context, spec json.RawMessage) (Do, error) {
				specs.Store(name, string(spec))
				return (&script{counts: counts}).do, nil
			}}
			require.NoError(t, w.Work(t.Context(), url, nats.UserInfo("bench", "secret")))
			require.Empty(t, files(t, w.Dir))
		})
	}
	require.NoError(t, <-served)
	workers.Wait()
	for _, r := range finished(t, dir, list) {
		require.Equal(t, 1, executions(t, counts, trialOf(&r)))
		if strings.HasPrefix(r.Task, "bare") {
			require.Empty(t, r.Run)
			continue
		}
		require.Equal(t, "plan=on/office/"+r.Task+"/1", r.Run)
		require.Equal(t, map[string]string{"steps.txt": "plan=on/" + r.Task + "/1\n"}, files(t, filepath.Join(dir, r.Run)))
	}
	for _, name := range []string{"one", "two"} {
		spec, _ := specs.Load(name)
		require.Equal(t, `{"model":"scripted"}`, spec)
	}
	require.NoDirExists(t, filepath.Join(dir, storeName), "the run is over")
	require.NoDirExists(t, filepath.Join(dir, partialName))
}

// TLS is that of NATS, on both sides; the coordinator needs none in its process.
func TestServeTLS(t *testing.T) {
	pair := certificateFiles(t, "127.0.0.1")
	cert, err := tls.LoadX509KeyPair(pair.cert, pair.key)
	require.NoError(t, err)

	list := many("pass", 2)
	dir, counts := t.TempDir(), t.TempDir()
	urls, served := make(chan string, 1), make(chan error, 1)
	go func() {
		served <- Serve(t.Context(), &Coordinator{Dir: dir, Trials: list, Log: testLog(t)}, &ServeOptions{
			Server: &server.Options{
				Host: "127.0.0.1", Port: server.RANDOM_PORT, Authorization: "token", TLSTimeout: 5,
				TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}},
			},
			Ready: func(url, _ string) { urls <- url },
		})
	}()
	url := <-urls
	w := &Worker{Do: (&script{counts: counts}).do, Dir: t.TempDir(), Patience: time.Hour}
	require.ErrorIs(t, w.Work(t.Context(), url, nats.Token("token")), ErrUnreachable, "the certificate is not known: no wait helps")
	require.NoError(t, w.Work(t.Context(), url, nats.Token("token"), nats.RootCAs(pair.cert)))
	require.NoError(t, <-served)
	finished(t, dir, list)
}

// Workers wait while the process with the server is stopped and started again.
func TestServeResumes(t *testing.T) {
	list := many("pass", 20)
	dir, counts := t.TempDir(), t.TempDir()
	ready := make(chan *Credentials, 2)
	o := &ServeOptions{
		Server: &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT},
		Ready:  func(_, file string) { ready <- credentials(t, file) },
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	c := &Coordinator{Dir: dir, Trials: list, Log: testLog(t), Progress: func(p Progress) {
		if p.Done == 5 {
			stop()
		}
	}}
	go func() { served <- Serve(ctx, c, o) }()
	known := <-ready
	login, err := known.Options()
	require.NoError(t, err)
	var begun, again atomic.Int32
	proceed, both := make(chan struct{}), make(chan struct{})
	gate := func(context.Context, tasks.Trial) {
		if begun.Add(1) <= 8 {
			return
		}
		select {
		case <-proceed: // else one may do all before the other is back, which then waits for a server that has gone
			if again.Add(1) == 2 {
				close(both)
			}
			<-both
		default:
			<-proceed
		}
	}
	wait := crew(t.Context(), 2, known.URL, func(int) *Worker {
		return &Worker{Do: (&script{counts: counts, gate: gate}).do, Dir: t.TempDir(), Log: testLog(t)}
	}, login...)
	require.ErrorIs(t, <-served, context.Canceled)
	close(proceed)
	require.DirExists(t, filepath.Join(dir, storeName))
	u, err := url.Parse(known.URL)
	require.NoError(t, err)
	o.Server.Port, err = strconv.Atoi(u.Port())
	require.NoError(t, err)
	before, err := ReadResults(dir)
	require.NoError(t, err)
	require.Less(t, len(before), len(list))

	require.NoError(t, Serve(t.Context(), c, o))
	require.NoError(t, wait())
	finished(t, dir, list)
	for _, r := range before {
		require.Equal(t, 1, executions(t, counts, trialOf(&r)))
	}
}

// Trials that cannot be sent count all the same.
func TestServeTooLarge(t *testing.T) {
	s := startTest(t, &server.Options{})
	list := many("pass", 2)
	dir := t.TempDir()
	wait := crew(t.Context(), 1, s.ClientURL(), func(int) *Worker {
		return &Worker{Do: func(_ context.Context, trial tasks.Trial, dir string) (tasks.Result, error) {
			write(t, dir, "steps.txt", "short")
			if trial == list[0] {
				write(t, dir, "video.mp4", strings.Repeat("x", 100_000))
			}
			return tasks.Result{Status: tasks.Scored, Score: 1}, nil
		}}
	})
	c := &Coordinator{Dir: dir, Trials: list, MaxFolder: 50_000}
	require.NoError(t, c.Run(t.Context(), s.ClientURL()))
	require.NoError(t, wait())
	results := finished(t, dir, list)
	large, small := results[list[0].Key()], results[list[1].Key()]
	require.True(t, large.Passed())
	require.Empty(t, large.Run)
	require.Contains(t, large.Why, "more than can be sent")
	require.Equal(t, "plan=on/other/pass-001/1", small.Run)
	require.Empty(t, streams(t, raw(t, s.ClientURL())), "nothing stays on the server")
}

// A server that goes away for a while is waited for: trials that ran meanwhile
// are not repeated, and no result is lost.
func TestServerAway(t *testing.T) {
	conf := &server.Options{StoreDir: t.TempDir(), Host: "127.0.0.1", Port: server.RANDOM_PORT}
	s := startTest(t, conf.Clone())
	url := s.ClientURL()
	conf.Port = portOf(s)
	list := many("pass", 30)
	dir, counts := t.TempDir(), t.TempDir()

	var begun atomic.Int32
	away, back := make(chan struct{}), make(chan struct{})
	gate := func(ctx context.Context, _ tasks.Trial) {
		if begun.Add(1) == 5 {
			close(away) // in the midst of this trial
			<-back
		}
	}
	wait := crew(t.Context(), 3, url, func(int) *Worker {
		return &Worker{Do: (&script{counts: counts, gate: gate}).do, Log: testLog(t), Dir: t.TempDir()}
	})
	ran := make(chan error, 1)
	c := &Coordinator{Dir: dir, Trials: list, Lease: 5 * time.Second, Log: testLog(t)}
	go func() { ran <- c.Run(t.Context(), url) }()
	<-away
	s.stop()
	close(back) // results are there now, and no server
	require.Eventually(t, func() bool { return begun.Load() >= 5 }, time.Minute, time.Millisecond)
	startTest(t, conf)
	began := time.Now()
	require.NoError(t, <-ran)
	require.Less(t, time.Since(began), 2*time.Minute, "what was on its way comes again soon")
	require.NoError(t, wait())
	for _, r := range finished(t, dir, list) {
		require.True(t, r.Passed(), r.Why)
		require.NotEmpty(t, r.Run)
	}
	require.LessOrEqual(t, int(begun.Load()), len(list)+3, "at most what was being handed out is repeated")
}

// A server that comes back without its streams gets what is left anew, also one
// that goes while the coordinator is handing out the first trials.
func TestServerForgets(t *testing.T) {
	for _, at := range []struct {
		name          string
		trials, begun int
	}{
		{"in the midst of trials", 20, 15},
		{"in the midst of handing out", 300, 1},
	} {
		t.Run(at.name, func(t *testing.T) {
			conf := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT}
			s := startTest(t, conf.Clone())
			url := s.ClientURL()
			conf.Port = portOf(s)
			list := many("pass", at.trials)
			dir, counts := t.TempDir(), t.TempDir()
			var begun atomic.Int32
			away := make(chan struct{})
			gate := func(context.Context, tasks.Trial) {
				if int(begun.Add(1)) == at.begun {
					close(away)
				}
			}
			wait := crew(t.Context(), 2, url, func(int) *Worker {
				return &Worker{Do: (&script{counts: counts, gate: gate}).do, Log: testLog(t), Dir: t.TempDir()}
			})
			ran := make(chan error, 1)
			go func() { ran <- (&Coordinator{Dir: dir, Trials: list, Log: testLog(t)}).Run(t.Context(), url) }()
			<-away
			s.stop()
			startTest(t, conf) // in another folder
			require.NoError(t, <-ran)
			require.NoError(t, wait())
			for _, r := range finished(t, dir, list) {
				require.True(t, r.Passed(), r.Why)
			}
		})
	}
}

// A coordinator that stops lets nobody begin another trial; results that arrive
// while it is away are collected by the next start.
func TestCoordinatorAway(t *testing.T) {
	s := startTest(t, &server.Options{})
	list := many("pass", 10)
	dir, counts := t.TempDir(), t.TempDir()
	reached, proceed := make(chan struct{}), make(chan struct{})
	var begun atomic.Int32
	gate := func(context.Context, tasks.Trial) {
		if begun.Add(1) == 4 {
			close(reached)
			<-proceed
		}
	}
	wait := crew(t.Context(), 1, s.ClientURL(), func(int) *Worker {
		return &Worker{Do: (&script{counts: counts, gate: gate}).do, Log: testLog(t), Dir: t.TempDir()}
	})
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	c := &Coordinator{Dir: dir, Trials: list, Log: testLog(t)}
	go func() { ran <- c.Run(ctx, s.ClientURL()) }()
	<-reached
	stop()
	require.ErrorIs(t, <-ran, context.Canceled)
	before, err := ReadResults(dir)
	require.NoError(t, err)
	require.Len(t, before, 3, "what had arrived is kept")
	close(proceed)
	q := raw(t, s.ClientURL())
	require.Eventually(t, func() bool {
		done, err := q.done(t.Context(), token(list[3]))
		return err == nil && done
	}, time.Minute, 10*time.Millisecond)
	require.EqualValues(t, 4, begun.Load(), "no more trials are handed out")

	other := &Coordinator{Dir: t.TempDir(), Trials: list}
	require.ErrorIs(t, other.Run(t.Context(), s.ClientURL()), ErrOtherRun)
	changed := &Coordinator{Dir: dir, Trials: list, Spec: json.RawMessage(`{"model": "other"}`)}
	require.ErrorIs(t, changed.Run(t.Context(), s.ClientURL()), ErrOtherSpec)

	c.Trials = list[:8] // the last two are not wanted any more
	require.NoError(t, c.Run(t.Context(), s.ClientURL()))
	require.NoError(t, wait())
	finished(t, dir, list[:8])
	for i, trial := range list {
		want := 1
		if i >= 8 {
			want = 0
		}
		require.Equal(t, want, executions(t, counts, trial))
	}
}

// Results of one trial by several workers count once, whichever comes late.
func TestDuplicates(t *testing.T) {
	s := startTest(t, &server.Options{})
	list := many("pass", 3)
	dir, counts := t.TempDir(), t.TempDir()
	ready, late := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	gate := func(_ context.Context, trial tasks.Trial) {
		if trial == list[0] && first.CompareAndSwap(false, true) {
			close(ready)
			<-late
		}
	}
	wait := crew(t.Context(), 1, s.ClientURL(), func(int) *Worker {
		return &Worker{Name: "late", Do: (&script{counts: counts, gate: gate}).do, Dir: t.TempDir(), Log: testLog(t)}
	})
	// Another worker was faster, although the lease is held.
	go func() {
		<-ready
		q := raw(t, s.ClientURL())
		rep := report{Trial: list[0], Result: tasks.Result{Status: tasks.Scored, Score: 0.25, Worker: "fast"}, Object: "gone"}
		data, _ := json.Marshal(rep)
		msg := &nats.Msg{Subject: q.subject("result", token(list[0])), Data: data}
		created, err := q.create(t.Context(), msg)
		if err == nil && created {
			created, err = q.create(t.Context(), msg)
		}
		if err != nil || created {
			t.Errorf("a second result was taken: %v", err)
		}
		close(late)
	}()
	c := &Coordinator{Dir: dir, Trials: list, Log: testLog(t)}
	require.NoError(t, c.Run(t.Context(), s.ClientURL()))
	require.NoError(t, wait())
	r := finished(t, dir, list)[list[0].Key()]
	require.Equal(t, []any{"fast", 0.25}, []any{r.Worker, r.Score})
	require.Empty(t, r.Run)
	require.Contains(t, r.Why, "not in the object store")
}

// A worker that is stopped gives its trial back, which is no loss, as often as it
// happens.
func TestGiveBack(t *testing.T) {
	s := startTest(t, &server.Options{})
	list := many("pass", 1)
	dir, counts := t.TempDir(), t.TempDir()
	ran := make(chan error, 1)
	go func() { ran <- (&Coordinator{Dir: dir, Trials: list, Log: testLog(t)}).Run(t.Context(), s.ClientURL()) }()
	for range 5 {
		ctx, stop := context.WithCancel(t.Context())
		w := &Worker{Dir: t.TempDir(), Do: (&script{
			counts: counts, pause: time.Hour, gate: func(context.Context, tasks.Trial) { stop() },
		}).do}
		require.ErrorIs(t, w.Work(ctx, s.ClientURL()), context.Canceled)
		require.Empty(t, files(t, w.Dir))
	}
	require.NoError(t, (&Worker{Do: (&script{counts: counts}).do, Dir: t.TempDir()}).Work(t.Context(), s.ClientURL()))
	require.NoError(t, <-ran)
	r := finished(t, dir, list)[list[0].Key()]
	require.True(t, r.Passed(), r.Why)
	require.Equal(t, 6, r.Delivery)
}

// A trial that takes longer than a lease stays with its worker, as the lease is
// renewed, although another worker waits for trials.
func TestLeaseRenewed(t *testing.T) {
	s := startTest(t, &server.Options{})
	list := many("pass", 1)
	dir, counts := t.TempDir(), t.TempDir()
	lease := 2 * time.Second
	wait := crew(t.Context(), 2, s.ClientURL(), func(int) *Worker {
		return &Worker{Do: (&script{counts: counts, pause: 5 * lease / 2}).do, Dir: t.TempDir()}
	})
	require.NoError(t, (&Coordinator{Dir: dir, Trials: list, Lease: lease}).Run(t.Context(), s.ClientURL()))
	require.NoError(t, wait())
	require.Equal(t, 1, finished(t, dir, list)[list[0].Key()].Delivery)
	require.Equal(t, 1, executions(t, counts, list[0]))
}

// A trial that takes too long is an error; one that is deaf as well ends its worker.
func TestTimeout(t *testing.T) {
	s := startTest(t, &server.Options{})
	list := many("pass", 2)
	dir := t.TempDir()
	hear := make(chan struct{})
	do := func(ctx context.Context, trial tasks.Trial, _ string) (tasks.Result, error) {
		<-ctx.Done()
		if trial == list[1] {
			<-hear
		}
		return tasks.Result{}, context.Cause(ctx)
	}
	wait := crew(t.Context(), 1, s.ClientURL(), func(int) *Worker {
		return &Worker{Do: do, Timeout: 20 * time.Millisecond, Grace: 500 * time.Millisecond, Dir: t.TempDir()}
	})
	require.NoError(t, (&Coordinator{Dir: dir, Trials: list}).Run(t.Context(), s.ClientURL()))
	require.ErrorIs(t, wait(), ErrStuck)
	close(hear)
	results := finished(t, dir, list)
	for i, want := range []string{"it took longer than 20ms: context deadline", "it did not end"} {
		r := results[list[i].Key()]
		require.Equal(t, tasks.Errored, r.Status)
		require.Contains(t, r.Why, want)
	}
}

// Without a server, or a run on it, one does not wait for ever.
func TestUnreachable(t *testing.T) {
	w := &Worker{Do: (&script{}).do, Patience: 50 * time.Millisecond}
	require.ErrorIs(t, w.Work(t.Context(), "nats://127.0.0.1:1"), ErrUnreachable)
	c := &Coordinator{Dir: t.TempDir(), Trials: many("pass", 1), Patience: 50 * time.Millisecond}
	require.ErrorIs(t, c.Run(t.Context(), "nats://127.0.0.1:1"), ErrUnreachable)
	s := startTest(t, &server.Options{})
	require.ErrorIs(t, w.Work(t.Context(), s.ClientURL()), ErrUnreachable)
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	stop(enough)
	require.ErrorIs(t, w.Work(ctx, s.ClientURL()), enough)
}

// Addresses may have passwords in them, which no error tells.
func TestBadAddress(t *testing.T) {
	for _, address := range []string{"nats://bench:secret@host:port", "nats://bench:secret@[::1"} {
		err := (&Coordinator{Dir: t.TempDir(), Trials: many("pass", 1)}).Run(t.Context(), address)
		require.ErrorContains(t, err, "connect to the NATS server")
		require.NotContains(t, err.Error(), "secret")
	}
}

// A folder that cannot be written stops the run, which can be started again.
func TestFullDisk(t *testing.T) {
	s := startTest(t, &server.Options{})
	list := many("pass", 1)
	dir, counts := t.TempDir(), t.TempDir()
	wait := crew(t.Context(), 1, s.ClientURL(), func(int) *Worker {
		return &Worker{Do: (&script{counts: counts}).do, Dir: t.TempDir()}
	})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plan=on"), nil, 0o600)) // where a folder must be
	c := &Coordinator{Dir: dir, Trials: list}
	require.ErrorContains(t, c.Run(t.Context(), s.ClientURL()), "plan=on")
	require.NoError(t, os.Remove(filepath.Join(dir, "plan=on")))
	require.NoError(t, c.Run(t.Context(), s.ClientURL()))
	require.NoError(t, wait())
	require.NotEmpty(t, finished(t, dir, list)[list[0].Key()].Run)
	require.Equal(t, 1, executions(t, counts, list[0]))
}
