// Package run is what a run is. Whoever acts on a desktop (the agent, a macro, a
// recording of a person, doctor, the set-up of a task) does it by the parts of this
// package, and has no other way:
//
//   - a [Session] has all that a run needs, from the desktop to the journal, opened in
//     one call and closed in the one right order;
//   - [Settings] are all that changes behaviour; the first event carries them;
//   - the [Hand] is the one way to a device: intend, guard, acting, device, acted;
//   - a [Scope] of the [Recorder] writes the events of one who acts, which several can
//     do in one journal; [Turns] put together again what several events tell of one thing;
//   - [Hand.End] ends a run, and [Scope.End] one in which no hand acted.
//
// A session is opened, worked with and closed like this:
//
//	s, err := run.Open(ctx, settings, &run.Options{Client: client, Journal: journal})
//	…
//	defer s.Close()
//	act, err := s.Hand.Do(ctx, run.Intent{Action: click, On: observation, Source: run.FromModel})
//
// What a [Desktop] shows, a [Journal] keeps and a [Guard] decides, others implement;
// package runtest has suites that hold what these promise. Package eventjson is the
// form of events on disk.
package run

// Schema is the version of the events that this package writes.
const Schema = 2
