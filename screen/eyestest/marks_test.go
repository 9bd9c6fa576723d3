//go:build linux

package eyestest

import "desktop-agent/screen"

func (d *desk) marks(name string, o *screen.Observation, list []item, r *result) {}
