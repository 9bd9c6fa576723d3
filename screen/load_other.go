//go:build unix && !linux && !darwin

package screen

import "time"

// A load measures how much the processes behind the windows work. This system
// does not tell.
type load struct{}

func (*load) begin()        {}
func (*load) end()          {}
func (*load) follow([]int)  {}
func (*load) working() bool { return false }
func (*load) ready() bool   { return false }

func (*load) timer() time.Duration { return 0 }
func (*load) tick()                {}

const timerPatience = 0
