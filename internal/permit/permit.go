// Package permit says who may open an input device, or have a program set what an
// element of it holds. Only package run imports it, and the device and the reader of
// elements themselves: a test of the imports (deps_test.go) lists them with their
// reasons.
package permit

// A Permit lets its holder act on a desktop. The zero value lets nobody.
type Permit struct{ granted bool }

// Grant returns a permit that is good.
func Grant() Permit { return Permit{granted: true} }

// Granted reports whether the permit is good.
func (p Permit) Granted() bool { return p.granted }
