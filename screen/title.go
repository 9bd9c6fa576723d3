package screen

import "strings"

// What programs put before and behind a title while what is open in the window has
// changes that are not saved.
var (
	marksBefore = []string{"*", "●", "•"}
	marksBehind = []string{"*", "●", "•", " (modified)", " [modified]", "[+]"}
)

// Unmarked returns the title of a window without its mark of unsaved changes, and whether
// there is one.
func Unmarked(title string) (name string, marked bool) {
	title = strings.TrimSpace(title)
	for _, mark := range marksBefore {
		if rest, ok := strings.CutPrefix(title, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	for _, mark := range marksBehind {
		if rest, ok := strings.CutSuffix(title, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return title, false
}
