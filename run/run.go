// Package run is what a run is: its events and their recorder, the hand that acts,
// the session that opens and closes everything, and the settings.
package run

// Schema is the version of the events that this package writes.
const Schema = 2
