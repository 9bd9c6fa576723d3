package planner

import (
	"regexp"
	"slices"
	"strings"
)

// imperative returns the place in a goal or condition, of which the names are taken
// out, that says how to do it ("and click it", "by pressing", "Ctrl+S"), or "". It
// looks for instructions, not for words: "Find the file type menu" names a thing,
// "Find the field and type Favorites" does not.
func imperative(text string) string {
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
		case i == 0 && clicks[verb], i == 0 && presses[verb] && isObject(next):
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

// unnamed returns a text without the names in it: what is in quotes is no
// instruction.
func unnamed(s string) string { return quoted.ReplaceAllString(s, `$1"" `) }

var (
	// quoted matches a name in quotes; an apostrophe within a word is none.
	quoted = regexp.MustCompile(`(^|[\s(])(?:"[^"]*"|'[^']*'|“[^”]*”|‘[^’]*’|«[^»]*»|„[^“”]*[“”])`)
	// shortcuts matches a key combination.
	shortcuts = regexp.MustCompile(`(?i)\b(?:ctrl|control|alt|shift|super|cmd|win|meta)(?:\s*\+\s*\S+|` +
		`-(?:[\pL\pN]|f\d{1,2}|tab|enter|return|del|delete|ins|insert|esc|escape|space|home|end|left|right|up|down|pgup|pgdn)\b)`)
	// pointing matches a click of two words.
	pointing = regexp.MustCompile(`(?i)\b(double|right|left|middle|triple)[ -]?click(\w*)`)

	clicks = wordSet("click double-click right-click left-click middle-click triple-click")
	// presses are verbs that are nouns as well.
	presses = wordSet("press type tap hit drag scroll enter")
	gerunds = wordSet(`clicking double-clicking right-clicking left-clicking middle-clicking triple-clicking
		pressing typing tapping hitting dragging scrolling entering`)

	joins = wordSet("and then or & +")
	means = wordSet("by via through with while")
	// things are what a type, a press, a hit or a scroll may stand before as a noun.
	things = wordSet(`and or of in is are to for field fields column columns menu menus setting settings option
		options list lists box boxes entry entries area areas bar bars button buttons key keys line lines name names
		number numbers page pages panel panels selector tab tabs value values width size sizes format formats
		release releases counter rate speed target targets marker`)
)

// isObject reports whether a word, after a verb that is a noun as well, is what is
// to be pressed or typed.
func isObject(word string) bool {
	word = strings.ToLower(strings.Trim(word, ".,;:!()"))
	return word != "" && !things[word]
}

// endsClause reports whether an instruction may begin after a word.
func endsClause(word string) bool {
	return word != "" && slices.Contains([]byte(".,;:!)"), word[len(word)-1]) || word == "–" || word == "—" || word == "-"
}
