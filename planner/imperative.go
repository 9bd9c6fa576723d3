package planner

import (
	"regexp"
	"slices"
	"strings"
)

// imperative returns the place in a goal that says how to do it ("and click
// it", "by pressing", "Ctrl+S"), or "". It looks for instructions, not for
// words: "Find the file type menu" and `Locate the button "Click here"` name
// things. Where both can be meant it lets the goal pass, for a wrong refusal
// costs a model call, and the plan is only advice.
func imperative(goal string) string {
	text := quoted.ReplaceAllString(goal, `$1"" `)
	if shortcut := shortcuts.FindString(text); shortcut != "" {
		return shortcut
	}
	words := strings.Fields(pointing.ReplaceAllString(text, "$1-click$2"))
	for i, w := range words {
		verb, next := strings.ToLower(strings.Trim(w, ".,;:!()–—")), ""
		if i+1 < len(words) && verb != "" && !endsClause(w) {
			next = words[i+1]
		}
		place := strings.TrimSpace(verb + " " + next)
		previous := ""
		if i > 0 {
			previous = strings.ToLower(strings.Trim(words[i-1], "()"))
		}
		switch {
		case i == 0 && (clicks[verb] || presses[verb]):
			return place
		case clicks[verb] && (joins[previous] || previous == "to" || endsClause(previous)):
			return place
		case presses[verb] && (joins[previous] || endsClause(previous)) && isObject(next):
			return place
		case gerunds[verb] && means[previous]:
			return previous + " " + verb
		}
	}
	return ""
}

var (
	// quoted matches a name in quotes; an apostrophe within a word is none.
	quoted = regexp.MustCompile(`(^|[\s(])(?:"[^"]*"|'[^']*'|“[^”]*”|‘[^’]*’|«[^»]*»|„[^“”]*[“”])`)
	// shortcuts matches a key combination.
	shortcuts = regexp.MustCompile(`(?i)\b(?:ctrl|control|alt|shift|super|cmd|win|meta)\s*\+\s*\S+`)
	// pointing matches a click of two words.
	pointing = regexp.MustCompile(`(?i)\b(double|right|left|middle|triple)[ -]?click(\w*)`)

	clicks = wordSet("click double-click right-click left-click middle-click triple-click")
	// presses are verbs that are nouns as well.
	presses = wordSet("press type tap hit drag scroll enter")
	gerunds = wordSet(`clicking double-clicking right-clicking left-clicking middle-clicking triple-clicking
		pressing typing tapping hitting dragging scrolling entering`)

	joins   = wordSet("and then or & +")
	means   = wordSet("by via through with while")
	objects = wordSet(`"" the a an this that these those it them your down up
		return tab escape esc space backspace delete`)
)

// isObject reports whether a word can only be the object of the verb before it.
func isObject(word string) bool {
	return objects[strings.ToLower(strings.Trim(word, ".,;:!()"))] || word == "Enter"
}

// endsClause reports whether an instruction may begin after a word.
func endsClause(word string) bool {
	return word != "" && slices.Contains([]byte(".,;:!)"), word[len(word)-1]) || word == "–" || word == "—" || word == "-"
}
