package engine

import (
	"regexp"
	"strings"
	"time"

	"desktop-agent/planner"
	"desktop-agent/screen"
)

// Known is how well it is known that a step which is not on the screen is done, and by
// what. Code can look for one thing: texts that the condition of the step quotes, in what a
// tool answered ([screen.HoldsText]). If all of them are there it is proved; all else is
// claimed, and never turned into its opposite. What a model wrote proves nothing of itself.
func Known(s *planner.Step, output string, at time.Time) *planner.Evidence {
	e := &planner.Evidence{At: at, Grade: planner.Claimed}
	if s.Executor != planner.Tool || negated.MatchString(s.DoneWhen) {
		return e
	}
	var quotes []string
	for _, m := range quoted.FindAllStringSubmatch(s.DoneWhen, -1) {
		text := m[1] + m[2] + m[3]
		if !screen.HoldsText(output, text) {
			return e
		}
		quotes = append(quotes, text)
	}
	if len(quotes) > 0 {
		e.Grade, e.Source, e.Quote = planner.Proved, planner.SourceResult, strings.Join(quotes, "; ")
	}
	return e
}

var (
	quoted = regexp.MustCompile("\"([^\"]+)\"|“([^”]+)”|`([^`]+)`")
	// negated is a condition that may want the opposite of what it quotes.
	negated = regexp.MustCompile(`(?i)\b(no|not|none|never|nothing|without|neither|nor|cannot|gone|unless|instead|other than)\b|n['’]t\b`)
)
