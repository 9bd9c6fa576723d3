package dialect

import (
	"errors"
	"regexp"
	"strings"
)

// thoughtTag opens or closes a thought, in the spellings of all families.
var thoughtTag = regexp.MustCompile(`</?(?:gui_)?think(?:ing)?(?:_never_used_[0-9a-f]{1,64})?>`)

// CutThought returns what stands in the tags of a thought, and what comes after the
// last of them. A server may have taken out the tag that opens it, never the one that
// closes it alone: so a thought that is open at the end was cut off, or has run on into
// what looks like an action.
func CutThought(text string) (thought, rest string, err error) {
	last := lastTag(text)
	if last == nil {
		return "", text, nil
	}
	if text[last[0]+1] != '/' {
		return "", "", errors.New("the thought is not closed, so the reply may be cut off and nothing of it was done; think shorter, close the thought, and write the action after it")
	}
	return strings.TrimSpace(thoughtTag.ReplaceAllString(text[:last[1]], "")), text[last[1]:], nil
}

// lastTag returns where the last tag of a thought begins and ends, nil if there is none. It
// looks from the end, as a reply may consist of nothing else.
func lastTag(text string) []int {
	const longest = 100 // bytes of a tag
	for i := strings.LastIndexByte(text, '<'); i >= 0; i = strings.LastIndexByte(text[:i], '<') {
		tag := text[i:min(len(text), i+longest)]
		if word := strings.TrimPrefix(strings.TrimPrefix(tag[1:], "/"), "gui_"); !strings.HasPrefix(word, "think") {
			continue
		}
		if at := thoughtTag.FindStringIndex(tag); at != nil && at[0] == 0 {
			return []int{i, i + at[1]}
		}
	}
	return nil
}
