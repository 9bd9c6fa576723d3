package actuator

import (
	"reflect"
	"slices"
)

// What a field of an action is for follows from its type: a [Point] is aimed at,
// an [Element] is what code found out about one, a [Secret] is entered, a [Key] is pressed, or held if the field is called
// Modifiers. So there is one list of the fields, and that is the declaration.

// eachField calls f with the name of each field of an action and a pointer to
// it, and returns the action with what f made of them. No action has no fields.
func eachField(a Action, f func(name string, field any)) Action {
	if a == nil {
		return nil
	}
	v := reflect.New(rowOf(a).kind).Elem()
	v.Set(reflect.ValueOf(a))
	for i := range v.NumField() {
		f(v.Type().Field(i).Name, v.Field(i).Addr().Interface())
	}
	return v.Interface().(Action)
}

// replace returns an action with f's result for each value of a type in its
// fields, in order: those that are one, a list of them, or one that may be nil.
func replace[T any](a Action, f func(T) T) Action {
	if !rowOf(a).holds[reflect.TypeFor[T]()] {
		return a
	}
	return eachField(a, func(_ string, field any) {
		switch field := field.(type) {
		case *T:
			*field = f(*field)
		case **T:
			if *field != nil {
				t := f(**field)
				*field = &t
			}
		case *[]T:
			*field = slices.Clone(*field)
			for i, t := range *field {
				(*field)[i] = f(t)
			}
		}
	})
}

// fieldTypes returns the types of the fields of an action, as [replace] knows them.
func fieldTypes(action reflect.Type) map[reflect.Type]bool {
	m := map[reflect.Type]bool{}
	for field := range action.Fields() {
		t := field.Type
		if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		m[t] = true
	}
	return m
}

// values returns the values of a type in an action's fields, in order.
func values[T any](a Action) (list []T) {
	replace(a, func(t T) T { list = append(list, t); return t })
	return list
}

// Points returns the points of the image that an action aims at, in order.
func Points(a Action) []Point { return values[Point](a) }

// Moved returns an action that aims at other points: at to(p) for each point p.
func Moved(a Action, to func(Point) Point) Action { return replace(a, to) }

// Aimed returns an action that says where it begins, if it left that open: at is
// where the pointer is.
func Aimed(a Action, at Point) Action {
	return eachField(a, func(_ string, field any) {
		switch field := field.(type) {
		case **Point:
			if *field == nil {
				*field = &at
			}
		case *[]Point:
			if len(*field) == 1 {
				*field = []Point{at, (*field)[0]}
			}
		}
	})
}

// Pressed returns the keys that an action presses or lets go. Those that it only
// holds while the mouse does something are not among them.
func Pressed(a Action) (list []Key) {
	eachKey(a, func(keys []Key) []Key {
		list = append(list, keys...)
		return keys
	})
	return list
}

// WithKey returns an action that presses the key k and no other, if it presses
// any.
func WithKey(a Action, k Key) Action {
	return eachKey(a, func([]Key) []Key { return []Key{k} })
}

// eachKey calls f with the keys of each field that are pressed or let go, and
// returns the action with those that f returns instead, at least one.
func eachKey(a Action, f func([]Key) []Key) Action {
	return eachField(a, func(name string, field any) {
		switch field := field.(type) {
		case *Key:
			*field = f([]Key{*field})[0]
		case *[]Key:
			if name != "Modifiers" {
				*field = f(*field)
			}
		}
	})
}

// Entered returns the text, in clear, that an action types or puts into the
// clipboard; ok is false for an action that does neither.
func Entered(a Action) (text string, ok bool) {
	for _, s := range values[Secret](a) {
		return string(s), true
	}
	return "", false
}

// WithText returns an action that enters another text, if it enters any.
func WithText(a Action, text string) Action {
	return replace(a, func(Secret) Secret { return Secret(text) })
}
