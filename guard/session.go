package guard

import (
	"fmt"

	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/worldmodel"
)

// Options are what a guard gets from who opens a session, beside the settings.
type Options struct {
	// Ask asks a person; nil: nobody can be asked.
	Ask Approver
	// Home is that of a desktop that somebody else made and will discard; "" for that of
	// the session's private desktop, if it has one.
	Home string
	// Unattended says that nobody is to be asked, whatever the settings say.
	Unattended bool
	// NoModel says that no model is asked: the table alone decides.
	NoModel bool
}

// Guard is [For] as [run.Options] have it: nil, where the settings ask for none.
func (o *Options) Guard(s *run.Session) (run.Guard, error) {
	g, err := For(s, o)
	if g == nil || err != nil {
		return nil, err
	}
	return g, nil
}

// NameOf is the [Guard.Name] that a session with such settings has, which models work in and
// nobody watches; workspace says whether one is there for it. Policies that cannot be read are
// none: the session does not open.
func NameOf(set run.AgentSettings, workspace bool) string {
	if set.Guard != "on" {
		return run.NoGuard
	}
	g := &Guard{World: &worldmodel.Model{}, Policies: DefaultPolicies()}
	if set.Policies != "" {
		g.Policies, _ = ReadPolicies(set.Policies)
	}
	if workspace && set.Workspace != "none" {
		g.Workspace = &Workspace{}
	}
	return g.Name()
}

// For returns the guard that the settings of a session ask for; nil for none. Only a
// session that is being opened takes it, by GuardFor of its [run.Options].
func For(s *run.Session, o *Options) (*Guard, error) {
	set := s.Settings.Agent
	switch set.Guard {
	case "", "off":
		return nil, nil
	case "on":
	default:
		return nil, fmt.Errorf("guard %q: use on or off", set.Guard)
	}
	g := &Guard{
		Approve: Mode(set.Approve), Ask: o.Ask, Desktop: s.Desktop, Log: s.Log, Policies: DefaultPolicies(),
		JudgeLimit: set.JudgeLimit, ApprovalLimit: set.ApprovalLimit, RiskLimit: set.RiskLimit, CarefulEdits: set.CarefulEdits,
	}
	switch g.Approve {
	case "", Never, Risky, Always:
	default:
		return nil, fmt.Errorf("approve %q: use never, risky or always", set.Approve)
	}
	if o.Unattended {
		g.Approve, g.Ask = Never, nil
	}
	if set.Policies != "" {
		var err error
		if g.Policies, err = ReadPolicies(set.Policies); err != nil {
			return nil, err
		}
	}
	home := o.Home
	if s.Private != nil {
		home = s.Private.Home()
	}
	if home != "" && set.Workspace != "none" {
		g.Workspace = &Workspace{Home: home}
	}
	if offered := s.Hand.Offer(); len(offered) > 0 {
		g.Tools = []string{Computer}
		for _, t := range offered {
			g.Tools = append(g.Tools, t.Name)
		}
	}
	if s.Client != nil && !o.NoModel {
		g.World = &worldmodel.Model{LLM: s.Client, ScreenTokens: set.ScreenTokens, Log: s.Log}
		g.Model, g.Analysers = s.Client, []llm.Role{llm.Planner, llm.Actor, llm.WorldModel, llm.Monitor}
		if s.Client.Budget != nil {
			g.Pause = s.Client.Budget.Pause
		}
	}
	return g, nil
}
