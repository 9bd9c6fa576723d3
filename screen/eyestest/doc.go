// Package eyestest holds the standing test of the eyes: whether what
// [desktop-agent/screen.Observation.Text] tells a model is true.
//
// Real programs are brought into states that a person meets (an open menu, a list
// that is scrolled, a dialog over a field …), and for each state three questions are
// answered by others than the code that is judged:
//
//   - Forward: does the pointer, sent to the place of each element, reach it? In GTK 3
//     programs a module asks GTK what an event there is delivered to
//     (testdata/gtkeye.c); a page of our own tells the target of the DOM's events; of
//     other programs the accessibility bus is asked, by a client of its own.
//   - Text: is what the list says to be there in the picture? An OCR program reads it.
//   - Reverse: is what a person sees in the list? The files testdata/marks/*.txt say
//     what a person marked in the picture.
//
// The answers are a table, testdata/eyes.json, with the bytes of each list.
package eyestest
