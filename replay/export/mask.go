package export

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"desktop-agent/screen"
)

// hidden stands where a text was. Its length tells nothing.
const hidden = "•••"

// Texts shorter than least are masked where they stand as a word; of longer
// ones each piece of so many characters is masked too, as programs cut and wrap
// what they show.
const (
	least = 3
	piece = 16
)

// A masker hides texts. Upper and lower case are the same to it, and so are all
// kinds of space.
type masker struct {
	red      Redaction
	patterns []*regexp.Regexp
	needles  map[[least]rune][][]rune // by how they begin
	short    map[[2]rune]bool         // one or two characters
	pieces   map[[piece]rune]bool
	known    map[string]bool // texts that were added already
	frames   map[string]string
}

func newMasker(red Redaction) *masker {
	m := &masker{
		red: red, patterns: red.Patterns, needles: map[[least]rune][][]rune{}, short: map[[2]rune]bool{},
		pieces: map[[piece]rune]bool{}, known: map[string]bool{}, frames: map[string]string{},
	}
	for _, s := range red.Secrets {
		m.add(s)
	}
	return m
}

// fold makes texts equal that are the same to a masker, rune by rune.
func fold(s string) []rune {
	list := []rune(s)
	for i, r := range list {
		switch {
		case 'a' <= r && r <= 'z':
		case unicode.IsSpace(r):
			list[i] = ' '
		default:
			list[i] = unicode.ToLower(unicode.ToUpper(r))
		}
	}
	return list
}

// add takes a text to hide, its lines, and the forms in which programs and
// models write them.
func (m *masker) add(text string) {
	if m.known[text] {
		return
	}
	m.known[text] = true
	m.addForms(text)
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }) {
		m.addForms(line)
	}
}

func (m *masker) addForms(text string) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "•") == "" {
		return // nothing, or what a mask looks like
	}
	asJSON, _ := json.Marshal(text) // a string never fails
	quotes := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, `'`, `\'`)
	for _, form := range []string{
		text, strings.Join(strings.Fields(text), " "), string(asJSON), fmt.Sprintf("%q", text), fmt.Sprintf("%+q", text),
		quotes.Replace(text), html.EscapeString(text), url.QueryEscape(text), url.PathEscape(text),
	} {
		if form != text {
			form = strings.TrimSuffix(strings.TrimPrefix(form, `"`), `"`)
		}
		m.addNeedle(form)
	}
}

func (m *masker) addNeedle(form string) {
	folded := fold(strings.TrimSpace(form))
	if len(folded) < least {
		if len(folded) > 0 {
			m.short[[2]rune(append(folded, 0, 0))] = true
		}
		return
	}
	key := [least]rune(folded)
	for _, there := range m.needles[key] {
		if slices.Equal(there, folded) {
			return
		}
	}
	m.needles[key] = append(m.needles[key], folded)
	for i := range max(0, len(folded)-piece+1) {
		m.pieces[[piece]rune(folded[i:])] = true
	}
}

// find marks the runes of a text that are to be hidden; nil if there is none.
func (m *masker) find(s string) []bool {
	folded := fold(s)
	var marks []bool
	mark := func(from, to int) {
		if marks == nil {
			marks = make([]bool, len(folded))
		}
		for i := from; i < to; i++ {
			marks[i] = true
		}
	}
	for i := range folded {
		for n := 1; len(m.short) > 0 && n < least && i+n <= len(folded); n++ {
			key := [2]rune{}
			copy(key[:], folded[i:i+n])
			if m.short[key] && alone(folded, i, i+n) {
				mark(i, i+n)
			}
		}
		if i+least > len(folded) {
			continue
		}
		for _, needle := range m.needles[[least]rune(folded[i:])] {
			if hasPrefix(folded[i:], needle) {
				mark(i, i+len(needle))
			}
		}
		if len(m.pieces) > 0 && i+piece <= len(folded) && m.pieces[[piece]rune(folded[i:])] {
			mark(i, i+piece)
		}
	}
	for _, p := range m.patterns {
		for _, at := range p.FindAllStringIndex(s, -1) {
			from := utf8.RuneCountInString(s[:at[0]])
			if n := utf8.RuneCountInString(s[at[0]:at[1]]); n > 0 {
				mark(from, from+n)
			}
		}
	}
	return marks
}

func hasPrefix(s, prefix []rune) bool {
	return len(s) >= len(prefix) && slices.Equal(s[:len(prefix)], prefix)
}

// alone reports whether a part of a text may be words of its own. A mark on a letter leaves
// them alone: rather too much is hidden.
func alone(s []rune, from, to int) bool {
	goesOn := func(i int) bool { // the word of the rune before
		return i > 0 && i < len(s) && screen.SameWord(s[i-1], s[i]) && !unicode.IsMark(s[i-1]) && !unicode.IsMark(s[i])
	}
	return !goesOn(from) && !goesOn(to)
}

// mask returns a text without what is to be hidden. If that is still in it in
// some other writing, nothing of the text is left.
func (m *masker) mask(s string) string {
	if s == "" {
		return s
	}
	for range 4 { // what is left may, with the mask, look like a text to hide
		marks := m.find(s)
		if marks == nil {
			break
		}
		s = strike(s, marks)
	}
	if m.shows(s) {
		return hidden
	}
	return s
}

// strike puts the mask where runes are marked.
func strike(s string, marks []bool) string {
	var b strings.Builder
	for i, r := range []rune(s) {
		switch {
		case !marks[i]:
			b.WriteRune(r)
		case i == 0 || !marks[i-1]:
			b.WriteString(hidden)
		}
	}
	return b.String()
}

// shows reports whether a text has something to hide in it, however written.
func (m *masker) shows(s string) bool {
	if s == hidden {
		return false
	}
	for _, form := range writings(s) {
		if m.find(form) != nil {
			return true
		}
	}
	return false
}

// writings returns a text as it is and as it reads once escapes are undone.
func writings(s string) []string {
	list := []string{s}
	add := func(form string) {
		if form != list[len(list)-1] && form != s {
			list = append(list, form)
		}
	}
	add(strings.Join(strings.Fields(s), " "))
	plain := s
	for range 3 { // JSON within JSON within a journal
		if !strings.Contains(plain, `\`) {
			break
		}
		plain = unescape(plain)
		add(plain)
	}
	if strings.Contains(s, "&") {
		add(html.UnescapeString(s))
	}
	if strings.Contains(s, "%") {
		add(percent(s))
	}
	return list
}

var percents = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)

// percent undoes the escapes of addresses, and leaves what is none.
func percent(s string) string {
	return percents.ReplaceAllStringFunc(strings.ReplaceAll(s, "+", " "), func(part string) string {
		plain, err := url.PathUnescape(part)
		if err != nil {
			return part
		}
		return plain
	})
}

var escapes = regexp.MustCompile(`(?s)\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\}|[0-7]{1,3}|.)`)

// unescape undoes the escapes of JSON, Go and Python, and leaves what is none.
func unescape(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		named := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", 'a': "\a", '\n': ""}
		switch c := e[1]; {
		case len(e) == 2 && (c < '0' || c > '7'):
			if plain, ok := named[c]; ok {
				return plain
			}
			return e[1:]
		case c == 'u' && len(e) == 12: // a pair
			var plain string
			if json.Unmarshal([]byte(`"`+e+`"`), &plain) == nil {
				return plain
			}
		case c == 'u' || c == 'U' || c == 'x':
			return character(strings.Trim(e[2:], "{}"), 16)
		case c >= '0' && c <= '7':
			return character(e[1:], 8)
		}
		return e[1:]
	})
}
