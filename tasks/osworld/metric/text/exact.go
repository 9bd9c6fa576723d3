package text

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/fuzzy"
	"desktop-agent/tasks/osworld/metric/rule"
)

// exactMatch: the result equals the rules' "expected", without any trimming.
func (j judge) exactMatch(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	want, err := expectedOf(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	return yesOr(rule.Equal(result, want), "got %s, want %s", quote(result), quote(want)), nil
}

// matchInList: the result is one of "expected".
func (j judge) matchInList(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	want, err := expectedOf(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	in, ok := contains(want, result)
	if _, isText := want.(string); !ok && !isText {
		return tasks.Score{}, fmt.Errorf("expected: %s is not a list", quote(want))
	}
	return yesOr(in, "got %s, want one of %s", quote(result), quote(want)), nil
}

// isInList: the result holds "expected": a list as a member, a text as a part.
func (j judge) isInList(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	want, err := expectedOf(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	in, ok := contains(result, want)
	if !ok {
		return tasks.Score{}, lacking("the result %s is not a list", quote(result))
	}
	return yesOr(in, "%s is not in %s", quote(want), quote(result)), nil
}

// contains is Python's "item in container"; ok is false where that is a TypeError.
func contains(container, item any) (in, ok bool) {
	switch c := container.(type) {
	case string:
		text, ok := item.(string)
		return ok && strings.Contains(c, text), ok
	case []any:
		return slices.ContainsFunc(c, func(v any) bool { return rule.Equal(v, item) }), true
	case []string:
		text, ok := item.(string)
		return ok && slices.Contains(c, text), true
	case map[string]any:
		text, ok := item.(string)
		_, in := c[text]
		return ok && in, true
	}
	return false, false
}

// literalMatch compares values written out as texts, or lists of them: options "type"
// (str, the default, or list) and "ignore_case". What is expected is the value itself
// or the rules' "expected".
func (j judge) literalMatch(_ context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
	if p, err := rules(expected); err == nil && p.Has("expected") {
		expected = p["expected"]
	}
	kind, err := options.Text("type")
	if err != nil {
		return tasks.Score{}, err
	}
	ignoreCase, err := options.Bool("ignore_case")
	if err != nil {
		return tasks.Score{}, err
	}
	text := func(v any) string {
		if ignoreCase {
			return strings.ToLower(repr(v))
		}
		return repr(v)
	}
	switch kind {
	case "", "str":
		if expected == nil {
			return tasks.Score{}, fmt.Errorf("expected: there is nothing")
		}
		return yesOr(text(result) == text(expected), "got %s, want %s", quote(result), quote(expected)), nil
	case "list":
		want, ok := list(expected)
		if !ok {
			return tasks.Score{}, fmt.Errorf("expected: %s is not a list", quote(expected))
		}
		got, ok := list(result)
		return yesOr(ok && slices.EqualFunc(got, want, func(a, b any) bool { return text(a) == text(b) }),
			"got %s, want %s", quote(result), quote(expected)), nil
	}
	return tasks.Score{}, fmt.Errorf("option type: %q is neither str nor list", kind)
}

func list(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out, true
	}
	return nil, false
}

// fuzzyMatch scores the likeness of the result with "expected".
func (j judge) fuzzyMatch(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	v, err := expectedOf(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	want, ok := v.(string)
	if !ok {
		return tasks.Score{}, fmt.Errorf("expected: %s is not a text", quote(v))
	}
	got, err := output(result)
	if err != nil {
		return tasks.Score{}, err
	}
	if utf8.RuneCountInString(got) > maxChars {
		return tasks.Score{}, lacking("the result has more than %d characters", maxChars)
	}
	return similar(fuzzy.Ratio(got, want) / 100), nil
}

// similar is the score of a likeness.
func similar(ratio float64) tasks.Score {
	if ratio == 1 {
		return tasks.Yes()
	}
	return tasks.Score{Value: ratio, Why: fmt.Sprintf("only %.1f %% alike", 100*ratio)}
}

// checkIncludeExclude: the result holds all of "include" and none of "exclude".
func (j judge) checkIncludeExclude(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	p, err := rules(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	include, err := p.Texts("include")
	if err != nil {
		return tasks.Score{}, err
	}
	exclude, err := p.Texts("exclude")
	if err != nil {
		return tasks.Score{}, err
	}
	if result == nil {
		return tasks.Score{}, lacking("there is no result")
	}
	for _, want := range include {
		if in, _ := contains(result, want); !in {
			return tasks.No(fmt.Sprintf("%s is not in %s", quote(want), quote(result))), nil
		}
	}
	for _, unwanted := range exclude {
		in, ok := contains(result, unwanted)
		if in || !ok {
			return tasks.No(fmt.Sprintf("%s must not be in %s", quote(unwanted), quote(result))), nil
		}
	}
	return tasks.Yes(), nil
}

// isExtensionInstalled: the result holds the text "expected" if "type" is contain,
// and does not if it is not_contain.
func (j judge) isExtensionInstalled(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	p, err := rules(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	want, err := p.Text("expected")
	if err != nil {
		return tasks.Score{}, err
	}
	if want == "" {
		return tasks.Score{}, fmt.Errorf("expected: the rules have no text at %q", "expected")
	}
	got, err := output(result)
	if err != nil {
		return tasks.Score{}, err
	}
	switch kind := p["type"]; kind {
	case "contain":
		return yesOr(strings.Contains(got, want), "%q is not in %s", want, quote(got)), nil
	case "not_contain":
		return yesOr(!strings.Contains(got, want), "%q is in %s", want, quote(got)), nil
	default:
		return tasks.Score{}, fmt.Errorf("rules: type %s is neither contain nor not_contain", quote(kind))
	}
}

// isInClipboard: the text holds all of the rules' "expected". In the original the
// rules are the result and the clipboard is what is expected; both orders do.
func (j judge) isInClipboard(_ context.Context, result, expected tasks.Value, _ tasks.Params) (tasks.Score, error) {
	if _, err := rules(expected); err != nil {
		result, expected = expected, result
	}
	p, err := rules(expected)
	if err != nil {
		return tasks.Score{}, err
	}
	texts, err := p.Texts("expected")
	if err != nil {
		return tasks.Score{}, err
	}
	if len(texts) == 0 {
		return tasks.Score{}, fmt.Errorf("expected: the rules have no texts at %q", "expected")
	}
	got, err := output(result)
	if err != nil {
		return tasks.Score{}, err
	}
	for _, want := range texts {
		if !strings.Contains(got, want) {
			return tasks.No(fmt.Sprintf("%s is not in the clipboard, which holds %s", quote(want), quote(got))), nil
		}
	}
	return tasks.Yes(), nil
}
