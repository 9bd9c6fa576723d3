package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"desktop-agent/actuator/dialect"
	"desktop-agent/actuator/native"
	"desktop-agent/llm"
	"desktop-agent/llm/provider"
	"desktop-agent/llm/wire"
	"desktop-agent/run"
)

// A way is how a model is asked, and with which key.
type way struct {
	provider.Choice
	key string
}

// own returns the flags of a role; those of no role are empty.
func (f modelFlags) own(role llm.Role) roleFlags {
	switch role {
	case llm.Planner:
		return f.Planner
	case llm.Actor:
		return f.Actor
	case llm.WorldModel:
		return f.WorldModel
	case llm.Monitor:
		return f.Monitor
	case llm.Grounder:
		own := f.Grounder.roleFlags
		if own.Fallback == nil { // those of all roles do not ground
			own.Fallback = []string{}
		}
		return own
	}
	return roleFlags{}
}

// named is the model that stands for all: the one of all roles, or the first that a role
// names.
func (f modelFlags) named() string {
	return cmp.Or(f.Model, f.Actor.Model, f.Planner.Model, f.WorldModel.Model, f.Monitor.Model)
}

// base is the base URL of all roles that name no other.
func (f modelFlags) base() string { return cmp.Or(f.BaseURL, f.choose(roleFlags{}).BaseURL) }

// choose says how the model of a role is asked.
func (f modelFlags) choose(own roleFlags) provider.Choice {
	base := cmp.Or(own.BaseURL, f.BaseURL, provider.Reseller(cmp.Or(own.APIKey, f.APIKey)))
	c, err := provider.Choose(cmp.Or(own.API, f.API), base, cmp.Or(own.Model, f.named()))
	if err != nil { // the flag takes no other name
		c.API, c.BaseURL, c.Why = cmp.Or(own.API, f.API), cmp.Or(own.BaseURL, f.BaseURL), err.Error()
	}
	return c
}

// way says how the model of a role is asked, and with which key: with its own, or that of
// all roles if it is at the same address, or with the one that the environment has for
// the provider. A key goes to no other address than the one that it was given for.
func (f modelFlags) way(own roleFlags, getenv func(string) string) way {
	w := way{Choice: f.choose(own), key: own.APIKey}
	if w.key == "" && host(w.BaseURL) == host(f.base()) {
		w.key = f.APIKey
	}
	if name := w.Variable(); w.key == "" && name != "" {
		w.key = getenv(name)
	}
	return w
}

// host is where an address is: what a key is given for.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// key returns the key of the endpoint of all roles.
func (f modelFlags) key(getenv func(string) string) string { return f.way(roleFlags{}, getenv).key }

// keys returns all keys that are sent to anybody.
func (f modelFlags) keys(getenv func(string) string) (list []string) {
	for _, role := range append([]llm.Role{""}, f.roles()...) {
		own := f.own(role)
		for _, one := range append([]roleFlags{own}, f.others(own)...) {
			if key := f.way(one, getenv).key; key != "" && !slices.Contains(list, key) {
				list = append(list, key)
			}
		}
	}
	return list
}

// others returns the flags with which the models are asked that take over from that of a
// role. One that is elsewhere does not get the role's key.
func (f modelFlags) others(own roleFlags) (list []roleFlags) {
	names := own.Fallback
	if names == nil {
		names = f.Fallback
	}
	for i, name := range names {
		other := own
		if other.Others = nil; i < len(own.Others) {
			other.API, other.BaseURL = own.Others[i].API, own.Others[i].BaseURL
		}
		if other.Model = name; host(f.choose(other).BaseURL) != host(f.choose(own).BaseURL) {
			other.APIKey = ""
		}
		list = append(list, other)
	}
	return list
}

// models returns what asks the model of each role; that of none is for all others.
func (f modelFlags) models() provider.ByRole {
	all := provider.ByRole{"": f.endpoint(roleFlags{})}
	for _, role := range f.roles() {
		all[role] = f.endpoint(f.own(role))
	}
	return all
}

// endpoint returns what asks the model of a role, and those that take over from it, each
// in its way.
func (f modelFlags) endpoint(own roleFlags) llm.Model {
	first, others := f.one(own), f.others(own)
	if len(others) == 0 {
		return first
	}
	all := provider.ByName{"": first}
	for _, other := range others {
		all[other.Model] = f.one(other)
	}
	return all
}

// one returns what asks one model.
func (f modelFlags) one(own roleFlags) llm.Model {
	w := f.way(own, getenv)
	model, err := w.Open(provider.Options{Key: wire.Secret(w.key), Stored: f.Stored})
	if err != nil {
		return refusing{err}
	}
	return model
}

// A refusing model has a reason why nobody is asked. It never has a reply.
type refusing struct{ reason error }

// Complete returns the reason.
func (r refusing) Complete(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return nil, &llm.Error{Kind: llm.ErrRequest, Detail: r.reason.Error(), Err: r.reason}
}

// check returns why the models cannot be asked as the flags say.
func (f modelFlags) check(c *llm.Client) error {
	if err := c.Check(); err != nil {
		return err
	}
	if _, err := f.Grounder.form(); err != nil {
		return err
	}
	if f.Grounder.Model != "" && f.Grounder.Tries < 1 {
		return hintError{fmt.Errorf("the grounder is asked %d times", f.Grounder.Tries), "write --grounder-tries with 1 or more"}
	}
	if f.Attempts < 0 {
		return hintError{fmt.Errorf("a call of a model is tried %d times", f.Attempts), "write --attempts with 1 or more"}
	}
	if most := cmp.Or(f.RetryLimit, llm.DefaultRetry.Most); f.RetryWait < 0 || most < f.RetryWait {
		return hintError{fmt.Errorf("the wait before a call is tried again is %v, and at most %v", f.RetryWait, f.RetryLimit), "write for example --retry-wait 500ms --retry-limit 20s"}
	}
	stores := false
	for _, role := range f.roles() {
		own := f.own(role)
		for _, one := range append([]roleFlags{own}, f.others(own)...) {
			if r, ok := f.one(one).(refusing); ok {
				return r.reason
			}
			c, model := f.choose(one), cmp.Or(one.Model, f.named())
			stores = stores || c.CanStore()
			if d := dialect.For(model); c.Guessed && d != nil {
				return hintError{fmt.Errorf("who serves the model %q is not known: it is one of %s, which many serve", model, d.Family),
					"name its server by --base-url, such as http://localhost:8000/v1, or give a key of OpenRouter, whose models are found by it"}
			}
		}
	}
	if f.Stored && !stores {
		return hintError{errors.New("--stored: no model is asked by an API that keeps conversations"), "leave it out, or ask a model that has it by --api responses"}
	}
	return nil
}

// mixed returns why the models that take over from the actor's cannot act in the form that
// the actor writes in, or why a grounder would never be asked: most forms know points alone.
func (f modelFlags) mixed(format string) error {
	if form, err := f.form(format, f.Actor); err == nil && f.Grounder.Model != "" && dialect.Named(form) != nil {
		return hintError{fmt.Errorf("the actor writes its actions as %s, in which nothing is named in words, so that the grounder would not be asked", form),
			"leave out --grounder-model, or add --format code or tools"}
	}
	if format != dialect.Auto && format != dialect.Computer {
		return nil
	}
	form, err := f.form(format, f.Actor)
	if err != nil {
		return nil // which is told where the run begins
	}
	for _, other := range f.others(f.Actor) {
		if its, err := f.form(format, other); err != nil || its != form {
			return hintError{fmt.Errorf("the fallback %q of the actor does not act in the form of the model before it, %s", other.Model, form),
				"have both write their actions in the same form, with --format tools or --format code, or name a model of the same family"}
		}
	}
	return nil
}

// form is the name of the form in which a model writes its actions.
func (f modelFlags) form(format string, own roleFlags) (string, error) {
	name, _, err := native.Choose(format, cmp.Or(own.Model, f.named()), f.choose(own).Computer)
	return name, err
}

// ways are what a run's first event tells of how models are asked, and those that take over.
func (f modelFlags) ways() (list map[llm.Role]run.Way, others map[llm.Role][]run.Way) {
	list = map[llm.Role]run.Way{}
	for _, role := range f.roles() {
		list[role] = f.wayOf(f.own(role))
		for _, other := range f.others(f.own(role)) {
			if others == nil {
				others = map[llm.Role][]run.Way{}
			}
			others[role] = append(others[role], f.wayOf(other))
		}
	}
	return list, others
}

// wayOf is what a run's first event tells of how one model is asked.
func (f modelFlags) wayOf(own roleFlags) run.Way {
	c := f.choose(own)
	return run.Way{API: c.API, BaseURL: withoutSecrets(c.BaseURL), Stored: f.Stored && c.CanStore()}
}
