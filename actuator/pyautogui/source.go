package pyautogui

import (
	"cmp"
	"fmt"
	"slices"

	"desktop-agent/actuator"

	"go.starlark.net/syntax"
)

// A location is where something stands in the code as the model wrote it, both from 1.
type location struct{ line, column int32 }

func (p location) errorf(format string, args ...any) error {
	return &actuator.ParseError{Line: int(p.line), Column: int(p.column), Message: fmt.Sprintf(format, args...)}
}

func (p location) compare(q location) int {
	return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
}

// over returns the position behind a character.
func (p location) over(r rune) location {
	if r == '\n' {
		return location{p.line + 1, 1}
	}
	return location{p.line, p.column + 1}
}

// reserved begins the names that the rewriter puts into the code.
const reserved = "__agent_"

// A source is Python rewritten into what Starlark's grammar can express. It
// differs from the original in little: each string literal becomes a name,
// since the languages disagree on literals; an import becomes pass; a with
// statement becomes a for statement; is becomes ==.
type source struct {
	text     string
	literals map[string]literal         // by the name that stands for them
	words    map[string]actuator.Action // DONE and its like, by the name that stands for them
	imports  []imported                 // in order
	withs    map[location]bool          // the for statements that are with statements
	segments []segment                  // in order
	inside   *location                  // of an expression inside a literal: the literal
}

// imported is what an import statement binds.
type imported struct {
	module string
	name   string // a function of the module; "*" for all of them, "" for the module itself
	as     string
}

// A literal is a string literal, or several side by side: constant text and,
// in an f-string, expressions.
type literal []part

// A part is text or, if expr is set, the value of an expression.
type part struct {
	text string
	expr syntax.Expr
	src  *source // of expr
	repr bool    // !r
	spec literal // what follows the colon
}

// A segment says where a piece of the rewritten text stood in the original.
type segment struct{ to, from location }

// original returns where in the original a position of the rewritten text was.
func (s *source) original(p syntax.Position) location {
	if s.inside != nil {
		return *s.inside
	}
	at := location{p.Line, p.Col}
	i, found := slices.BinarySearchFunc(s.segments, at, func(g segment, p location) int { return g.to.compare(p) })
	if !found {
		i--
	}
	if i < 0 {
		return at
	}
	g := s.segments[i]
	if g.to.line != at.line {
		return g.from
	}
	return location{g.from.line, g.from.column + at.column - g.to.column}
}

// before returns where the token stood that ends at a position of the
// rewritten text.
func (s *source) before(p syntax.Position) location {
	if s.inside != nil {
		return *s.inside
	}
	i, _ := slices.BinarySearchFunc(s.segments, location{p.Line, p.Col}, func(g segment, p location) int { return g.to.compare(p) })
	if i == 0 {
		return location{1, 1}
	}
	return s.segments[i-1].from
}
