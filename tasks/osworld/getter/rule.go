package getter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // rules name timezones, and not every machine knows them

	"desktop-agent/tasks"
	"desktop-agent/tasks/env"
	"desktop-agent/tasks/osworld/defect"
)

func checkRule(p tasks.Params) error {
	if !p.Has("rules") {
		return errors.New("rules is missing")
	}
	return nil
}

// rule is rule: what the task says.
func (g *getter) rule(context.Context) (tasks.Value, error) { return g.p["rules"], nil }

// timeDifference is time_diff_range: a number of minutes that the task says.
func (g *getter) timeDifference(context.Context) (tasks.Value, error) {
	return g.p["diff_range_in_minutes"], nil
}

// A relativeRule is what rule_relativeTime reads.
type relativeRule struct {
	rules    tasks.Params
	expected tasks.Params
	from, to string
	zone     *time.Location // nil: that of the computer
}

func checkRelative(p tasks.Params) error {
	r, err := readRelative(p)
	if err != nil {
		return err
	}
	_, err = r.filled(time.Now(), 0)
	return err
}

func readRelative(p tasks.Params) (r relativeRule, err error) {
	if r.rules, err = p.Map("rules"); err != nil {
		return r, err
	}
	relative, err1 := r.rules.Map("relativeTime")
	expected, err2 := r.rules.Map("expected")
	if err := errors.Join(err1, err2); err != nil {
		return r, fmt.Errorf("rules: %w", err)
	}
	if expected == nil {
		return r, errors.New("rules: expected is missing")
	}
	r.expected = expected
	if r.from, err = need(relative, "from"); err != nil {
		return r, fmt.Errorf("rules: relativeTime: %w", err)
	}
	if r.to, err = relative.Text("to"); err != nil {
		return r, fmt.Errorf("rules: relativeTime: %w", err)
	}
	zone, err := r.rules.Text("timezone")
	if err == nil && zone != "" {
		r.zone, err = time.LoadLocation(zone)
	}
	if err != nil {
		return r, fmt.Errorf("rules: timezone: %w", err)
	}
	return r, nil
}

// relative is rule_relativeTime: a rule with the dates filled in that it names by
// words. Its "relativeTime" is {from, to}, such as {from: "next Monday"}; without to,
// the texts of expected.time get the parts of the date, else expected.from and
// expected.to get each their own. The parts are {DoW} (Mon), {Month} (Jan),
// {MonthFull} (January), {month} (january), {MonthD} (1), {Month0D} (01), {DayD} (5), {Day0D}
// (05) and {Year}. Of "next Monday split" and "next Friday split" they are written to
// puDay, puMonth and puYear, and doDay, doMonth and doYear. It is today where the computer
// is, unless the rule has a timezone.
func (g *getter) relative(ctx context.Context) (tasks.Value, error) {
	r, err := readRelative(g.p)
	if err != nil {
		return nil, err
	}
	now := g.e.Now()
	if r.zone != nil {
		now = now.In(r.zone)
	} else if now, err = g.localTime(ctx, now); err != nil {
		return nil, err
	}
	return r.filled(now, g.o.Defects)
}

// localTime returns a time as the computer's clock shows it.
func (g *getter) localTime(ctx context.Context, now time.Time) (time.Time, error) {
	out, err := g.e.Run(ctx, env.Command{Args: []string{"date", "+%z"}, Limit: g.o.Limit})
	if err != nil {
		return now, err
	}
	offset, err := time.Parse("-0700", strings.TrimSpace(string(out.Stdout)))
	if err != nil {
		return now, fmt.Errorf("timezone of the computer: %w", err)
	}
	return now.In(offset.Location()), nil
}

// copyOf copies the top of an object.
func copyOf(p tasks.Params) tasks.Params {
	c := make(tasks.Params, len(p))
	maps.Copy(c, p)
	return c
}

// filled returns the rules with the dates filled in.
func (r relativeRule) filled(now time.Time, of defect.Set) (tasks.Value, error) {
	from, err := date(now, r.from, nil)
	if err != nil {
		return nil, fmt.Errorf("rules: relativeTime: from: %w", err)
	}
	expected := copyOf(r.expected)
	fill := func(day time.Time, keys ...string) error {
		some := false
		for _, key := range keys {
			if !expected.Has(key) {
				continue
			}
			some = true
			var err error
			if expected[key], err = fillDate(expected[key], day, of); err != nil {
				return fmt.Errorf("rules: expected: %s: %w", key, err)
			}
		}
		if !some {
			return fmt.Errorf("rules: expected has no %s for the date", strings.Join(keys, " or "))
		}
		return nil
	}
	if r.to == "" {
		err = fill(from, "time")
	} else {
		var before *anchor
		if !of.Has(nextFromToday) || followed(r.from, r.to) {
			before = &anchor{r.from, from}
		}
		var to time.Time
		if to, err = date(now, r.to, before); err != nil {
			return nil, fmt.Errorf("rules: relativeTime: to: %w", err)
		}
		keys := map[bool][]string{false: {"from"}, true: {"puDay", "puMonth", "puYear"}}[strings.HasSuffix(r.from, " split")]
		if err = fill(from, keys...); err == nil {
			keys = map[bool][]string{false: {"to"}, true: {"doDay", "doMonth", "doYear"}}[strings.HasSuffix(r.to, " split")]
			err = fill(to, keys...)
		}
	}
	if err != nil {
		return nil, err
	}
	rules := copyOf(r.rules)
	rules["expected"] = map[string]any(expected)
	return map[string]any(rules), nil
}

// An anchor is the date that another one follows.
type anchor struct {
	words string
	day   time.Time
}

// followed reports whether the original counts one date from another.
func followed(from, to string) bool {
	from, to = strings.TrimSuffix(from, " split"), strings.TrimSuffix(to, " split")
	switch to {
	case "next Friday", "week after next Friday":
		return strings.HasSuffix(from, "next Monday")
	case "next Sunday":
		return from == "next Friday" || from == "next Saturday"
	}
	return strings.HasPrefix(to, "next week") || strings.HasPrefix(to, "week after next")
}

var (
	nthNextMonth = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th) next month$`)
	firstOf      = regexp.MustCompile(`^first (\w+) (\w+) months? later$`)
	weekdayWords = regexp.MustCompile(`^(this|next|next week|week after next) (\w+)$`)
)

// date returns the day that words mean. A day of next week follows the day
// before it, if that is one too.
//
//   - today, tomorrow, this month (today)
//   - 10th next month
//   - this Saturday: that of this week, which begins on Monday
//   - next Friday: the first after today, or after the day before it
//   - next week Friday: that of next week; week after next Friday: a week later
//   - first monday four months later
func date(now time.Time, words string, before *anchor) (time.Time, error) {
	words = strings.TrimSuffix(strings.TrimSpace(words), " split")
	day := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, time.UTC)
	switch words {
	case "today", "this month":
		return day, nil
	case "tomorrow":
		return day.AddDate(0, 0, 1), nil
	}
	if m := nthNextMonth.FindStringSubmatch(words); m != nil {
		n, _ := strconv.Atoi(m[1])
		next := time.Date(day.Year(), day.Month()+1, n, 12, 0, 0, 0, time.UTC)
		if n == 0 || next.Day() != n {
			return day, fmt.Errorf("next month has no day %d", n)
		}
		return next, nil
	}
	if m := firstOf.FindStringSubmatch(words); m != nil {
		weekday, ok := weekdays[strings.ToLower(m[1])]
		months := slices.Index(numbers, strings.ToLower(m[2]))
		if ok && months > 0 {
			first := time.Date(day.Year(), day.Month()+time.Month(months), 1, 12, 0, 0, 0, time.UTC)
			return first.AddDate(0, 0, (weekday-monday(first)+7)%7), nil
		}
	}
	if m := weekdayWords.FindStringSubmatch(words); m != nil {
		if weekday, ok := weekdays[strings.ToLower(m[2])]; ok {
			return weekdayDate(day, m[1], weekday, before), nil
		}
	}
	return day, fmt.Errorf("the date %.60q is not known: use words such as tomorrow, 10th next month, this Saturday, "+
		"next Monday, next week Friday, week after next Sunday or first monday four months later", words)
}

// weekdayDate returns a day of the week, 0 for Monday.
func weekdayDate(day time.Time, which string, weekday int, before *anchor) time.Time {
	today := monday(day)
	after := func(d time.Time) time.Time { return d.AddDate(0, 0, (weekday-monday(d)+6)%7+1) }
	follows := false
	if before != nil {
		m := weekdayWords.FindStringSubmatch(strings.TrimSuffix(before.words, " split"))
		follows = m != nil && m[1] != "this" && slices.Index(weeks, which) <= slices.Index(weeks, m[1])
	}
	switch {
	case which == "this":
		return day.AddDate(0, 0, weekday-today)
	case follows:
		return after(before.day)
	case which == "next":
		return after(day)
	case which == "next week":
		return day.AddDate(0, 0, 7-today+weekday)
	}
	if weekday == 0 {
		return after(day).AddDate(0, 0, 7)
	}
	return day.AddDate(0, 0, 14-today+weekday)
}

// weeks are the ways to name a day of the week, the earliest first.
var weeks = []string{"this", "next", "next week", "week after next"}

// monday returns the number of days since Monday.
func monday(d time.Time) int { return (int(d.Weekday()) + 6) % 7 }

var (
	weekdays = map[string]int{"monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6}
	numbers  = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
)

// fillDate puts the parts of a date into a text, or into each of a list.
func fillDate(value any, day time.Time, of defect.Set) (any, error) {
	parts := []string{
		"{DoW}", day.Format("Mon"), "{Month}", day.Format("Jan"), "{DayD}", strconv.Itoa(day.Day()),
		"{Year}", strconv.Itoa(day.Year()), "{Month0D}", day.Format("01"), "{month}", strings.ToLower(day.Month().String()),
		"{MonthFull}", day.Month().String(), "{Day0D}", day.Format("02"), "{MonthD}", strconv.Itoa(int(day.Month())),
	}
	switch v := value.(type) {
	case string:
		if !of.Has(firstPlace) {
			return strings.NewReplacer(parts...).Replace(v), nil
		}
		for i := 0; i < len(parts); i += 2 {
			v = strings.Replace(v, parts[i], parts[i+1], 1)
		}
		return v, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			text, ok := v[i].(string)
			if !ok {
				return nil, fmt.Errorf("%.60q is not a text", fmt.Sprint(v[i]))
			}
			out[i], _ = fillDate(text, day, of)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%.60q is not a text", fmt.Sprint(value))
}
