// Package provider says who serves a model and in which form it is asked, from a table
// that is data, and opens the adapter.
package provider

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"desktop-agent/internal/spell"
)

//go:embed providers.toml
var file []byte

var table = parse(file)

// auto asks for the API that the table says.
const auto = "auto"

// A row of providers is one who serves models.
type row struct {
	Name     string
	BaseURL  string `toml:"base_url"`
	Hosts    []string
	Models   patterns // whose names tell that they are its
	Keys     patterns // how its keys begin
	Variable string   // of the environment, that has the key
	API      []struct {
		Models patterns
		Name   string
	}
	Compatible string // a path that ends so speaks Chat Completions
}

type rows struct {
	Provider []row
	Computer []struct {
		API    string
		Models patterns
		Tool   string
		Why    string
		Grows  bool // see [Choice]
	}
}

type patterns []string

func (p patterns) fit(text string) bool {
	return slices.ContainsFunc(p, func(s string) bool { return regexp.MustCompile(`^(?:` + s + `)`).MatchString(text) })
}

// parse reads the table, which is part of the program.
func parse(data []byte) (t rows) {
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&t); err != nil {
		panic(fmt.Errorf("providers.toml: %w", err))
	}
	return t
}

// A Choice is how a model is asked.
type Choice struct {
	API      string // the adapter: "chat", "responses", …
	BaseURL  string
	Provider string // its name; "" of a server that the table does not know
	Why      string // the API was chosen
	Guessed  bool   // nothing tells who serves the model, so that BaseURL is only the table's first

	// Computer is whose words the tool for mouse and keyboard has that the model is offered,
	// such as "openai"; "" for none. ComputerWhy says why not, if the table does.
	Computer    string
	ComputerWhy string

	// Grows says that the model's reasoning is bound to all that was said before it, so that
	// a conversation may only grow; its provider lets go what is old.
	Grows bool
}

// Choose says how a model is asked. api is what the user says, a name of [APIs] or
// [auto] ("" means that, too); baseURL is "" for that of the model's own provider, or
// OpenAI's if the table does not know the model.
func Choose(api, baseURL, model string) (Choice, error) {
	if api = cmp.Or(api, auto); api != auto && !slices.Contains(APIs(), api) {
		return Choice{}, fmt.Errorf("there is no API %q: the nearest are %s, of all: %s", api,
			strings.Join(spell.Nearest(api, append(APIs(), auto), 2), " and "), strings.Join(append(APIs(), auto), ", "))
	}
	name := plainName(model)
	c := Choice{API: api, BaseURL: baseURL, Why: "it was asked for"}
	p := serving(baseURL)
	if baseURL == "" {
		p, c.Guessed = home(name, api)
		c.BaseURL = p.BaseURL
	}
	if p != nil {
		c.Provider = p.Name
	}
	if api == auto {
		c.API, c.Why = "chat", "every server in OpenAI's form speaks it"
		switch {
		case p == nil || p.Compatible != "" && strings.HasSuffix(strings.TrimRight(c.BaseURL, "/"), p.Compatible):
		default:
			for _, a := range p.API {
				if a.Models.fit(name) {
					c.API, c.Why = a.Name, fmt.Sprintf("the table says so of %s at %s", cmp.Or(model, "any model"), p.Name)
					break
				}
			}
		}
	}
	for _, r := range table.Computer {
		if r.API == c.API && r.Models.fit(name) {
			c.Computer, c.ComputerWhy, c.Grows = r.Tool, r.Why, r.Grows
			break
		}
	}
	return c, nil
}

// plainName is a model's name without who publishes it.
func plainName(model string) string {
	return path.Base("/" + strings.ToLower(strings.TrimSpace(model)))
}

// serving returns who serves an address; nil if the table does not know.
func serving(address string) *row {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	for i, p := range table.Provider {
		for _, host := range p.Hosts {
			if ok, err := path.Match(host, strings.ToLower(u.Hostname())); ok && err == nil {
				return &table.Provider[i]
			}
		}
	}
	return nil
}

// home returns whose a model is: by its name, or by an API that one provider alone has;
// the first of the table if nothing tells.
func home(name, api string) (p *row, guessed bool) {
	for i, p := range table.Provider {
		if name != "" && p.Models.fit(name) {
			return &table.Provider[i], false
		}
	}
	for i, p := range table.Provider {
		for _, a := range p.API {
			if a.Name == api {
				return &table.Provider[i], false
			}
		}
	}
	return &table.Provider[0], true
}

// Reseller returns the base URL of who serves models of many, if a key is one of its; "" if
// it is not. With such a key and no base URL it is the one to ask, whatever the model.
func Reseller(key string) string {
	if p := whose(key); p != nil && p.Models == nil {
		return p.BaseURL
	}
	return ""
}

// whose returns the provider whose keys begin so; nil if none is known.
func whose(key string) (found *row) {
	best := ""
	for i, p := range table.Provider { // the longest beginning tells: sk-ant- is more than sk-
		for _, begin := range p.Keys {
			if s := regexp.MustCompile(`^(?:` + begin + `)`).FindString(key); len(s) > len(best) {
				best, found = s, &table.Provider[i]
			}
		}
	}
	return found
}

// Variable names the variable of the environment that has the key of the provider; "" if
// it is not known, or if the key would go out unencrypted.
func (c Choice) Variable() string {
	p := serving(c.BaseURL)
	if u, err := url.Parse(c.BaseURL); p == nil || err != nil || u.Scheme != "https" || u.Port() != "" {
		return ""
	}
	return p.Variable
}

// Names are those of all providers that the table knows.
func Names() (list []string) {
	for _, p := range table.Provider {
		list = append(list, p.Name)
	}
	return list
}

// Variables names all variables of the environment that have keys.
func Variables() (list []string) {
	for _, p := range table.Provider {
		if p.Variable != "" {
			list = append(list, p.Variable)
		}
	}
	return list
}

// CheckKey returns an error if a key is one of another provider than that which it would
// be sent to. Nothing of the key is in it.
func (c Choice) CheckKey(key string) error {
	here, owner := serving(c.BaseURL), whose(key)
	if here == nil || owner == nil || owner == here {
		return nil
	}
	return fmt.Errorf("the key is one of %s, and would be sent to %s at %s: nothing was sent", owner.Name, here.Name, here.BaseURL)
}
