//go:build unix && !linux && !darwin

package screen

import "time"

// A load measures how much the processes behind the windows work. This system
// does not tell.
type load struct{}

func (*load) begin(bool)                    {}
func (*load) stir(bool)                     {}
func (*load) since() time.Time              { return time.Time{} }
func (*load) end()                          {}
func (*load) follow([]int)                  {}
func (*load) working() (awake, worked bool) { return false, false }
func (*load) answered()                     {}
func (*load) ready() bool                   { return false }
func (*load) idled() bool                   { return false }
func (*load) pages() bool                   { return false }

func (*load) timer() time.Duration { return 0 }
func (*load) armed() bool          { return false }
func (*load) anew()                {}
func (*load) giveUp()              {}
func (*load) forget()              {}
func (*load) learn(_, _ bool)      {}
func (*load) vain() bool           { return true }

const shortTimer, timerPatience, fruitPatience = time.Duration(0), time.Duration(0), time.Duration(0)
