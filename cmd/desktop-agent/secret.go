package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"desktop-agent/internal/regular"
	"desktop-agent/run"
)

// secretFlags give texts that no model reads.
type secretFlags struct {
	Secret []string `help:"A text that the actor types as {{secret:NAME}} and that no model, journal or log gets: NAME=env:VARIABLE@WINDOW or NAME=file:FILE@WINDOW. It is typed only into a window whose title has WINDOW in it. Say in the task what it is for." placeholder:"NAME=env:VAR@WINDOW" sep:"none" env:"-" group:"Agent"`
}

// secrets reads the values. The keys of endpoints are among them, to be typed nowhere.
func (f secretFlags) secrets(task string, keys ...string) ([]run.Secret, error) {
	var list []run.Secret
	const form = "write for example --secret password=env:SHOP_PASSWORD@Sign in"
	for _, text := range f.Secret {
		name, rest, named := strings.Cut(text, "=")
		i := strings.LastIndexByte(rest, '@')
		if !named || i < 0 || strings.TrimSpace(rest[i+1:]) == "" {
			return nil, hintError{fmt.Errorf("--secret %s does not say from where, or for which window", name), form}
		}
		source, window := rest[:i], rest[i+1:]
		value, err := secretValue(source)
		if err != nil {
			return nil, hintError{fmt.Errorf("--secret %s: %w", name, err), form}
		}
		list = append(list, run.Secret{Name: name, Value: value, Window: window})
	}
	if err := run.CheckSecrets(list, task); err != nil {
		return nil, hintError{err, form}
	}
	for _, key := range keysOf(keys...) {
		if !slices.ContainsFunc(list, func(s run.Secret) bool { return s.Value == key.Value }) {
			list = append(list, key)
		}
	}
	return list, nil
}

// shortestKey is the least length of a key that opens anything, in characters. What is
// shorter is a word that local servers are given because something has to stand there
// (EMPTY, none, ollama), and words stand on screens: painting them over would blind the agent.
const shortestKey = 16

// keysOf are keys of endpoints as secrets that are typed nowhere.
func keysOf(keys ...string) (list []run.Secret) {
	for _, key := range keys {
		if len(key) >= shortestKey {
			list = append(list, run.Secret{Name: "api-key", Value: key})
		}
	}
	return list
}

// secretValue reads a value.
func secretValue(source string) (string, error) {
	if name, ok := strings.CutPrefix(source, "env:"); ok {
		value := os.Getenv(name)
		if value == "" {
			return "", fmt.Errorf("the variable %s is empty or not set", name)
		}
		return value, nil
	}
	if path, ok := strings.CutPrefix(source, "file:"); ok {
		data, err := regular.Read(path, maxSettings)
		return strings.TrimRight(string(data), "\r\n"), err
	}
	return "", errors.New("it is given by env: or file:, never on the command line itself")
}
