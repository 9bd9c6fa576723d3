package bench

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"desktop-agent/tasks"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// published are the terms of a run as they lie on a server.
func published(t *testing.T, q *queue) string {
	data, err := q.last(t.Context(), q.subject("terms", ""))
	require.NoError(t, err)
	return string(data)
}

// Who may do anything on a server cannot publish other terms of a run, nor take
// the first ones away, nor change a result.
func TestTermsStay(t *testing.T) {
	for _, storage := range []jetstream.StorageType{jetstream.MemoryStorage, jetstream.FileStorage} {
		s := startTest(t, &server.Options{})
		q := raw(t, s.ClientURL())
		set := &setup{id: "folder", lease: time.Minute, replicas: 1, storage: storage, terms: terms{Results: "folder", Spec: json.RawMessage(`{"base_url":"http://ours"}`)}}
		require.NoError(t, q.prepare(t.Context(), set))
		before := published(t, q)
		require.Contains(t, before, "http://ours")

		rogue := []byte(`{"spec":{"base_url":"http://rogue"}}`)
		msg := func(pairs ...string) *nats.Msg {
			m := &nats.Msg{Subject: q.subject("terms", ""), Data: rogue, Header: nats.Header{}}
			for pair := range slices.Chunk(pairs, 2) {
				m.Header.Set(pair[0], pair[1])
			}
			return m
		}
		for name, m := range map[string]*nats.Msg{
			"plain":            msg(),
			"rollup":           msg(jetstream.MsgRollup, jetstream.MsgRollupSubject),
			"rollup of all":    msg(jetstream.MsgRollup, jetstream.MsgRollupAll),
			"expected last":    msg(jetstream.ExpectedLastSubjSeqHeader, "1"),
			"that passes away": msg(jetstream.MsgTTLHeader, "1s"),
		} {
			_, err := q.js.PublishMsg(t.Context(), m)
			require.Error(t, err, name)
		}
		stream, err := q.js.Stream(t.Context(), q.results())
		require.NoError(t, err)
		require.Error(t, stream.DeleteMsg(t.Context(), 1))
		require.Error(t, stream.SecureDeleteMsg(t.Context(), 1))
		require.Error(t, stream.Purge(t.Context()))
		soft := stream.CachedInfo().Config
		soft.DenyDelete, soft.DenyPurge = false, false
		_, err = q.js.UpdateStream(t.Context(), soft)
		require.Error(t, err)
		require.Equal(t, before, published(t, q))

		result := &nats.Msg{Subject: q.subject("result", "token"), Data: []byte("first")}
		_, err = q.js.PublishMsg(t.Context(), result)
		require.NoError(t, err)
		result.Data = []byte("second")
		_, err = q.js.PublishMsg(t.Context(), result)
		require.ErrorContains(t, err, "maximum messages per subject")

		require.NoError(t, q.prepare(t.Context(), set), "the same terms again are the same run")
		for what, other := range map[string]terms{
			"spec":       {Results: "folder", Spec: json.RawMessage(`{"base_url":"http://other"}`)},
			"deliveries": {Results: "folder", Spec: set.terms.Spec, Deliveries: 7},
		} {
			changed := *set
			changed.terms = other
			require.ErrorIs(t, q.prepare(t.Context(), &changed), ErrOtherSpec, what)
		}
		require.Equal(t, before, published(t, q))
	}
}

// Streams in which messages can be replaced are not those of a run, whoever made
// them.
func TestLooseStream(t *testing.T) {
	s := startTest(t, &server.Options{})
	q := raw(t, s.ClientURL())
	set := &setup{id: "folder", replicas: 1}
	q.configure(set)
	loose := set.streams[1]
	loose.Discard, loose.DiscardNewPerSubject, loose.DenyDelete, loose.DenyPurge = 0, false, false, false
	_, err := q.js.CreateStream(t.Context(), loose)
	require.NoError(t, err)
	require.ErrorContains(t, q.prepare(t.Context(), set), "lets what it holds be replaced")
}

// Who may do anything on a server can remove a run and put another in its place,
// of the same name and results folder. Workers of the first do no trial of it.
func TestTermsReplaced(t *testing.T) {
	s := startTest(t, &server.Options{})
	q := raw(t, s.ClientURL())
	list := many("pass", 3)
	var done atomic.Int32
	var specs atomic.Int32
	begun, proceed := make(chan struct{}), make(chan struct{})
	worker := &Worker{Dir: t.TempDir(), Log: testLog(t), Prepare: func(_ context.Context, spec json.RawMessage) (Do, error) {
		specs.Add(1)
		require.JSONEq(t, `{"base_url":"http://ours"}`, string(spec))
		return func(context.Context, tasks.Trial, string) (tasks.Result, error) {
			if done.Add(1) == 1 {
				close(begun)
				<-proceed
			}
			return tasks.Result{Status: tasks.Scored, Score: 1}, nil
		}, nil
	}}
	set := &setup{id: "folder", lease: time.Minute, replicas: 1, storage: jetstream.MemoryStorage, objects: true,
		terms: terms{Results: "folder", Deliveries: 3, Spec: json.RawMessage(`{"base_url":"http://ours"}`)}}
	require.NoError(t, q.prepare(t.Context(), set))
	require.NoError(t, q.offer(t.Context(), list[0], set.digest))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	wait := crew(ctx, 1, s.ClientURL(), func(int) *Worker { return worker })
	<-begun

	require.NoError(t, q.remove(t.Context()))
	rogue := *set
	rogue.terms.Spec = json.RawMessage(`{"base_url":"http://rogue"}`)
	require.NoError(t, q.prepare(t.Context(), &rogue))
	require.NotEqual(t, set.digest, rogue.digest)
	for _, trial := range list[1:] {
		require.NoError(t, q.offer(t.Context(), trial, rogue.digest))
	}
	close(proceed)
	require.ErrorIs(t, wait(), ErrReplaced)
	require.EqualValues(t, 1, done.Load(), "no trial of the other terms")
	require.EqualValues(t, 1, specs.Load())
}

// A trial that names other terms than those of the run, or none, is not done. It
// is given back.
func TestTrialOfOtherTerms(t *testing.T) {
	for _, terms := range []string{"", "another"} {
		s := startTest(t, &server.Options{})
		q := raw(t, s.ClientURL())
		set := &setup{id: "folder", lease: time.Minute, replicas: 1, storage: jetstream.MemoryStorage}
		require.NoError(t, q.prepare(t.Context(), set))
		trial := many("pass", 1)[0]
		require.NoError(t, q.offer(t.Context(), trial, terms))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		w := &Worker{Dir: t.TempDir(), Do: func(context.Context, tasks.Trial, string) (tasks.Result, error) {
			t.Error("it was done")
			return tasks.Result{}, nil
		}}
		require.ErrorIs(t, w.Work(ctx, s.ClientURL()), ErrReplaced)
		backs, err := q.backs(t.Context(), token(trial))
		require.NoError(t, err)
		require.Equal(t, 1, backs)
	}
}
