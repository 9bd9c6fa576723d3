package program

import (
	"fmt"
	"slices"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/rule"
)

// matchesValue tells whether a value satisfies a value rule, see [rule.Rule].
func matchesValue(value any, params tasks.Params) (bool, error) {
	if _, ok := params["ref"]; !ok {
		return false, fmt.Errorf("rule: method %v has no ref", params["method"])
	}
	r, err := rule.New(params)
	if err != nil {
		return false, err
	}
	return r.Holds(value)
}

// number returns a value as a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// sameSet reports whether two lists have the same elements.
func sameSet(a, b []string) bool {
	return slices.Equal(distinct(a), distinct(b))
}

// distinct returns the elements of a list once each, in order.
func distinct(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
