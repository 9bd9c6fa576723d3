package atspi

import (
	"image"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RightToLeft reports whether a window, of which these are the nodes, is laid out from right
// to left: as most menus and tabs stand on the left of the one before, and the labels of most
// fields on their right; or, where a program has or tells none of these, as most names are in
// a script that is written so. A file has the script of its own, whatever shows it.
func RightToLeft(window []Node) bool {
	labels := map[string][]image.Rectangle{}
	for _, n := range window {
		if n.Role == roleLabel.String() || n.Role == roleStatic.String() {
			name := strings.TrimSpace(n.Name)
			labels[name] = append(labels[name], n.Box)
		}
	}
	laid, written := 0, 0               // positive: from right to left
	before := map[int]image.Rectangle{} // of a bar of menus or tabs, the last one
	for _, n := range window {
		switch {
		case n.LabelFrom == LabelRelation && Field(n.Role):
			side := 0
			for _, label := range labels[n.Label] {
				side += leftward(label, n.Box)
			}
			laid += max(-1, min(side, 1))
		case n.Role == roleMenu.String() || n.Role == rolePageTab.String():
			if last, ok := before[n.Parent]; ok {
				laid += leftward(last, n.Box)
			}
			before[n.Parent] = n.Box
		}
		letter := strings.IndexFunc(n.Name, unicode.IsLetter)
		if letter < 0 {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(n.Name[letter:]); unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) {
			written++
		} else {
			written--
		}
	}
	return laid > 0 || laid == 0 && written > 0
}

// leftward returns 1 if the second of two boxes lies on the left of the first, in one row,
// -1 if it lies on the right, and else 0.
func leftward(a, b image.Rectangle) int {
	switch {
	case a.Max.Y <= b.Min.Y || a.Min.Y >= b.Max.Y:
		return 0
	case a.Min.X >= b.Max.X-alike:
		return 1
	case a.Max.X <= b.Min.X+alike:
		return -1
	}
	return 0
}
