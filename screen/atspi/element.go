package atspi

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
)

// ErrUnknown is [Reader.Now]'s error when the program cannot tell what became of an
// element: it is gone, is not shown, was not there in the last tree, or gives no answer.
var ErrUnknown = errors.New("the program does not tell what became of the element")

// Now asks a program what a node of the tree that was read last is now: its role, name,
// states and place, as the tree would have them. It is one round trip, for an item of a
// menu of Qt two, so that a click can ask for it. All else is as it was.
func (r *Reader) Now(ctx context.Context, n Node) (Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ref, ok := referenceOf(strings.TrimSuffix(n.Key, arrowPart))
	if !ok {
		return n, ErrUnknown
	}
	for _, a := range r.apps {
		if a.root.name == ref.name {
			return a.now(ctx, r.o, ref, n)
		}
	}
	return n, ErrUnknown
}

// now is [Reader.Now] for an object of this program.
func (a *app) now(parent context.Context, o Options, ref reference, n Node) (Node, error) {
	was, ok := a.places[n.Key]
	if !ok || was.box != n.Box || a.pending != nil {
		return n, ErrUnknown
	}
	ctx, cancel := context.WithTimeout(parent, o.AppTimeout)
	defer cancel()
	if err := a.introduce(ctx, o); err != nil {
		return n, errors.Join(ErrUnknown, parent.Err())
	}
	w := a.newWalk(o)
	is := &object{ref: ref}
	w.ask(ref, accessible, "GetState", func(body []any) {
		words, _ := first[[]uint32](body)
		is.states = newStateSet(words)
	})
	w.identify(is, func() {})
	if err := w.run(ctx); err != nil {
		a.close() // answers may be under way that nobody waits for
		return n, errors.Join(fmt.Errorf("%w: %w", ErrUnknown, err), parent.Err())
	}
	if !is.known || !is.placed || !is.states.shown(w.loose) {
		return n, ErrUnknown
	}
	if was.picture {
		is.name = ""
	}
	if strings.HasSuffix(n.Key, arrowPart) {
		is.role, is.name = roleArrow, ""
	}
	n.Role, n.Name, n.States = is.role.String(), is.name, is.states.told(is.role)
	n.Box = moved(n.Box, was.told, is.box)
	return n, nil
}

// moved returns where a box on the screen is once the object has gone from one box to
// another, both as its program tells: that may be from another corner.
func moved(box, from, to image.Rectangle) image.Rectangle {
	return image.Rectangle{Min: box.Min.Add(to.Min.Sub(from.Min)), Max: box.Max.Add(to.Max.Sub(from.Max))}
}

// A knownPlace is where an object was in a tree that was read.
type knownPlace struct {
	told    image.Rectangle // as its program told
	box     image.Rectangle // of the node: the part that can be seen, where it is on the screen
	picture bool            // its name is that of a picture: see [assembler.pictures]
}

// places returns where the objects of the nodes are, by their keys.
func (a *assembler) places() map[string]knownPlace {
	places := make(map[string]knownPlace, len(a.nodes))
	for i, n := range a.nodes {
		o := a.objects[i]
		places[n.Key] = knownPlace{told: o.box, box: n.Box, picture: a.pictures(o, n.Parent)}
	}
	return places
}
