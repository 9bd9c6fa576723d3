package planner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"desktop-agent/internal/spell"
)

// UnmarshalJSON reads what [encoding/json] wrote of a plan. It refuses another
// version and fields that it does not know; it does not [Plan.Validate].
func (p *Plan) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil // as encoding/json does
	}
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if head.Version == nil {
		return errors.New(`plan: the field "version" is missing`)
	}
	if *head.Version != Version {
		return fmt.Errorf("plan: version %d is not known; this program reads version %d", *head.Version, Version)
	}
	type plain Plan // without this method
	var read plain
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&read); err != nil {
		return fmt.Errorf("plan: %w", explain(err))
	}
	*p = Plan(read)
	return nil
}

// explain adds the nearest field name to the error for an unknown one.
func explain(err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !unknown {
		return err
	}
	var known []string
	for _, t := range []reflect.Type{
		reflect.TypeFor[Plan](), reflect.TypeFor[Step](), reflect.TypeFor[Evidence](),
		reflect.TypeFor[Revision](), reflect.TypeFor[Change](),
	} {
		for f := range t.Fields() {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			known = append(known, field)
		}
	}
	return fmt.Errorf("field %s is not known; the nearest is %q", name, spell.Nearest(strings.Trim(name, `"`), known, 1)[0])
}
