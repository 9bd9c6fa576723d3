package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// untag takes the bracket from whatever a reader could take for the tag of an untrusted
// block or for a mark of a chat template. Only that one character changes.
func untag(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var b strings.Builder
	done := 0
	for i, r := range text {
		if r < utf8.RuneSelf && r != '<' && r != '[' {
			continue // which is most of what screens show
		}
		end := i + utf8.RuneLen(r)
		bracket := ""
		switch {
		case strings.ContainsRune(openers, r) && posesAsTag(text[end:]):
			bracket = "["
		case strings.ContainsRune(squares, r) && posesAsInstruction(text[end:]):
			bracket = "("
		default:
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(bracket)
		done = end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

const (
	// openers are the characters that could begin a tag.
	openers = "<‹〈⟨﹤＜«《˂ᐸ❮"
	// squares could begin a mark such as [INST].
	squares = "[［【"
)

// posing are what follows the bracket of a tag, once it is read as [plainStart] does: our
// own tag, and the marks of chat templates (<|im_end|>, <|start_header_id|>, <<SYS>>, </s>,
// <start_of_turn>, <tool_call>, <think> and their likes).
var posing = []string{"untrusted", "|", "<sys>", "/s>", "startofturn", "endofturn", "toolcall", "toolresponse", "think>", "beginoftext", "endoftext"}

// posesAsTag reports whether what follows an opener makes a tag of it.
func posesAsTag(rest string) bool {
	start := plainStart(rest, 24)
	bare := strings.TrimLeft(start, "/\\")
	for _, p := range posing {
		if strings.HasPrefix(start, p) || strings.HasPrefix(bare, p) {
			return true
		}
	}
	return false
}

// posesAsInstruction reports whether what follows a square bracket makes a mark of it.
func posesAsInstruction(rest string) bool {
	start := strings.TrimLeft(plainStart(rest, 16), "/")
	for _, p := range []string{"inst]", "inst}", "systemprompt]", "availabletools]", "toolcalls]", "toolresults]"} {
		if strings.HasPrefix(start, p) {
			return true
		}
	}
	return false
}

// plainStart returns how a text begins for a reader who sees neither spaces nor what is
// invisible, and takes letters for those that they look like: n characters of it. Its
// compatible forms are those of Unicode (NFKD), without marks on letters.
func plainStart(text string, n int) string {
	var b strings.Builder
	count := 0
	for i, r := range text {
		if count >= n || i > 40*n { // what is longer hides in no tag
			break
		}
		if invisible(r) {
			continue
		}
		for _, c := range norm.NFKD.String(string(r)) {
			if invisible(c) || c == '_' || c == '-' {
				continue
			}
			c = unicode.ToLower(c)
			if like, ok := lookAlikes[c]; ok {
				c = like
			}
			b.WriteRune(c)
			count++
		}
	}
	return b.String()
}

// invisible reports whether a character shows nothing of its own: a space, a control or
// format character, a mark on another letter, a variation selector, a filler.
func invisible(r rune) bool {
	switch r {
	case '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800':
		return true
	}
	return unicode.IsSpace(r) || unicode.IsControl(r) ||
		unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// lookAlikes are letters of other scripts that look like those of a tag.
var lookAlikes = map[rune]rune{
	'т': 't', 'е': 'e', 'ѕ': 's', 'ԁ': 'd', 'г': 'r', 'п': 'n', 'и': 'u', 'υ': 'u', 'τ': 't', 'ε': 'e', 'ո': 'n', 'ս': 'u', 'ⅾ': 'd',
	'і': 'i', 'ο': 'o', 'о': 'o', 'с': 'c', 'р': 'p', 'а': 'a', 'ѵ': 'v', 'ғ': 'f',
	'⁄': '/', '∕': '/', '⧸': '/', '│': '|', '¦': '|', 'ǀ': '|', '∣': '|', '❘': '|',
	'‹': '<', '›': '>', '〈': '<', '〉': '>', '⟨': '<', '⟩': '>', '】': ']',
}
