package monitor

import (
	"image"
	"slices"
	"strconv"

	"desktop-agent/screen"
)

// Screens names pictures of the screen: those that are the same, by
// [screen.SamePicture], get the same name. It remembers the last few screens; one
// that comes back later has a new name. The zero value is ready to use, by one
// goroutine.
type Screens struct {
	// Window is in how many turns detectors look for the same screen, see [Limits]: so
	// many screens are told apart, and never fewer than eight.
	Window int

	seen  []named // least recently seen first
	count int
}

// A named screen is kept as the newest picture of it.
type named struct {
	name    string
	picture screen.Digest
}

// Name returns the name of a picture of the whole screen, taken without the
// pointer; "" of nil.
func (s *Screens) Name(frame *image.RGBA) string {
	if frame == nil {
		return ""
	}
	now := named{picture: s.digest(frame)}
	for i, old := range slices.Backward(s.seen) {
		if old.picture.Same(now.picture) {
			now.name = old.name
			s.seen = append(slices.Delete(s.seen, i, i+1), now)
			return now.name
		}
	}
	s.count++
	now.name = strconv.Itoa(s.count)
	s.keep(now)
	return now.name
}

// Recall keeps in mind a picture that had a name already, in an earlier program.
func (s *Screens) Recall(frame *image.RGBA, name string) {
	if n, err := strconv.Atoi(name); err == nil {
		s.count = max(s.count, n)
	}
	if frame == nil || len(frame.Pix) == 0 { // nobody knows what it looked like
		return
	}
	s.seen = slices.DeleteFunc(s.seen, func(old named) bool { return old.name == name })
	s.keep(named{name, s.digest(frame)})
}

func (s *Screens) digest(frame *image.RGBA) screen.Digest {
	var newest screen.Digest
	if n := len(s.seen); n > 0 {
		newest = s.seen[n-1].picture
	}
	return screen.NewDigest(frame, newest)
}

func (s *Screens) keep(now named) {
	if len(s.seen) == max(s.Window, DefaultLimits.Window) {
		s.seen = slices.Delete(s.seen, 0, 1)
	}
	s.seen = append(s.seen, now)
}
