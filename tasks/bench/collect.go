package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	tick       = time.Second      // between two calls of Progress at least
	sweepAfter = 10 * time.Second // how often it is checked that nothing went astray
	drainTime  = 10 * time.Second // for keeping what has arrived, after a stop
	batch      = 100
	farAhead   = 10 * 365 * 24 * time.Hour
)

var errFetch = errors.New("fetch results")

// collect takes results until every trial has one.
func (c *collection) collect(ctx context.Context) error {
	err := c.resume(ctx)
	for len(c.left) > 0 {
		switch {
		case ctx.Err() != nil:
			return errors.Join(context.Cause(ctx), c.pause(context.WithoutCancel(ctx)))
		case errors.Is(err, errForgot):
			c.swept, c.consumer = time.Time{}, nil
		case err != nil:
			return err
		}
		err = c.round(ctx)
	}
	c.finish(context.WithoutCancel(ctx))
	return nil
}

// round takes the results that arrive in the next second.
func (c *collection) round(ctx context.Context) error {
	if c.queue.nc.Stats().Reconnects != c.reconns || time.Since(c.swept) > sweepAfter {
		if err := c.sweep(ctx); err != nil {
			return err
		}
	}
	if err := c.consume(ctx); err != nil {
		return err
	}
	if err := c.take(ctx, tick); err != nil {
		return err
	}
	c.look(ctx)
	c.tell()
	return nil
}

// consume makes the consumer of results, which gives all of them from the first:
// what is in the journal already is passed over. A result that was on its way
// when a fetch or the connection ended comes again soon.
func (c *collection) consume(ctx context.Context) error {
	if c.consumer != nil {
		return nil
	}
	c.name = "collector-" + nuid.Next()
	return c.queue.retry(ctx, "consume results", func(ctx context.Context) (err error) {
		c.consumer, err = c.queue.js.CreateOrUpdateConsumer(ctx, c.queue.results(), jetstream.ConsumerConfig{
			Durable: c.name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: tryTime,
			FilterSubject: c.queue.subject("result", "*"), InactiveThreshold: 15 * time.Minute, MaxDeliver: -1,
		})
		return err
	})
}

// take keeps what arrives within a time.
func (c *collection) take(ctx context.Context, within time.Duration) error {
	for start := time.Now(); len(c.left) > 0 && ctx.Err() == nil && time.Since(start) < within; {
		err := c.fetchResults(ctx, within)
		switch {
		case err == nil || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
		case errors.Is(err, errFetch):
			c.lost(ctx, err)
			return c.breathe(ctx)
		default:
			return err
		}
	}
	return nil
}

// fetchResults keeps one batch. It returns as soon as nothing is left.
func (c *collection) fetchResults(ctx context.Context, within time.Duration) error {
	poll, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	msgs, err := c.consumer.Fetch(batch, jetstream.FetchContext(poll))
	if err != nil {
		return fmt.Errorf("%w: %w", errFetch, err)
	}
	for m := range msgs.Messages() {
		if err := c.message(ctx, m); err != nil {
			return err
		}
		if len(c.left) == 0 {
			cancel()
		}
	}
	if err := msgs.Error(); err != nil && poll.Err() == nil {
		return fmt.Errorf("%w: %w", errFetch, err)
	}
	return nil
}

// lost forgets the consumer if it may be gone.
func (c *collection) lost(ctx context.Context, err error) {
	c.log.DebugContext(ctx, "results", "err", err)
	if !errors.Is(err, nats.ErrReconnectBufExceeded) {
		c.consumer = nil
	}
}

// breathe waits until a server answers, or for too long.
func (c *collection) breathe(ctx context.Context) error {
	return c.queue.retry(ctx, "results", func(ctx context.Context) error {
		_, err := c.queue.js.Stream(ctx, c.queue.results())
		return err
	})
}

// message keeps one result and counts it.
func (c *collection) message(ctx context.Context, m jetstream.Msg) error {
	var rep report
	err := json.Unmarshal(m.Data(), &rep)
	if err == nil {
		err = checkTrial(rep.Trial)
	}
	if err != nil || m.Subject() != c.queue.subject("result", token(rep.Trial)) {
		c.log.WarnContext(ctx, "a message is not a result", "subject", m.Subject(), "err", err)
		return m.Ack()
	}
	// What has arrived is kept, also if the run is being stopped.
	kept, err := c.keep(context.WithoutCancel(ctx), &rep)
	if err != nil {
		return err
	}
	if err := m.Ack(); err != nil {
		c.log.DebugContext(ctx, "ack", "err", err) // it comes again, and is passed over
	}
	if kept && c.count(&rep.Result) {
		c.finished.Add(1)
		c.tell()
	}
	return nil
}

// look asks how many trials run.
func (c *collection) look(ctx context.Context) {
	if c.Progress == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tick)
	defer cancel()
	if con, err := c.queue.js.Consumer(ctx, c.queue.trials(), consumer); err == nil {
		c.progress.runs(con.CachedInfo().NumAckPending)
	}
}

// resume lets workers have trials, if an earlier start was stopped.
func (c *collection) resume(ctx context.Context) error {
	return c.queue.retry(ctx, "resume", func(ctx context.Context) error {
		_, err := c.queue.js.ResumeConsumer(ctx, c.queue.trials(), consumer)
		return err
	})
}

// pause holds the trials that nobody works on back, and takes what has arrived.
func (c *collection) pause(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	if _, err := c.queue.js.PauseConsumer(ctx, c.queue.trials(), consumer, time.Now().Add(farAhead)); err != nil {
		c.log.WarnContext(ctx, "workers could not be told to pause", "err", err)
	}
	c.consumer = nil // anew, to be given again what was on its way just now
	if err := c.consume(ctx); err != nil {
		return nil // no server: it keeps what there is
	}
	for len(c.left) > 0 {
		msgs, err := c.consumer.FetchNoWait(batch)
		if err != nil {
			return nil
		}
		n := 0
		for m := range msgs.Messages() {
			n++
			if err := c.message(ctx, m); err != nil {
				return err
			}
		}
		if n == 0 {
			break
		}
	}
	_ = c.queue.js.DeleteConsumer(ctx, c.queue.results(), c.name)
	return nil
}

// finish tells the workers that the run is over, and cleans up.
func (c *collection) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	err := errors.Join(
		c.queue.nc.Publish(c.queue.subject("over", ""), nil),
		c.queue.remove(ctx),
		c.queue.nc.FlushWithContext(ctx),
		os.RemoveAll(filepath.Join(c.Dir, partialName)))
	if err != nil {
		c.log.WarnContext(ctx, "clean up", "err", err)
	}
}
