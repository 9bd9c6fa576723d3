package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"desktop-agent/tasks"
)

type junitSuites struct {
	XMLName xml.Name      `xml:"testsuites"`
	Name    string        `xml:"name,attr"`
	Tests   int           `xml:"tests,attr"`
	Fails   int           `xml:"failures,attr"`
	Errors  int           `xml:"errors,attr"`
	Skipped int           `xml:"skipped,attr"`
	Time    seconds       `xml:"time,attr"`
	Suites  []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Fails      int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       seconds         `xml:"time,attr"`
	Stamp      string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    seconds       `xml:"time,attr"`
	Skipped *junitMessage `xml:"skipped"`
	Error   *junitMessage `xml:"error"`
	Failure *junitMessage `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// seconds are written with three digits, as JUnit's readers want no exponent.
type seconds float64

func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 3, 64), nil
}

// writeJUnit writes the results as JUnit's XML.
func (r *Report) writeJUnit(w io.Writer) error {
	all := junitSuites{Name: r.Meta.Suite}
	suites := map[[2]string]*junitSuite{}
	for i := range r.Results {
		res := &r.Results[i]
		key := [2]string{res.Config, res.Domain}
		s := suites[key]
		if s == nil {
			s = &junitSuite{Name: res.Config + "/" + res.Domain, Properties: r.properties(res.Config)}
			suites[key] = s
			all.Suites = append(all.Suites, s)
		}
		s.add(res, r.Meta.Repeats > 1)
	}
	for _, s := range all.Suites {
		all.Tests, all.Fails, all.Errors = all.Tests+s.Tests, all.Fails+s.Fails, all.Errors+s.Errors
		all.Skipped, all.Time = all.Skipped+s.Skipped, all.Time+s.Time
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// add adds a trial.
func (s *junitSuite) add(t *tasks.Result, repeats bool) {
	c := junitCase{Name: t.Task, Class: s.Name, Time: seconds(t.Millis.Total) / 1000, Out: spoken(t)}
	if repeats {
		c.Name += " #" + strconv.Itoa(t.Repeat)
	}
	s.Tests++
	s.Time += c.Time
	if !t.Started.IsZero() && (s.Stamp == "" || t.Started.UTC().Format(time.RFC3339) < s.Stamp) {
		s.Stamp = t.Started.UTC().Format(time.RFC3339)
	}
	m := &junitMessage{Message: clip(t.Why, 300), Text: t.Why}
	switch {
	case t.Passed():
	case t.Status == tasks.Scored:
		s.Fails++
		m.Type, m.Message = "score", fmt.Sprintf("score %.3g: %s", t.Score, cmp.Or(m.Message, "nothing says why"))
		c.Failure = m
	case t.Status == tasks.NotExposed:
		s.Skipped++
		m.Type, m.Message = string(t.Status), "not exposed: "+m.Message
		c.Skipped = m
	case t.Status == tasks.Skipped:
		s.Skipped++
		c.Skipped = m
	default:
		s.Errors++
		m.Type = cmp.Or(t.Stage, string(t.Status))
		c.Error = m
	}
	s.Cases = append(s.Cases, c)
}

// spoken tells of a trial what the format has no field for.
func spoken(t *tasks.Result) string {
	var text strings.Builder
	price := fmt.Sprintf("$%.4f", t.Dollars)
	if t.Dollars == 0 && t.Calls > 0 {
		price = "cost unknown"
	}
	fmt.Fprintf(&text, "score %v, %s, %s, %s", t.Score, plural(t.Steps, "step"), plural(t.Calls, "model call"), price)
	if t.Unisolated {
		text.WriteString("\n" + unisolated)
	}
	if t.Overridden > 0 {
		fmt.Fprintf(&text, "\n%s overridden", plural(t.Overridden, "objection"))
	}
	for _, part := range [][2]string{{"note", t.Note}, {"outcome", t.Outcome}, {"answer", t.Answer}, {"trajectory", t.Run}} {
		if part[1] != "" {
			fmt.Fprintf(&text, "\n%s: %s", part[0], part[1])
		}
	}
	return text.String()
}

// properties tell what a configuration consists of.
func (r *Report) properties(config string) (list []junitProperty) {
	for i := range r.Meta.Configs {
		c := &r.Meta.Configs[i]
		if c.Name != config {
			continue
		}
		list = append(list, junitProperty{"shell", c.ShellWords()}, junitProperty{"guard", cmp.Or(c.Guard, "not known")}, junitProperty{"planning", cmp.Or(c.Planning, "not known")})
		for _, role := range keys(c.Models, nil) {
			list = append(list, junitProperty{"model " + role, c.Models[role]})
		}
		for _, key := range keys(c.Settings, nil) {
			list = append(list, junitProperty{"setting " + key, short(c.Settings[key])})
		}
	}
	return list
}
