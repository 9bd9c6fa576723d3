package screen

import (
	"fmt"
	"strings"
)

// Limits of a list of changes.
const (
	maxChanges = 6000 // bytes, but for windows and menus
	maxTold    = 3    // elements to which the same happened that are told one by one
	maxNames   = 240  // bytes of the names that one line tells
	maxKept    = 120  // characters of a text that are told whole on either side of a change
	editReach  = 30   // characters before what changed in a longer one
)

// crowds puts the elements of one kind together to which the same happened.
func crowds(list []Difference) []Difference {
	type key struct {
		weight Weight
		kind   DifferenceKind
		role   string
		to     string
	}
	of := func(c Difference) (key, bool) {
		if c.Weight < OfElement || c.Count > 0 || strings.HasPrefix(c.To, "has the focus") {
			return key{}, false
		}
		role, _, _ := strings.Cut(c.What, ` "`)
		if strings.HasPrefix(role, "cell ") {
			role = "cell"
		}
		return key{c.Weight, c.Kind, role, c.To}, true
	}
	groups := map[key][]Difference{}
	for _, c := range list {
		if k, ok := of(c); ok {
			groups[k] = append(groups[k], c)
		}
	}
	var out []Difference
	for _, c := range list {
		k, ok := of(c)
		if !ok || len(groups[k]) <= maxTold {
			out = append(out, c)
			continue
		}
		if members := groups[k]; members[0].Count == 0 {
			crowd := Difference{Weight: c.Weight, Kind: c.Kind, What: plural(k.role), To: c.To, Count: len(members)}
			for _, m := range members {
				if name := strings.TrimPrefix(strings.TrimPrefix(m.What, k.role), " "); name != "" {
					crowd.With = append(crowd.With, name)
				}
			}
			out = append(out, crowd)
			members[0].Count = len(members) // it has been told
		}
	}
	return out
}

func plural(role string) string {
	switch {
	case strings.HasSuffix(role, "x"), strings.HasSuffix(role, "s"):
		return role + "es"
	case strings.HasSuffix(role, "y"):
		return role[:len(role)-1] + "ies"
	}
	return role + "s"
}

// String tells the change in a line: + for what came, - for what went, ~ for what
// turned.
func (c Difference) String() string {
	sign := map[DifferenceKind]string{Came: "+ ", Went: "- ", Turned: "~ "}[c.Kind]
	with := ""
	if names := someNames(c.With); c.Count > 0 && names != "" && !(c.Kind == Went && c.Weight <= OfMenu) {
		with = ": " + names
	}
	switch {
	case c.Kind == Turned && c.Text:
		return sign + c.What + ": " + edit(c.From, c.To)
	case c.Kind == Turned && c.Count > 0:
		return fmt.Sprintf("%s%d %s: %s%s", sign, c.Count, c.What, c.To, with)
	case c.Kind == Turned:
		return sign + c.What + ": " + c.To
	case c.Count > 0 && c.Weight == OfElement && !strings.Contains(c.What, `"`):
		return fmt.Sprintf("%s%d %s%s", sign, c.Count, c.What, with)
	case c.Count > 0:
		return fmt.Sprintf("%s%s, with %d elements%s", sign, c.What, c.Count, with)
	}
	return sign + c.What
}

// someNames joins names until they are too many.
func someNames(names []string) string {
	size := 0
	for i, name := range names {
		if size += len(name) + 2; size > maxNames && i > 0 {
			return strings.Join(names[:i], ", ") + ", …"
		}
	}
	return strings.Join(names, ", ")
}

// edit tells how a text changed: of long ones the part that did.
func edit(from, to string) string {
	a, b := []rune(from), []rune(to)
	if len(a) <= maxKept && len(b) <= maxKept {
		return quote(from, maxKept) + " → " + quote(to, maxKept)
	}
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	old, fresh := string(a[start:len(a)-end]), string(b[start:len(b)-end])
	where := "at the start, "
	if start > 0 {
		where = "after " + quote(string(a[max(0, start-editReach):start]), editReach) + ", "
	}
	switch {
	case old == "":
		return where + quote(fresh, maxText) + " is new"
	case fresh == "":
		return where + quote(old, maxText) + " is gone"
	}
	return where + quote(old, maxText) + " → " + quote(fresh, maxText)
}

// DescribeChanges tells in lines what changed between two observations, the
// weightiest first. Windows, dialogs and menus are always told; where more changed
// than can be, a last line says how much. Where only the picture changed, that is said.
func DescribeChanges(before, now *Observation) string {
	if before == nil {
		return "nothing is known of before"
	}
	var lines []string
	size, left := 0, 0
	for _, c := range Differences(before, now) {
		line := c.String()
		if size += len(line) + 1; size > maxChanges && c.Weight > OfMenu {
			left += max(1, c.Count)
			continue
		}
		lines = append(lines, line)
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("and %d smaller changes", left))
	}
	if title, mute := now.mute(); mute {
		lines = append(lines, "the program of window "+quote(title, maxTitle)+" tells no text")
	}
	if len(lines) == 0 && redrawn(before, now) {
		lines = []string{"nothing that is told, but the picture changed"}
	}
	for _, of := range []struct {
		o    *Observation
		when string
	}{{before, " before"}, {now, ""}} {
		for _, p := range of.o.Tree.Hung {
			lines = append(lines, quote(p.Name, maxName)+" did not answer"+of.when+": what came and went in it is not known")
		}
		if of.o.Unread {
			lines = append(lines, "not all text of the picture was read"+of.when+": what came and went in it is not known")
		}
	}
	if len(lines) == 0 {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

// redrawn reports whether the pictures of two observations show something else. Of records
// without their pixels that have no names nobody knows.
func redrawn(before, now *Observation) bool {
	if before.pictured() && now.pictured() {
		return !SamePicture(before.Bare, now.Bare)
	}
	return before.Screen != "" && now.Screen != "" && before.Screen != now.Screen
}

// pictured reports whether the pixels of an observation are there: of a recorded one they
// may have been left out.
func (o *Observation) pictured() bool { return o.Bare != nil && len(o.Bare.Pix) > 0 }

// mute reports whether the program of the focused window tells no text, so that what
// changed in it can be seen in the picture only.
func (o *Observation) mute() (title string, mute bool) {
	v := o.view()
	i := FocusedWindow(o.Windows)
	if i < 0 || o.Tree.Err != nil || !v.silent(i) || o.Tree.Hangs(o.Windows[i].PID) {
		return "", false
	}
	return o.Windows[i].Title, true
}
