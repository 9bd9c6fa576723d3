package runtest

import (
	"time"

	"desktop-agent/run"
	"desktop-agent/screen"
	"desktop-agent/screen/atspi"
)

// Settle waits for a screen that a busy machine keeps from being still. A person would
// not wait so long, and a run need not: it looks again. A test of what else comes of a
// step must not.
var Settle = screen.SettleOptions{Ceiling: 20 * time.Second}

// Tree reads the trees of programs of a desktop that a busy machine keeps from answering: only
// what hangs for good is left out.
func Tree(d interface {
	Display() string
	BusAddress() string
}) *atspi.Options {
	return &atspi.Options{BusAddress: d.BusAddress(), Server: screen.ServerOf(d.Display()), Silence: treeSilence, AppTimeout: treeLimit}
}

const treeSilence, treeLimit = 5 * time.Second, time.Minute

// Private are the settings of a private desktop, without OCR, that is looked at in the
// same way.
func Private() run.DisplaySettings {
	d := run.Defaults().Display
	d.Private, d.OCR = true, ""
	d.Ceiling, d.TreeSilence, d.TreeLimit = Settle.Ceiling, treeSilence, treeLimit
	return d
}
