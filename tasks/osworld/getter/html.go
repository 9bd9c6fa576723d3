package getter

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"desktop-agent/internal/devtools"
	"desktop-agent/tasks"
)

// The function that answers questions about a page.
//
//go:embed page.js
var pageScript string

// A question of page.js.
type ask struct {
	Kind string `json:"kind"`
	Of   string `json:"of"`
}

// The parameters of active_tab_html_parse with the questions that they are for,
// by category. They are objects: of classes, labels or paths, each with an object of
// {number: key}, a key, or a list of texts.
var parsed = map[string][]struct{ key, kind, shape string }{
	"class": {
		{"class_multiObject", "texts", "numbers"}, {"class_multiObject_child", "own", "numbers"},
		{"class_multiObject_only_child", "headings", "numbers"}, {"class_multiObject_search_exist", "texts", "exist"},
		{"class_singleObject", "texts", "first"},
	},
	"label":     {{"labelObject", "label", "first"}},
	"xpath":     {{"xpathObject", "xpath", "first"}},
	"input":     {{"inputObject", "input", "first"}},
	"class&url": {{"class_multiObject", "texts", "among"}, {"class_multiObject_li", "products", "among"}},
}

// A query is one question about a page with what becomes of its answer.
type pageQuery struct {
	ask
	shape   string
	keys    map[int]string // numbers: the keys of the texts by number
	key     string         // first: the key of the first text
	choices []string       // exist, among: the texts that are looked for
}

func checkParse(p tasks.Params) error {
	_, err1 := readQueries(p)
	_, err2 := p.Texts("url_include_expected")
	choices, err3 := p.Map("url_include_expected_multichoice")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	for key := range choices {
		if _, err := choices.Text(key); err != nil {
			return fmt.Errorf("url_include_expected_multichoice: %w", err)
		}
	}
	return nil
}

// readQueries reads what is asked, in the order in which answers overwrite each other.
func readQueries(p tasks.Params) ([]pageQuery, error) {
	category, err := need(p, "category")
	if err != nil {
		return nil, err
	}
	fields, ok := parsed[category]
	if !ok {
		return nil, fmt.Errorf("category %.60q is not known: use class, label, xpath, input or class&url", category)
	}
	var queries []pageQuery
	for _, field := range fields {
		object, err := p.Map(field.key)
		if err != nil {
			return nil, err
		}
		for _, of := range object.Keys() {
			q := pageQuery{ask: ask{field.kind, of}, shape: field.shape}
			if strings.HasPrefix(category, "class") {
				q.Of = "." + of
			}
			if err := q.read(object, of); err != nil {
				return nil, fmt.Errorf("%s: %w", field.key, err)
			}
			queries = append(queries, q)
		}
	}
	return queries, nil
}

// read reads what becomes of an answer.
func (q *pageQuery) read(object tasks.Params, of string) (err error) {
	switch q.shape {
	case "first":
		q.key, err = object.Text(of)
	case "numbers":
		keys, err := object.Map(of)
		if err != nil {
			return err
		}
		q.keys = map[int]string{}
		for _, number := range keys.Keys() {
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 {
				return fmt.Errorf("%s: %.20q is not the number of an element, from 0", of, number)
			}
			if q.keys[n], err = keys.Text(number); err != nil {
				return fmt.Errorf("%s: %w", of, err)
			}
		}
	default:
		if choices, ok := object[of].(map[string]any); ok {
			q.choices = tasks.Params(choices).Keys()
			return nil
		}
		q.choices, err = object.Texts(of)
	}
	return err
}

// htmlParse is active_tab_html_parse: texts of the page in front. What it does not
// have is "".
func (g *getter) htmlParse(ctx context.Context) (tasks.Value, error) {
	queries, err := readQueries(g.p)
	if err != nil {
		return nil, err
	}
	b, t, err := g.parsedTab(ctx)
	if err != nil || t == nil {
		return nil, err
	}
	b.settle(ctx, t.ID, time.Now().Add(loadLimit/2))
	s, err := b.attach(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	defer s.close()
	asks := make([]ask, len(queries))
	for i, q := range queries {
		asks[i] = q.ask
	}
	questions, err := json.Marshal(asks)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	var url string
	var answers [][]string
	if err := s.eval(limited, "location.href", &url); err != nil {
		return nil, err
	}
	if err := s.eval(limited, "("+pageScript+")("+string(questions)+")", &answers); err != nil {
		return nil, err
	}
	if len(answers) != len(queries) {
		return nil, errors.New("the page did not answer")
	}
	found := map[string]any{}
	for i, q := range queries {
		q.fill(found, answers[i])
	}
	if g.p["category"] == "class&url" {
		g.inURL(found, strings.ToLower(url))
	}
	return found, nil
}

// parsedTab returns the tab in front.
func (g *getter) parsedTab(ctx context.Context) (*browser, *devtools.Target, error) {
	if !g.o.Defects.Has(tabByURL) {
		return g.front(ctx)
	}
	b, err := g.browser(ctx, false)
	if errors.Is(err, errNoBrowser) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	url, err1 := g.url(ctx)
	tabs, err2 := b.tabs(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	for _, t := range tabs {
		if samePage(t.URL, url) {
			return b, &t, nil
		}
	}
	return nil, nil, nil
}

// fill puts an answer where it belongs.
func (q *pageQuery) fill(found map[string]any, texts []string) {
	nth := func(n int) string {
		if n < len(texts) {
			return texts[n]
		}
		return ""
	}
	switch q.shape {
	case "first":
		found[q.key] = nth(0)
	case "numbers":
		for n, key := range q.keys {
			found[key] = nth(n)
		}
	case "exist":
		for _, choice := range q.choices {
			if choice != otherExists {
				found[choice] = slices.Contains(texts, choice)
			}
		}
		if slices.Contains(q.choices, otherExists) && found[otherExists] != true {
			found[otherExists] = slices.ContainsFunc(texts, func(t string) bool { return !slices.Contains(q.choices, t) })
		}
	case "among":
		for _, choice := range q.choices {
			if slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(t, choice) }) {
				found[strings.ToLower(choice)] = true
			}
		}
		other := slices.ContainsFunc(texts, func(t string) bool {
			return !slices.ContainsFunc(q.choices, func(c string) bool { return strings.Contains(strings.ToLower(c), strings.ToLower(t)) })
		})
		if found[otherExists] != true {
			found[otherExists] = other
		}
	}
}

// otherExists is the key that tells of texts that are not looked for.
const otherExists = "is_other_exist"

// inURL tells which texts the URL has. What the page has already is left.
func (g *getter) inURL(found map[string]any, url string) {
	tell := func(part, key string) {
		if key = strings.ToLower(key); found[key] == nil {
			found[key] = strings.Contains(url, strings.ToLower(part))
		}
	}
	parts, _ := g.p.Texts("url_include_expected")
	for _, part := range parts {
		tell(part, part)
	}
	choices, _ := g.p.Map("url_include_expected_multichoice")
	told := map[string]bool{} // by any of its choices
	for _, part := range choices.Keys() {
		key, _ := choices.Text(part)
		if g.o.Defects.Has(firstChoice) {
			tell(part, key)
			continue
		}
		key = strings.ToLower(key)
		if _, known := found[key]; !known || told[key] {
			told[key] = true
			found[key] = found[key] == true || strings.Contains(url, strings.ToLower(part))
		}
	}
}
