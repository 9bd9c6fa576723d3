package osworld

import (
	"fmt"
	"slices"
	"strings"

	"desktop-agent/internal/spell"
	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/evaluate"
)

// infeasible is the function of tasks that cannot be done.
const infeasible = "infeasible"

// evaluator reads how a task is judged.
func (f *finder) evaluator(task tasks.Params) tasks.Evaluator {
	const key = "evaluator"
	p, err := task.Map(key)
	if err != nil || p == nil {
		f.add(key, "missing: give an object with func")
		return tasks.Evaluator{}
	}
	funcs, err := p.Texts("func")
	if err != nil || len(funcs) == 0 {
		f.add(key+".func", "missing: give the name of a metric, or a list of names")
		return tasks.Evaluator{}
	}
	ev := tasks.Evaluator{Post: f.steps(p, "postconfig", key+".postconfig")}
	switch conj, err := p.Text("conj"); {
	case err != nil:
		f.check(key, err)
	case conj == "or":
		ev.Any = true
	case conj != "" && conj != "and":
		f.add(key+".conj", "%.50q is neither and nor or", conj)
	}
	if slices.Contains(funcs, infeasible) {
		ev.Infeasible = true
		if len(funcs) > 1 {
			f.add(key+".func", "infeasible stands beside other metrics: a task can be done or it cannot")
		}
		return ev
	}
	ev.Checks = f.checks(p, funcs)
	return ev
}

// checks reads the metrics with what they compare.
func (f *finder) checks(p tasks.Params, funcs []string) []tasks.Check {
	const key = "evaluator"
	known := evaluate.Names()
	results := f.lined(p, "result", len(funcs))
	expected := f.lined(p, "expected", len(funcs))
	options := f.lined(p, "options", len(funcs))
	checks := make([]tasks.Check, len(funcs))
	for i, name := range funcs {
		at := ""
		if _, list := p["func"].([]any); list {
			at = fmt.Sprintf("[%d]", i)
		}
		if !slices.Contains(known, name) {
			f.add(key+".func"+at, "unknown metric %.100q%s", name, hint(name, known))
		}
		checks[i].Metric = name
		checks[i].Result = f.getter(results[i], key+".result"+at)
		checks[i].Expected = f.getter(expected[i], key+".expected"+at)
		checks[i].Options = orEmpty(options[i])
	}
	return checks
}

// orEmpty returns an object that may be absent as one that is empty.
func orEmpty(p tasks.Params) tasks.Params {
	if p == nil {
		return tasks.Params{}
	}
	return p
}

// lined reads a setting that is one object, or a list of one for each metric.
// Objects that are empty or null stand for nothing.
func (f *finder) lined(p tasks.Params, key string, n int) []tasks.Params {
	out := make([]tasks.Params, n)
	where := "evaluator." + key
	list, isList := p[key].([]any)
	switch {
	case !p.Has(key):
		return out
	case !isList && n == 1:
		list = []any{p[key]}
	case !isList:
		f.add(where, "func is a list of %d, so this must be one too", n)
		return out
	case len(list) > n || len(list) < n && key == "result":
		f.add(where, "a list of %d where func has %d", len(list), n)
		return out
	}
	for i, v := range list {
		switch v := v.(type) {
		case nil:
		case map[string]any:
			out[i] = v
		default:
			f.add(where, "%.60q is not an object", fmt.Sprint(v))
		}
	}
	return out
}

// getter reads a getter, nil for an object that is absent or empty.
func (f *finder) getter(p tasks.Params, where string) *tasks.Getter {
	if len(p) == 0 {
		return nil
	}
	kind, err := p.Text("type")
	if err != nil || kind == "" {
		f.add(where+".type", "missing: give the name of a getter, such as vm_file")
		return nil
	}
	g := &tasks.Getter{Type: kind, Params: without(p, "type")}
	f.checkGetter(g, where)
	return g
}

// hint suggests a name that is known.
func hint(name string, known []string) string {
	return fmt.Sprintf(": did you mean %s?", strings.Join(spell.Nearest(name, known, 2), " or "))
}
