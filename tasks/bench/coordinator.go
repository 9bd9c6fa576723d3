package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"desktop-agent/tasks"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	partialName = ".partial" // folders of trials that run, where they are shared
	storeName   = ".queue"   // of the server of [Serve]
	localName   = ".local"   // of the server of [Local]
	idName      = ".run"
)

// A Coordinator hands out trials and collects their results. Dir and Trials are
// necessary. It is used once at a time.
type Coordinator struct {
	Dir    string        // results folder; it is made
	Trials []tasks.Trial // all of the run, also those that are finished; no two alike

	// Name tells runs on one server apart: up to 64 letters, digits, - and _.
	// The default is "bench".
	Name string

	// Domain returns the domain of a task, which is part of where a trial's files
	// go. If nil, the domain is what the result says.
	Domain func(task string) string

	// Spec is what workers are told of the run, see [Worker.Prepare]. Like
	// Deliveries and MaxFolder, it cannot be changed while the run is on a server.
	Spec json.RawMessage

	Lease      time.Duration         // a trial comes back this long after a worker was lost; default 30 s
	Deliveries int                   // a trial whose workers were lost this often counts as lost; default 3
	Patience   time.Duration         // how long a server may be away; default 10 min; < 0: for ever
	Replicas   int                   // of the streams, in a cluster; default 1
	Storage    jetstream.StorageType // default: files
	MaxFolder  int64                 // bytes of a trial's folder that travels; default 1 GiB

	// Progress is called at the start, after each result, and each second. It
	// must not block.
	Progress func(Progress)

	Log *slog.Logger // nil: none
}

// Run hands out the trials that have no result yet through a server or cluster,
// and returns nil when all have one. When ctx ends, no more trials are handed
// out, results that have arrived are kept, and the cause is returned; calling Run
// again goes on. Workers that are in the midst of a trial then finish it, and
// the server keeps their results.
func (c *Coordinator) Run(ctx context.Context, url string, options ...nats.Option) error {
	col, err := c.open()
	if err != nil {
		return err
	}
	defer col.close()
	if len(col.left) == 0 {
		return nil
	}
	nc, err := connect(url, "bench coordinator", c.Log, options)
	if err != nil {
		return err
	}
	defer nc.Close()
	if err := col.attach(ctx, nc, true); err != nil {
		return err
	}
	return col.collect(ctx)
}

// check refuses lists of trials that cannot be counted.
func (c *Coordinator) check() error {
	if c.Dir == "" {
		return errors.New("bench: no results folder is given")
	}
	seen := make(map[string]bool, len(c.Trials))
	for _, t := range c.Trials {
		if err := checkTrial(t); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		if seen[token(t)] {
			return fmt.Errorf("bench: the trial %q is listed twice", t.Key())
		}
		seen[token(t)] = true
	}
	return checkRun(cmp.Or(c.Name, defaultRun))
}

// A collection is one start of a coordinator.
type collection struct {
	*Coordinator
	log     *slog.Logger
	journal *journal
	left    map[string]tasks.Trial // by token
	setup   setup
	dropped map[string]bool // files of reports

	queue    *queue
	consumer jetstream.Consumer // of results; nil if it must be made
	name     string             // of the consumer
	swept    time.Time
	reconns  uint64 // how often the connection had come back when last swept

	progress Progress
	started  time.Time
	finished atomic.Int64 // done since the start; others read it
}

// open reads what is finished and what is left.
func (c *Coordinator) open() (*collection, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	j, err := openJournal(c.Dir)
	if err != nil {
		return nil, err
	}
	col := &collection{
		Coordinator: c, log: logger(c.Log), journal: j, left: map[string]tasks.Trial{}, started: time.Now(),
		dropped:  map[string]bool{"": true},
		progress: Progress{Total: len(c.Trials)},
	}
	for _, t := range c.Trials {
		col.left[token(t)] = t
	}
	for i := range j.Results {
		col.count(&j.Results[i])
	}
	if col.setup.id, err = folderID(c.Dir); err != nil {
		col.close()
		return nil, err
	}
	col.tell()
	return col, nil
}

// folderID returns the name that a results folder gives itself, so that runs on
// a server are never mistaken for each other.
func folderID(dir string) (string, error) {
	path := filepath.Join(dir, idName)
	data, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(data)); err == nil && id != "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	id := nuid.Next()
	return id, os.WriteFile(path, []byte(id+"\n"), 0o600)
}

func (c *collection) close() {
	if err := c.journal.Close(); err != nil {
		c.log.Warn("journal", "err", err)
	}
}

// count takes a trial off what is left.
func (c *collection) count(r *tasks.Result) bool {
	key := token(trialOf(r))
	if _, ours := c.left[key]; !ours {
		return false
	}
	delete(c.left, key)
	c.progress.count(r)
	return true
}

func (c *collection) tell() {
	if c.Progress != nil {
		p := c.progress
		p.estimate(int(c.finished.Load()), time.Since(c.started))
		c.Progress(p)
	}
}

// attach makes the streams of the run on a server.
func (c *collection) attach(ctx context.Context, nc *nats.Conn, objects bool) error {
	q, err := newQueue(nc, c.Name, c.Patience, c.Log)
	if err != nil {
		return err
	}
	q.makes = true
	c.queue = q
	c.setup.lease = cmp.Or(c.Lease, defaultLease)
	c.setup.replicas = cmp.Or(c.Replicas, 1)
	c.setup.storage = c.Storage
	c.setup.objects = objects
	c.setup.terms = terms{
		Results: c.setup.id, Deliveries: cmp.Or(c.Deliveries, defaultDeliveries),
		MaxFolder: cmp.Or(c.MaxFolder, defaultMaxFolder), Spec: c.Spec,
	}
	return c.sweep(ctx)
}

// sweep makes the server have what it should: the streams, and each trial that
// is left either in the queue or among the results. It repairs whatever became
// of the server since the last time, and begins anew where the server comes back
// empty in the midst of it.
func (c *collection) sweep(ctx context.Context) error {
	for start := time.Now(); ; {
		err := c.sweepOnce(ctx)
		if !errors.Is(err, errForgot) {
			return err
		}
		if err := c.queue.giveUp(ctx, time.Since(start), err); err != nil {
			return err
		}
		if err := c.queue.pause(ctx, longPause); err != nil {
			return err
		}
	}
}

func (c *collection) sweepOnce(ctx context.Context) error {
	c.reconns = c.queue.nc.Stats().Reconnects
	if err := c.queue.prepare(ctx, &c.setup); err != nil {
		return err
	}
	// A result is stored before its trial leaves the queue; so, in this order, no
	// trial is missed in both.
	queued, err := c.queue.subjects(ctx, c.queue.trials(), c.queue.subject("trial", "*"))
	if err != nil {
		return err
	}
	finished, err := c.queue.subjects(ctx, c.queue.results(), c.queue.subject("result", "*"))
	if err != nil {
		return err
	}
	for _, t := range c.Trials { // in the order of the list
		key := token(t)
		_, left := c.left[key]
		if left && queued[c.queue.subject("trial", key)]+finished[c.queue.subject("result", key)] == 0 {
			if err := c.queue.offer(ctx, t, c.setup.digest); err != nil {
				return err
			}
		}
	}
	c.swept = time.Now()
	return c.withdraw(ctx, queued)
}

// withdraw takes trials out of the queue that an earlier start put there, and
// that are not wanted any more.
func (c *collection) withdraw(ctx context.Context, queued map[string]uint64) error {
	for subject := range queued {
		key := subject[strings.LastIndexByte(subject, '.')+1:]
		if _, left := c.left[key]; left {
			continue
		}
		err := c.queue.retry(ctx, "withdraw", func(ctx context.Context) error {
			s, err := c.queue.js.Stream(ctx, c.queue.trials())
			if err != nil {
				return err
			}
			return s.Purge(ctx, jetstream.WithPurgeSubject(subject))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keep puts a result where it is to stay. It reports whether the trial had none.
func (c *collection) keep(ctx context.Context, rep *report) (bool, error) {
	if c.journal.has(rep.Trial) {
		c.drop(ctx, rep)
		return false, nil
	}
	r := &rep.Result
	r.Run = ""
	if c.Domain != nil {
		r.Domain = c.Domain(r.Task)
	}
	clean(r, rep.Trial)
	err := c.land(ctx, rep)
	if errors.Is(err, errFolder) {
		r.Run, r.Why = "", add(r.Why, cut(err.Error(), 500))
	} else if err != nil {
		return false, fmt.Errorf("trial %s: %w", rep.Trial.Key(), err)
	}
	if _, err := c.journal.add(*r); err != nil {
		return false, err
	}
	c.drop(ctx, rep)
	return true, nil
}

// place returns the folder of a trial, relative to the results.
func place(r *tasks.Result) string {
	domain := r.Domain
	if checkName(domain) != nil {
		domain = "other"
	}
	return filepath.Join(r.Config, domain, r.Task, fmt.Sprint(r.Repeat))
}

// land moves the folder of a trial to its final place.
func (c *collection) land(ctx context.Context, rep *report) error {
	place := place(&rep.Result)
	from := ""
	switch {
	case rep.Object != "":
		dir, err := c.fetch(ctx, rep)
		if err != nil {
			return err
		}
		defer os.RemoveAll(filepath.Dir(dir))
		from = dir
	case rep.Folder != "":
		if checkName(rep.Folder) != nil || !strings.HasPrefix(rep.Folder, token(rep.Trial)) {
			return fmt.Errorf("%w: %.60q is not a folder of it", errFolder, rep.Folder)
		}
		from = filepath.Join(c.Dir, partialName, rep.Folder)
	}
	to := filepath.Join(c.Dir, place)
	switch {
	case from != "" && !empty(from):
		if err := move(from, to); err != nil {
			return err
		}
	case rep.Folder == "" || empty(to): // else it was moved before this process was started
		return nil
	}
	rep.Result.Run = filepath.ToSlash(place)
	return nil
}

// drop removes what is left of a report's files, once: reports may be read again.
func (c *collection) drop(ctx context.Context, rep *report) {
	if c.dropped[rep.Folder+rep.Object] {
		return
	}
	c.dropped[rep.Folder+rep.Object] = true
	if rep.Folder != "" && checkName(rep.Folder) == nil {
		os.RemoveAll(filepath.Join(c.Dir, partialName, rep.Folder))
	}
	if rep.Object != "" {
		c.queue.dropObject(ctx, rep.Object)
	}
}
