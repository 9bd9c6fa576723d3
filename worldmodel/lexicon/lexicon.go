// Package lexicon knows what the words on a desktop mean: labels of what can be operated, what
// dialogs say, and kinds of programs. All it knows is in lexicon.toml, in the languages
// that are named there.
//
// A label that it does not know is not harmless for that reason.
package lexicon

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"desktop-agent/worldmodel"
)

//go:embed lexicon.toml
var file string

// phrases is how some phrases are looked for in a label.
type phrases struct {
	Whole []string // they are the whole label
	Begin []string // it begins with one, as whole words
	Any   []string // one stands anywhere in it, as whole words
}

func (p phrases) in(label string) bool {
	return slices.Contains(p.Whole, label) || begins(label, p.Begin) || holds(label, p.Any)
}

// A Meaning is what comes of operating what has a label.
type Meaning struct {
	Effect worldmodel.Effect
	Soft   bool // in the text of a document, an edit that can be undone
}

// words is lexicon.toml.
var words = func() (t struct {
	Programs map[Program][]string
	Label    []struct {
		Meaning
		phrases
	}
	Harmless phrases
	Confirm  struct{ Whole, Question []string }
	Save     struct {
		phrases
		Agree []string
	}
	Settle phrases
	Edit   phrases
	Dialog map[worldmodel.Effect][]string
	Trash  phrases
	Keys   struct{ Save, Paste, Edit []Chord }
}) {
	d := toml.NewDecoder(strings.NewReader(file)).DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		panic("lexicon.toml: " + err.Error()) // it is part of the program
	}
	return t
}()

// A Program is what kind of program a window is of.
type Program string

// The kinds of programs that are told apart.
const (
	Terminal Program = "terminal"
	Files    Program = "files"
	Mail     Program = "mail"
	Chat     Program = "chat"
	Browser  Program = "browser"
	Document Program = "document"
	Another  Program = "another"
)

// ProgramOf returns the kind of program by the class of its windows.
func ProgramOf(class string) Program {
	class = strings.ToLower(class)
	for kind, list := range words.Programs {
		if slices.Contains(list, class) {
			return kind
		}
	}
	return Another
}

// A Label is the name of what can be operated, as the lexicon has it: small letters, one
// space between words, no mark of a shortcut and no dots at the end.
type Label string

// LabelOf returns the label that a name is.
func LabelOf(name string) Label {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	name = strings.Join(strings.Fields(name), " ")
	return Label(strings.TrimRight(name, ".…:! "))
}

// Means returns what comes of operating it; ok is false if that is not known.
func (l Label) Means() (m Meaning, ok bool) {
	for _, row := range words.Label {
		if row.in(string(l)) {
			return row.Meaning, true
		}
	}
	return Meaning{}, false
}

// Misleads reports whether it holds a word that means something else in it, and is
// harmless: "Send to Back".
func (l Label) Misleads() bool { return begins(string(l), words.Harmless.Begin) }

// Harmless reports whether nothing comes of it but that something closes, opens or is shown.
func (l Label) Harmless() bool { return slices.Contains(words.Harmless.Whole, string(l)) }

// Confirms reports whether it means what its dialog says.
func (l Label) Confirms() bool { return slices.Contains(words.Confirm.Whole, string(l)) }

// Answers reports whether it confirms by answering a question.
func (l Label) Answers() bool { return slices.Contains(words.Confirm.Question, string(l)) }

// Saves reports whether it saves by what it is called in a dialog or a menu, and by no more.
func (l Label) Saves() bool { return slices.Contains(words.Save.Whole, string(l)) }

// Saving reports whether it saves, also with more words, and as the answer to in which format
// or over which file.
func (l Label) Saving() bool { return words.Save.in(string(l)) }

// A Chord is keys that are down together, as [actuator.Chord] writes them. What one does in
// most programs it does not in a terminal.
type Chord string

// Saves reports whether it saves what is open.
func (c Chord) Saves() bool { return slices.Contains(words.Keys.Save, c) }

// Pastes reports whether it enters what is in the clipboard.
func (c Chord) Pastes() bool { return slices.Contains(words.Keys.Paste, c) }

// Edits reports whether it changes a document: it pastes, cuts, undoes or does again.
func (c Chord) Edits() bool { return c.Pastes() || slices.Contains(words.Keys.Edit, c) }

// Agrees reports whether a dialog that saves goes on by it.
func (l Label) Agrees() bool { return slices.Contains(words.Save.Agree, string(l)) }

// Sending reports whether it sends something off, or settles it outside of this computer. What
// is [Label.Editing] is not asked for it: words for parting and for sharing are the same.
func (l Label) Sending() bool {
	if l.Misleads() || l.Harmless() {
		return false
	}
	m, _ := l.Means()
	return m.Effect == worldmodel.EffectSend || words.Settle.in(string(l))
}

// Editing reports whether it changes a document.
func (l Label) Editing() bool { return words.Edit.in(string(l)) }

// Trash reports whether it is what a trash is called.
func (l Label) Trash() bool { return words.Trash.in(string(l)) }

// Legible reports whether it is written in letters that the lexicon has words of.
func (l Label) Legible() bool {
	letters := false
	for _, r := range l {
		if unicode.IsLetter(r) {
			if !unicode.Is(unicode.Latin, r) {
				return false
			}
			letters = true
		}
	}
	return letters
}

// Asks reports whether dots at the end of a name say that a dialog follows.
func Asks(name string) bool {
	name = strings.TrimSpace(name)
	return strings.HasSuffix(name, "…") || strings.HasSuffix(name, "...")
}

// Said returns the side effect that the text of a dialog speaks of, the worst of them; "" for none.
func Said(text string) worldmodel.Effect {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for _, e := range worldmodel.SideEffects() {
		if holds(text, words.Dialog[e]) {
			return e
		}
	}
	return ""
}

// begins reports whether a text begins with one of some phrases, as whole words.
func begins(text string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		rest, ok := strings.CutPrefix(text, p)
		return ok && (rest == "" || !wordRune([]rune(rest)[0]))
	})
}

// holds reports whether one of some phrases stands in a text as whole words. This is no
// rule for any text, as screen.WordsAt is: the phrases are Latin, and where a letter of
// another script touches one, the text is in words that the lexicon does not have.
func holds(text string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool {
		for from := 0; ; {
			i := strings.Index(text[from:], p)
			if i < 0 {
				return false
			}
			at, end := from+i, from+i+len(p)
			before, after := []rune(text[:at]), []rune(text[end:])
			if (len(before) == 0 || !wordRune(before[len(before)-1])) && (len(after) == 0 || !wordRune(after[0])) {
				return true
			}
			from = end
		}
	})
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
