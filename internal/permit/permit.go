// Package permit says who may open an input device. Only package run imports it,
// and the device itself: a test of the imports (deps_test.go) lists them with
// their reasons.
package permit

// A Permit lets its holder open an input device. The zero value lets nobody.
type Permit struct{ granted bool }

// Grant returns a permit that is good.
func Grant() Permit { return Permit{granted: true} }

// Granted reports whether the permit is good.
func (p Permit) Granted() bool { return p.granted }
