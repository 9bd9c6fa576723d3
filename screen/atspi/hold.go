package atspi

import (
	"image"
	"slices"
	"strconv"
	"strings"
)

const (
	shortText = 300     // characters of a text that is read whole, wherever it is scrolled
	maxBefore = 200_000 // characters before the visible part that are read to count their lines
	inset     = 2       // pixels from the edge of a text to where its first and last character are asked for
)

// A holding is what an object holds: its text or value.
type holding struct {
	text      string
	counted   bool // it tells how long its text is, also where that is 0
	caret     int  // where the caret is, in characters of the object from 1; 0: not known
	start     int  // see [Node]
	length    int
	line      int
	formula   string
	value     float64
	low, high float64 // what the value can be
	valued    bool
	editable  bool // its text can be set without the keyboard
}

// hold asks for the text or the value that an object holds.
func (w *walk) hold(o *object) {
	if o.role.holdsText() {
		w.property(o.ref, texts, "CharacterCount", func(v any) {
			var n int32
			if n, o.counted = v.(int32); n > 0 {
				w.readText(o, n)
			}
		})
		if o.states.has(stateFocused) {
			w.property(o.ref, texts, "CaretOffset", func(v any) {
				if n, ok := v.(int32); ok && n >= 0 {
					o.caret = int(n) + 1
				}
			})
		}
	}
	if o.role == roleComboBox {
		w.choice(o, o.ref, true)
	}
	if o.role.holdsValue() {
		w.readValue(o)
		if w.chromium && o.role == roleSpinButton && o.within(roleDateEditor) {
			w.readDate(o)
		}
	}
	if o.states.has(stateEditable) {
		w.ask(o.ref, accessible, "GetInterfaces", func(body []any) {
			list, _ := first[[]any](body)
			o.editable = slices.Contains(list, any(editableText))
		})
	}
}

// choice asks for the selected entry of a combo box, or of the list inside of it.
func (w *walk) choice(o *object, in reference, outer bool) {
	w.ask(in, selections, "GetSelectedChild", func(body []any) {
		ref, ok := only(body)
		switch {
		case ok && ref.name == w.root.name:
			w.property(ref, accessible, "Name", func(v any) {
				name, _ := v.(string)
				o.text = cut(name, maxText)
			})
		case outer && len(body) == 0:
			w.ask(in, accessible, "GetChildAtIndex", func(body []any) {
				if list, ok := only(body); ok && list.name == w.root.name {
					w.choice(o, list, false)
				}
			}, int32(0))
		}
	}, int32(0))
}

// readValue asks for an object's number. It is told only if there is no text, and
// if it can be: a browser tells 0 for a field that has nothing in it.
func (w *walk) readValue(o *object) {
	if o.role.ranges() {
		w.property(o.ref, values, "MinimumValue", func(v any) { o.low, _ = v.(float64) })
		w.property(o.ref, values, "MaximumValue", func(v any) { o.high, _ = v.(float64) })
	}
	w.property(o.ref, values, "CurrentValue", func(v any) {
		o.value, o.valued = v.(float64)
		outside := o.low < o.high && (o.value < o.low || o.value > o.high)
		if o.valued && o.text == "" && !outside && !(o.counted && o.states.has(stateEditable)) {
			o.text = strconv.FormatFloat(o.value, 'g', 6, 64)
		}
	})
}

// readDate asks for what a part of a date or time shows. As a value Chromium tells a year
// that is out of the date's limits as the nearest that is not, and where nothing was entered
// 0, which it shows as 00 otherwise.
func (w *walk) readDate(o *object) {
	w.attribute(o, "valuetext", func(shown string) {
		if o.text = cut(shown, maxText); shown == "0" {
			o.text = ""
		}
	})
}

// attribute asks for one of an object's attributes, if it has that.
func (w *walk) attribute(o *object, name string, then func(string)) {
	w.ask(o.ref, accessible, "GetAttributes", func(body []any) {
		list, _ := first[[]any](body)
		for _, v := range list {
			if pair, _ := v.([]any); len(pair) == 2 && pair[0] == name {
				value, _ := pair[1].(string)
				then(value)
			}
		}
	})
}

// settable reports whether the program takes a text or a value from others.
func (o *object) settable() bool {
	if !o.states.has(stateEnabled) && !o.states.has(stateSensitive) || o.states.has(stateReadOnly) {
		return false
	}
	return o.editable || o.valued && o.role.ranges() && o.low < o.high
}

// readText reads the text of an object that has n characters: of one that is not
// short, the part that can be seen.
func (w *walk) readText(o *object, n int32) {
	seen := w.extent(o)
	if n <= shortText || !o.placed || seen.Dx() <= 2*inset || seen.Dy() <= 2*inset {
		w.readPart(o, 0, min(n, maxText), n)
		if o.role == roleParagraph && n <= shortText && o.placed {
			w.fit(o, n)
		}
		return
	}
	var from int32
	read := func(to int32) {
		if to <= from {
			from, to = 0, n
		}
		w.readPart(o, from, min(to, from+maxText), n)
	}
	bisect := func() {
		w.bisect(o, 0, n, seen.Min.Y+inset, func(first int32) {
			from = first
			w.bisect(o, first, n, seen.Max.Y, read)
		})
	}
	if w.chromium { // it asks each character where it is, and tells only of points on one
		bisect()
		return
	}
	w.offset(o, seen.Min.Add(image.Pt(inset, inset)), func(at int32) { from = min(at, n-1) })
	w.offset(o, seen.Max.Sub(image.Pt(inset+1, inset+1)), func(at int32) {
		if from >= 0 && at >= from {
			read(min(at+1, n))
			return
		}
		if w.qt {
			w.flat(o, n, seen, bisect)
			return
		}
		bisect()
	})
}

// fit makes the box of a paragraph as wide as its words, which may be a few at one end of
// the page: what lies over the rest of the page does not cover them.
func (w *walk) fit(o *object, n int32) {
	w.ask(o.ref, texts, "GetRangeExtents", func(body []any) {
		words, ok := rectangle([]any{body})
		if ok && words.Dx() > 0 && words.Overlaps(o.box) {
			o.box.Min.X, o.box.Max.X = max(o.box.Min.X, words.Min.X), min(o.box.Max.X, words.Max.X)
		}
	}, int32(0), n, uint32(0))
}

// bisect finds the first of the characters from low on, and before high, of which the
// bottom is below a height; or high.
func (w *walk) bisect(o *object, low, high int32, y int, then func(int32)) {
	if low >= high {
		then(low)
		return
	}
	middle := (low + high) / 2
	w.below(o, middle, high, y, func(below bool) {
		if below {
			w.bisect(o, low, middle, y, then)
		} else {
			w.bisect(o, middle+1, high, y, then)
		}
	})
}

// below asks whether a character's bottom is below a height; of one that takes no
// place, such as the end of a line, whether that of the next is.
func (w *walk) below(o *object, at, high int32, y int, then func(bool)) {
	w.ask(o.ref, texts, "GetCharacterExtents", func(body []any) {
		box, ok := rectangle([]any{body})
		if ok && box.Empty() && at+1 < high && box.Dy() == 0 {
			w.below(o, at+1, high, y, then)
			return
		}
		then(ok && box.Max.Y > y)
	}, at, uint32(0))
}

// offset asks which character of an object is at a point; -1 means none.
func (w *walk) offset(o *object, at image.Point, then func(int32)) {
	w.ask(o.ref, texts, "GetOffsetAtPoint", func(body []any) {
		offset, ok := first[int32](body)
		if !ok {
			offset = -1
		}
		then(offset)
	}, int32(at.X), int32(at.Y), uint32(0))
}

// readPart reads some of the n characters of an object.
func (w *walk) readPart(o *object, from, to, n int32) {
	w.ask(o.ref, texts, "GetText", func(body []any) {
		text, _ := first[string](body)
		o.text = cut(text, maxText)
		if from > 0 || to < n {
			o.start, o.length = int(from), int(n)
		}
	}, from, to)
	switch {
	case from == 0 && to < n:
		o.line = 1
	case from > 0 && from <= maxBefore:
		w.ask(o.ref, texts, "GetText", func(body []any) {
			if before, ok := first[string](body); ok {
				o.line = 1 + strings.Count(before, "\n")
			}
		}, int32(0), from)
	}
}

// extent returns the part of an object's box that its scroll panes let
// through, as the program tells.
func (w *walk) extent(o *object) image.Rectangle {
	box := o.box
	for p := o.parent; p != nil; p = p.parent {
		if p.placed && p.role.clips() {
			box = box.Intersect(p.box)
		}
	}
	return box
}
