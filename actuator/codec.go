package actuator

import "errors"

// Marshal returns an action as a JSON object whose key "action" is its name.
func Marshal(a Action) ([]byte, error) { return nil, errors.New("not written yet") }

// Unmarshal reads what [Marshal] wrote, and validates it.
func Unmarshal(data []byte) (Action, error) { return nil, errors.New("not written yet") }
