package run

import (
	"context"
	"errors"
)

// Part returns the session of who does a part of the run on the same desktop: its events
// say where they belong, and its hand is its own. The desktop, the guard, the tools, the
// models and their budget are those of the run, and so is all that it may not do. There is
// nothing to close: what is on the display when the part ends stays as it is, but for keys
// and buttons, which [Hand.Release] lets go.
//
// Two parts of one display must not act at the same time.
func (s *Session) Part(w Where) *Session {
	part := &Session{
		Settings: s.Settings, Private: s.Private, Display: s.Display, Screen: s.Screen, Desktop: s.Desktop, Home: s.Home, Log: s.Log,
		Hand: s.Hand.Beside(nil), reader: s.reader, seat: s.seat, of: s, finished: true, closed: true,
	}
	part.join(s, w)
	return part
}

// Deskless returns a part that has neither a desktop nor a device: it can call tools.
func (s *Session) Deskless(w Where) *Session {
	part := s.Part(w)
	part.Private, part.Display, part.Screen, part.Desktop, part.Home, part.reader, part.seat = nil, "", nil, nil, nil, nil, nil
	part.Hand.device, part.Hand.Desktop = nil, nil
	return part
}

// Branch opens a session for an agent that works on a private desktop of its own in the
// same run. What is forbidden in the run is forbidden there, by the same guard, and
// counts for the same budget; its events are in the same journal. The caller closes it.
func (s *Session) Branch(ctx context.Context, agent string) (*Session, error) {
	branch := &Session{Settings: s.Settings, Log: s.Log, of: s, options: Options{
		Agent: agent, Guard: s.Hand.guard, Exempt: s.Hand.exempt, ToolsOf: s.Hand, Secrets: s.options.Secrets,
		Getenv: func(string) string { return "" }, Log: s.Log,
	}}
	d := s.Settings.Display.Disposable()
	if !s.Settings.Display.Private { // they are for rehearsals
		d.Open, d.Home = "", ""
	}
	branch.Settings.Display = d
	opened, err := branch.open(ctx)
	if err != nil {
		return nil, err
	}
	if s.seat != nil { // who stops the run stops this too
		s.seat.OnStop(func() {
			stopped, how := s.seat.Err(), "stopped"
			if stopped != nil {
				how = stopped.Error()
			}
			opened.Stop(how)
		})
	}
	return opened, nil
}

// join has a session write where another one does, and ask the same models.
func (s *Session) join(of *Session, w Where) {
	s.Scope = of.Scope.Beside(w)
	s.Hand.Scope, s.Hand.told = s.Scope, of.Hand.shared()
	if of.Client == nil {
		return
	}
	s.Client = of.Client.Recording(s.Scope.Call)
}

// errNoDesktop says that something needs a desktop.
var errNoDesktop = errors.New("the session has no desktop: open it on a display, or with a private desktop")

// NeedsDesktop returns an error if a session has no desktop.
func (s *Session) NeedsDesktop() error {
	if s.Desktop == nil {
		return errNoDesktop
	}
	return nil
}
