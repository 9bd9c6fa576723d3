package document

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// textDifference describes where two texts differ, "" if they do not.
func textDifference(got, want string) string {
	if got == want {
		return ""
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	for at > 0 && (at < len(got) && !utf8.RuneStart(got[at]) || at < len(want) && !utf8.RuneStart(want[at])) {
		at--
	}
	return fmt.Sprintf("from character %d on it is %s, not %s",
		utf8.RuneCountInString(got[:at])+1, quote(got[at:]), quote(want[at:]))
}

// listDifference describes the first difference of two lists.
func listDifference(what string, got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%s %d: %s", what, i+1, textDifference(got[i], want[i]))
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("there are %d %ss, not %d", len(got), what, len(want))
	}
	return ""
}

// bagDifference describes the first difference of two sorted lists.
func bagDifference(what string, got, want []string) string {
	i, j := 0, 0
	for i < len(got) || j < len(want) {
		switch {
		case j == len(want) || i < len(got) && got[i] < want[j]:
			return fmt.Sprintf("a %s is there that should not be: %s", what, quote(got[i]))
		case i == len(got) || want[j] < got[i]:
			return fmt.Sprintf("a %s lacks: %s", what, quote(want[j]))
		}
		i++
		j++
	}
	return ""
}

// quote shows the beginning of a text.
func quote(s string) string {
	const most = 60
	short := s
	if n := utf8.RuneCountInString(s); n > most {
		short = string([]rune(s[:min(len(s), 4*most)])[:most-1]) + "…"
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(short, "\ufffd"))
}
