package actuator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Marshal returns an action as a JSON object whose key "action" is its name,
// beside its fields. Typed text is in it.
func Marshal(a Action) ([]byte, error) {
	if a == nil {
		return nil, errors.New("marshal action: there is none")
	}
	fields, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("marshal %s: %w", Name(a), err)
	}
	head := fmt.Appendf(nil, `{"action":%q`, Name(a))
	if len(fields) > len("{}") {
		head = append(head, ',')
	}
	return append(head, fields[1:]...), nil
}

// Unmarshal reads what [Marshal] wrote, and checks it as [Decode] does: no
// field may be missing or unknown.
func Unmarshal(data []byte) (Action, error) {
	m, err := object(data)
	if err != nil {
		return nil, fmt.Errorf("unmarshal action: %w", err)
	}
	name, ok := m["action"].(string)
	if !ok {
		return nil, fmt.Errorf("unmarshal action: the key \"action\" must hold a name: one of %q", variantNames())
	}
	delete(m, "action")
	var a Action
	v, err := variantNamed(name)
	if err == nil {
		a, err = v.read(m)
	}
	if err != nil {
		return nil, fmt.Errorf("unmarshal %s: %w", clip(name), err)
	}
	return a, nil
}

// object reads a JSON object.
func object(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("the arguments are not valid UTF-8; write them again")
	}
	m := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&m); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("the arguments end in the middle; write the whole JSON object")
		}
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("the arguments are not JSON (byte %d: %v); write one JSON object", syntax.Offset, err)
		}
		return nil, errors.New("the arguments must be one JSON object")
	}
	if decoder.More() {
		return nil, errors.New("there is more than one JSON object; write one")
	}
	if m == nil {
		return nil, errors.New("the arguments are null; write a JSON object")
	}
	return m, nil
}
