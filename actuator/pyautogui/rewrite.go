package pyautogui

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"desktop-agent/actuator"
)

// A rewriter makes a source of Python, token by token.
type rewriter struct {
	*source
	rest  string   // what is still to be read
	at    location // where it stands
	out   strings.Builder
	end   location // where out ends
	depth int      // of open brackets
	fresh bool     // a statement begins here
	last  string   // the literal that was the last token, if it was one
	level int      // of f-strings inside f-strings
}

// rewrite returns the source of some code. inside is the literal that the code
// is part of, if any.
func rewrite(code string, inside *location, level int) (*source, error) {
	r := &rewriter{
		source: &source{literals: map[string]literal{}, words: map[string]actuator.Action{}, withs: map[location]bool{}, inside: inside},
		rest:   strings.TrimPrefix(code, "\ufeff"), at: location{1, 1}, end: location{1, 1}, fresh: true, level: level,
	}
	for r.rest != "" {
		if err := r.token(); err != nil {
			return nil, err
		}
	}
	r.text = r.out.String()
	return r.source, nil
}

// errorf reports an error at a position of what is rewritten.
func (r *rewriter) errorf(at location, format string, args ...any) error {
	if r.inside != nil {
		at = *r.inside
	}
	return at.errorf(format, args...)
}

// take reads n bytes.
func (r *rewriter) take(n int) string {
	s := r.rest[:n]
	r.rest = r.rest[n:]
	for _, c := range s {
		r.at = r.at.over(c)
	}
	return s
}

// put writes a token that stood at a position.
func (r *rewriter) put(s string, from location) {
	r.segments = append(r.segments, segment{r.end, from})
	r.out.WriteString(s)
	for _, c := range s {
		r.end = r.end.over(c)
	}
}

// token rewrites one token.
func (r *rewriter) token() error {
	c, n := utf8.DecodeRuneInString(r.rest)
	at := r.at
	switch {
	case c == '\n':
		r.put(r.take(n), at)
		if r.depth == 0 {
			r.fresh, r.last = true, ""
		}
		return nil
	case c == ' ' || c == '\t':
		r.put(r.take(n), at)
		return nil
	case c == '\u00a0' || c == '\u3000' || c == '\f': // spaces that Starlark does not know
		r.take(n)
		r.put(" ", at)
		return nil
	case c == '#':
		r.take(lineLength(r.rest))
		return nil
	case strings.HasPrefix(r.rest, "\\\n"):
		r.put(r.take(2), at)
		return nil
	case c == '"' || c == '\'':
		return r.literal("")
	case c == '_' || unicode.IsLetter(c):
		return r.word()
	case c >= '0' && c <= '9':
		r.last, r.fresh = "", false
		number := r.take(wordLength(r.rest, "."))
		r.put(strings.ReplaceAll(number, "_", ""), at)
		return nil
	}
	return r.punctuation(c, n)
}

func (r *rewriter) punctuation(c rune, n int) error {
	at := r.at
	r.last, r.fresh = "", false
	switch c {
	case '(', '[', '{':
		r.depth++
	case ')', ']', '}':
		r.depth = max(0, r.depth-1)
	case ';', ':':
		r.fresh = r.depth == 0
	case '\\':
		return r.errorf(at, "there is a backslash outside of a string; leave it out")
	case '“', '”', '‘', '’', '«', '»':
		return r.errorf(at, "%q does not begin a string; write straight quotes: \"…\"", c)
	case utf8.RuneError:
		return r.errorf(at, "there is a character that is not valid UTF-8; write it again")
	}
	if c < ' ' || c > '~' {
		return r.errorf(at, "the character %q is not part of Python; put text in quotes", c)
	}
	if len(r.rest) > 1 && slices.Contains(pairs, r.rest[:2]) {
		n = 2
	}
	r.put(r.take(n), at)
	return nil
}

// pairs are the operators of two characters: one token each, for its place.
var pairs = []string{"**", "//", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%="}

// word rewrites a keyword or a name, or the literal that the letters begin.
func (r *rewriter) word() error {
	at, fresh := r.at, r.fresh && r.depth == 0
	w := r.rest[:wordLength(r.rest, "")]
	if after := r.rest[len(w):]; len(w) <= 2 && (strings.HasPrefix(after, `"`) || strings.HasPrefix(after, "'")) &&
		strings.Trim(strings.ToLower(w), "rbuf") == "" {
		return r.literal(r.take(len(w)))
	}
	r.last, r.fresh = "", false
	if advice, ok := unsupported[w]; ok && (fresh || w != "assert") {
		return r.errorf(at, "%s", advice)
	}
	switch {
	case fresh && (w == "import" || w == "from"):
		return r.importStatement()
	case fresh && w == "with":
		r.withs[at] = true
		r.take(len(w))
		r.put("for "+reserved+"with in", at)
		return nil
	case fresh && isWords(w) && isWords(r.statement()):
		r.wordsStatement()
		return nil
	case w == "is":
		r.take(len(w))
		if rest := strings.TrimLeft(r.rest, " "); strings.HasPrefix(rest, "not ") {
			r.take(len(r.rest) - len(rest) + len("not"))
			r.put("!=", at)
			return nil
		}
		r.put("==", at)
		return nil
	case w == "load": // a keyword of Starlark alone
		r.take(len(w))
		r.put(reserved+w, at)
		return nil
	case strings.HasPrefix(w, reserved):
		return r.errorf(at, "names must not begin with %q; choose another name", reserved)
	}
	r.put(r.take(len(w)), at)
	return nil
}

// unsupported are words of Python that have no translation, with what to do.
var unsupported = map[string]string{
	"try":      "try is not supported; write the calls alone: what fails is told to you in the next turn",
	"except":   "except is not supported; write the calls alone: what fails is told to you in the next turn",
	"finally":  "finally is not supported; write the calls alone",
	"raise":    "raise is not supported; write FAIL: reason if the task cannot be done",
	"assert":   "assert is not supported; look at the next screenshot instead",
	"def":      "def is not supported; write the calls one after the other, or in a for loop",
	"class":    "class is not supported; write the calls one after the other",
	"return":   "return is not supported outside of functions; leave it out",
	"lambda":   "lambda is not supported; write the calls one after the other",
	"async":    "async is not supported; write the calls one after the other",
	"await":    "await is not supported; write the call alone",
	"yield":    "yield is not supported; write the calls one after the other",
	"global":   "global is not supported; leave it out: all names are in one place",
	"nonlocal": "nonlocal is not supported; leave it out: all names are in one place",
	"del":      "del is not supported; leave it out",
}

// statement returns what is left of the line up to a semicolon or comment.
func (r *rewriter) statement() string {
	line := r.rest[:lineLength(r.rest)]
	if !strings.Contains(line, ":") { // behind a colon stands prose
		if i := strings.IndexAny(line, ";#"); i >= 0 {
			line = line[:i]
		}
	}
	return strings.TrimSpace(line)
}

// wordsStatement rewrites DONE and its like. Text behind a colon goes on to the
// end of the code.
func (r *rewriter) wordsStatement() {
	at, text := r.at, r.statement()
	if strings.Contains(text, ":") {
		text = r.rest
	}
	r.take(len(text))
	name := fmt.Sprintf("%swords%d", reserved, len(r.words))
	r.words[name] = parseWords(text)
	r.put(name, at)
}

// importStatement checks an import and writes pass in its place.
func (r *rewriter) importStatement() error {
	at, n, open := r.at, 0, 0
	for n < len(r.rest) && (open > 0 || !strings.ContainsRune("\n;#", rune(r.rest[n]))) {
		switch r.rest[n] {
		case '(':
			open++
		case ')':
			open--
		}
		n++
	}
	words := strings.Fields(strings.NewReplacer(",", " , ", "(", " ", ")", " ", "\\", " ").Replace(r.take(n)))
	r.put("pass", at)
	var module string
	if words[0] == "from" {
		if len(words) < 4 || words[2] != "import" {
			return r.errorf(at, "this import is incomplete; leave it out: pyautogui, time, pyperclip and agent are there without it")
		}
		module, words = words[1], words[2:]
	}
	for item := range strings.SplitSeq(strings.Join(words[1:], " "), " , ") {
		f := strings.Fields(item)
		if len(f) != 1 && (len(f) != 3 || f[1] != "as") {
			return r.errorf(at, "this import is incomplete; leave it out: pyautogui, time, pyperclip and agent are there without it")
		}
		i := imported{module: module, name: f[0], as: f[len(f)-1]}
		if module == "" {
			i = imported{module: f[0], as: f[len(f)-1]}
		}
		if _, ok := modules[i.module]; !ok {
			return r.errorf(at, "%q cannot be imported: the code is read, not run, and knows only pyautogui, time, pyperclip and agent; do it with mouse and keyboard, and write numbers and text as they are", shorten(i.module))
		}
		if _, ok := modules[i.module][i.name]; !ok && i.name != "" && i.name != "*" {
			return r.errorf(at, "%s", unknownFunction(i.module, i.name))
		}
		r.imports = append(r.imports, i)
	}
	return nil
}

// lineLength is the length of s up to the next line break.
func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// wordLength is the length of the letters, digits, underscores and further
// characters that s begins with.
func wordLength(s, further string) int {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && !(c >= '0' && c <= '9') && !strings.ContainsRune(further, c) {
			return i
		}
	}
	return len(s)
}

// shorten cuts a name that the model chose, for an error.
func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
