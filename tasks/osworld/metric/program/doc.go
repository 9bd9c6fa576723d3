// Package program has the metrics about the state of programs: what a browser
// has open and keeps, the settings of Thunderbird, VLC, GIMP and LibreOffice, and
// what the accessibility tree of the desktop shows. Their names, rules and
// options are OSWorld's.
//
// A metric of this package takes what the getter of the same subject returns,
// and, nearly always, a rule: an object that says what is expected. Each metric
// says in its comment what it takes. It keeps to the contract of [tasks.Metric]:
// a result that is missing, damaged or of the wrong type scores 0 and says why; a
// rule that is missing or wrong is an error.
//
// Where the reference judges wrongly, these metrics judge rightly; [Metrics] repeats
// the given ones of [Defects], for comparing scores. The comment of a metric
// names the difference.
package program
