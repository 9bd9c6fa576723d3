package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"

	"desktop-agent/tasks"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	tryTime    = 5 * time.Second // for one request
	firstPause = 50 * time.Millisecond
	longPause  = 2 * time.Second
	refusal    = 20 * time.Second // how long a server may refuse what it is asked for
	consumer   = "workers"

	termsHeader = "Bench-Terms" // of a trial: the digest of the terms that it belongs to
)

// A queue is what a run has on a server: two streams, a consumer of the first,
// and a store of objects.
type queue struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	run      string
	patience time.Duration
	log      *slog.Logger

	// makes says that this side makes the streams: where a server has none any
	// more, trying again is of no use to it, and it is told errForgot.
	makes bool
}

// errForgot says that a server has lost the streams of a run.
var errForgot = errors.New("the server has lost the streams of the run")

// forgot reports whether a server has answered that it has no such stream or consumer.
func forgot(err error) bool {
	return errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) ||
		errors.Is(err, jetstream.ErrNoStreamResponse)
}

func newQueue(nc *nats.Conn, run string, patience time.Duration, log *slog.Logger) (*queue, error) {
	run = cmp.Or(run, defaultRun)
	if err := checkRun(run); err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	return &queue{nc: nc, js: js, run: run, patience: cmp.Or(patience, defaultPatience), log: logger(log)}, nil
}

func (q *queue) trials() string  { return "bench-" + q.run + "-trials" }
func (q *queue) results() string { return "bench-" + q.run + "-results" }
func (q *queue) bucket() string  { return "bench-" + q.run }

// subject names a kind of message: of a trial, if a token is given.
func (q *queue) subject(kind, token string) string {
	if token == "" {
		return "bench." + q.run + "." + kind
	}
	return "bench." + q.run + "." + kind + "." + token
}

// connect connects to servers and keeps trying, also later, whenever the
// connection is lost. Nothing is sent later than it was meant to be: what is
// published while there is no connection fails, and is tried again by retry.
func connect(address, name string, log *slog.Logger, more []nats.Option) (*nats.Conn, error) {
	log = logger(log)
	options := []nats.Option{
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1),
		nats.Timeout(tryTime),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // else it was this side
				log.Warn("disconnected", "err", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("connected", "url", nc.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Debug("connection", "err", err) }),
	}
	safe, err := checkClient(address, more)
	var nc *nats.Conn
	if err == nil {
		nc, err = nats.Connect(address, slices.Concat(options, safe, more)...)
	}
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err // without the address, which may have a password in it
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the NATS server: %w", err)
	}
	return nc, nil
}

// A final error is one that is not better on the next try.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// retry calls f until it succeeds. It gives up when ctx ends, when no server has
// answered for as long as is allowed, and sooner when one refuses.
func (q *queue) retry(ctx context.Context, what string, f func(context.Context) error) error {
	start, pause, told := time.Now(), firstPause, false
	for {
		try, cancel := q.attempt(ctx, tryTime)
		err := f(try)
		cancel()
		if err == nil {
			return nil
		}
		if _, ok := errors.AsType[final](err); ok || errors.Is(err, nats.ErrMaxPayload) {
			return fmt.Errorf("%s: %w", what, err)
		}
		if q.makes && forgot(err) {
			return fmt.Errorf("%s: %w: %w", what, errForgot, err)
		}
		if err := q.giveUp(ctx, time.Since(start), err); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if !told && time.Since(start) > refusal/2 {
			told = true
			q.log.Warn("no answer; trying again", "what", what, "err", err)
		}
		if q.pause(ctx, pause/2+rand.N(pause/2)) != nil {
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
		pause = min(2*pause, longPause)
	}
}

// attempt is the context of one attempt. It ends with the connection, too: the
// answer to what was sent before would never come.
func (q *queue) attempt(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	changed := q.nc.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	go func() {
		select {
		case <-changed: // also when it is removed
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); q.nc.RemoveStatusListener(changed) }
}

// pause waits, but no longer than until a connection is made.
func (q *queue) pause(ctx context.Context, d time.Duration) error {
	back := q.nc.StatusChanged(nats.CONNECTED)
	defer q.nc.RemoveStatusListener(back)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-back:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// giveUp says why nothing is tried again after an error, or nil.
func (q *queue) giveUp(ctx context.Context, since time.Duration, err error) error {
	var api *jetstream.APIError
	last := q.nc.LastError()
	if errors.Is(err, nats.ErrReconnectBufExceeded) { // which only says that there is no connection
		err = cmp.Or(last, nats.ErrDisconnected)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case q.nc.IsClosed():
		return fmt.Errorf("%w: %w", ErrUnreachable, cmp.Or(last, err))
	case distrusted(last):
		return fmt.Errorf("%w: %w", ErrUnreachable, last)
	case q.patience >= 0 && since > q.patience:
		return fmt.Errorf("%w in %v: %w", ErrUnreachable, q.patience, err)
	case errors.As(err, &api) && api.Code == 400 && since > refusal:
		return err
	case errors.Is(last, nats.ErrPermissionViolation) && since > refusal:
		return last
	}
	return nil
}

// wait waits, unless ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// create publishes a message unless its subject has one. It reports whether the
// message is the one that is kept.
func (q *queue) create(ctx context.Context, msg *nats.Msg) (created bool, err error) {
	err = q.retry(ctx, "publish", func(ctx context.Context) error {
		_, err := q.js.PublishMsg(ctx, msg, jetstream.WithExpectLastSequencePerSubject(0))
		if taken(err) {
			return nil
		}
		created = err == nil
		return err
	})
	return created, err
}

// taken reports whether a server refused a message since there is one already.
func taken(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// last returns the last message with a subject among the results; nil if there is none.
func (q *queue) last(ctx context.Context, subject string) (data []byte, err error) {
	err = q.retry(ctx, "look up", func(ctx context.Context) error {
		s, err := q.js.Stream(ctx, q.results())
		if err != nil {
			return err
		}
		m, err := s.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		data = m.Data
		return nil
	})
	return data, err
}

// subjects returns how many messages each subject of a stream has.
func (q *queue) subjects(ctx context.Context, stream, filter string) (n map[string]uint64, err error) {
	err = q.retry(ctx, "list", func(ctx context.Context) error {
		s, err := q.js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
		if err != nil {
			return err
		}
		n = info.State.Subjects
		return nil
	})
	return n, err
}

// done reports whether a trial has a result.
func (q *queue) done(ctx context.Context, token string) (bool, error) {
	data, err := q.last(ctx, q.subject("result", token))
	return data != nil, err
}

// backs returns how often a trial was given back, which is not held against it.
func (q *queue) backs(ctx context.Context, token string) (int, error) {
	n, err := q.subjects(ctx, q.results(), q.subject("back", token)+".*")
	return len(n), err
}

// setup makes the streams and the consumer of a run, or finds them.
type setup struct {
	id         string // of the results folder
	lease      time.Duration
	replicas   int
	storage    jetstream.StorageType
	objects    bool
	terms      terms
	digest     string // of the terms
	streams    [2]jetstream.StreamConfig
	workerConf jetstream.ConsumerConfig
}

func (q *queue) configure(s *setup) {
	owner := map[string]string{"results": s.id}
	s.streams = [2]jetstream.StreamConfig{{
		Name: q.trials(), Subjects: []string{q.subject("trial", "*")},
		Retention: jetstream.WorkQueuePolicy, Storage: s.storage, Replicas: s.replicas, Metadata: owner,
	}, {
		Name:    q.results(),
		Storage: s.storage, Replicas: s.replicas, Metadata: owner,
		Subjects: []string{q.subject("result", "*"), q.subject("back", "*.*"), q.subject("terms", "")},
		// The first message of each subject stays, whoever sends another.
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, DenyDelete: true, DenyPurge: true,
	}}
	// The server sets no limit to deliveries: a trial beyond it would lie in the
	// queue for ever, and nothing but an advisory that may be missed would tell.
	// Instead, who is handed a trial too often reports it as lost.
	s.workerConf = jetstream.ConsumerConfig{
		Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: s.lease,
		MaxDeliver: -1, MaxAckPending: 10_000, MaxWaiting: 2000, // as many workers
	}
}

// prepare makes what a run needs on the server. It may be called again, and
// finds or repairs what is there.
func (q *queue) prepare(ctx context.Context, s *setup) error {
	q.configure(s)
	err := q.retry(ctx, "set up streams", func(ctx context.Context) error {
		for _, conf := range s.streams {
			if err := q.stream(ctx, conf, s.id); err != nil {
				return err
			}
		}
		if _, err := q.js.CreateOrUpdateConsumer(ctx, q.trials(), s.workerConf); err != nil || !s.objects {
			return err
		}
		_, err := q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: q.bucket(), Storage: s.storage, Replicas: s.replicas,
		})
		return err
	})
	if err != nil {
		return err
	}
	return q.publishTerms(ctx, s)
}

// publishTerms tells workers what the run is, unless they know. Some may have
// prepared for it already, so it must not be another one now.
func (q *queue) publishTerms(ctx context.Context, s *setup) error {
	data, err := json.Marshal(s.terms)
	if err != nil {
		return fmt.Errorf("the settings of the run: %w", err)
	}
	s.digest = digest(data)
	created, err := q.create(ctx, &nats.Msg{Subject: q.subject("terms", ""), Data: data})
	if err != nil || created {
		return err
	}
	known, err := q.last(ctx, q.subject("terms", ""))
	if err == nil && !bytes.Equal(known, data) {
		err = fmt.Errorf("run %s: %w", q.run, ErrOtherSpec)
	}
	return err
}

// stream makes a stream, or finds it as a property of the same results folder.
func (q *queue) stream(ctx context.Context, conf jetstream.StreamConfig, id string) error {
	s, err := q.js.Stream(ctx, conf.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = q.js.CreateStream(ctx, conf)
		return err
	} else if err != nil {
		return err
	}
	has := s.CachedInfo().Config
	if has.Metadata["results"] != id {
		return final{fmt.Errorf("run %s: %w", q.run, ErrOtherRun)}
	}
	if has.DiscardNewPerSubject != conf.DiscardNewPerSubject || has.DenyDelete != conf.DenyDelete || has.DenyPurge != conf.DenyPurge {
		return final{fmt.Errorf("run %s: its stream %s lets what it holds be replaced: discard the run, and start it again", q.run, conf.Name)}
	}
	return nil
}

// remove takes all that a run has off the server.
func (q *queue) remove(ctx context.Context) error {
	return q.retry(ctx, "remove streams", func(ctx context.Context) error {
		for _, name := range []string{q.trials(), q.results(), "OBJ_" + q.bucket()} {
			if err := q.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
				return err
			}
		}
		return nil
	})
}

// offer puts a trial of these terms in the queue, unless it is there.
func (q *queue) offer(ctx context.Context, t tasks.Trial, terms string) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = q.create(ctx, &nats.Msg{
		Subject: q.subject("trial", token(t)), Data: data, Header: nats.Header{termsHeader: {terms}},
	})
	return err
}
