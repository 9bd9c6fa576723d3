package program

import (
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"github.com/antchfx/xmlquery"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// page is HTML and XML alike.
const page = `<html><head></head><body>
<app name="Thunderbird" id="a1" class="big window"><list id="l1">
<item id="i1" name="one two">first <b id="b1">bold</b></item><item id="i2" name="one-two" lang="en-US"></item><label id="x1"></label>
<item id="i3" name="it's">third</item></list><label id="x2" name="one">text</label></app>
<app name="Other" id="a2"><list id="l2"><item id="i4" name="one"><item id="i5" name="two"><label id="x3">deep</label></item></item></list></app>
<label id="x4" name='say "hi", (a]'></label></body></html>`

// Selectors without namespaces find what they find in a browser.
func TestSelectorsLikeCascadia(t *testing.T) {
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	tree, err := xmlquery.Parse(strings.NewReader(page))
	require.NoError(t, err)
	found := 0
	for _, css := range []string{
		"app", "*", "#i3", ".window", "app.big#a1", "app item", "app > item", "list>item", "list > item , label",
		"item + item", "item+label", "item ~ item", "item ~ label", "item + item + label", "label + item[name]", "app ~ app", "app + label",
		`[name]`, `item[name="one"]`, `item[name=one]`, `[name='one two']`, `[name~="two"]`, `[name~="one two"]`, `[name|="one"]`, `[lang|=en]`,
		`[name^="one"]`, `[name$=two]`, `[name*="e-t"]`, `[name!="one"]`, `item[name!=one][id]`, `[ name = "one" ]`,
		`[name="it's"]`, `[name="say \"hi\", (a]"]`, `[name='say "hi", (a]']`,
		"item:first-child", "item:last-child", "label:only-child", "list :first-child", "item:nth-child(2)", "item:nth-child(odd)", "*:nth-child(even)",
		"list :nth-last-child(1)", ":root > body", "item:empty", "label:empty",
		"item:not([name])", "item:not([name='one'])", "item:not(:first-child)", "*:not(item, label, app)", "item:not([name=one]):not(:empty)",
		"app:has(label)", "app:has(b, label)", "app:has(list item b)", "app:not(:has(b))", "app[name=Thunderbird] item:has(b) ~ item", "item:contains('irst')",
		"app[name=Thunderbird] list[id=\"l1\"]>item[name=\"it's\"]", "nothing", "app  \n  list\titem",
	} {
		want := []string{}
		sel, err := cascadia.ParseGroup(css)
		require.NoError(t, err, css)
		for _, n := range cascadia.QueryAll(root, sel) {
			want = append(want, n.Data+"#"+cascadiaID(n))
		}
		path, err := cssToXPath(css, nil)
		require.NoError(t, err, css)
		expr, err := compileXPath(path, nil)
		require.NoError(t, err, css)
		got := []string{}
		for _, n := range xmlquery.QuerySelectorAll(tree, expr) {
			got = append(got, n.Data+"#"+n.SelectAttr("id"))
		}
		assert.ElementsMatch(t, distinct(want), distinct(got), "%s is %s", css, path)
		found += len(want)
	}
	require.Greater(t, found, 100, "the selectors must find something to be compared")
}

func cascadiaID(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "id" {
			return a.Val
		}
	}
	return ""
}

func TestSelectorsWithNamespaces(t *testing.T) {
	namespaces, err := treeNamespaces("ubuntu")
	require.NoError(t, err)
	tree, err := xmlquery.Parse(strings.NewReader(`<root xmlns:s="https://accessibility.ubuntu.example.org/ns/state"
		xmlns:attr="https://accessibility.ubuntu.example.org/ns/attributes"><a id="1" s:showing="true"/><a id="2" attr:id="tabs" showing="true"/>
		<s:a id="3"/><b id="4" attr:id="x tabs"/></root>`))
	require.NoError(t, err)
	for _, tt := range []struct{ css, want string }{
		{"a[st|showing=true]", "1"}, {`a[attr|id="tabs"]`, "2"}, {"a[showing]", "2"}, {"[*|showing='true']", "1 2"}, {"st|a", "3"},
		{"st|*", "3"}, {"*|a", "1 2 3"}, {"root > |a", "1 2"}, {"|*[attr|id~=tabs]", "2 4"}, {"*|*[attr|id]", "2 4"},
		{"a:not([st|showing]) + *|a", "3"}, {"[st|showing=false]", ""}, {"[|showing]", "2"},
		{"root:has(> b, > c) > b", "4"}, {"*|a:has(~ b)", "1 2 3"}, {"a:has(> b)", ""},
		{":is(b, st|a)", "3 4"}, {":where(a)[showing]", "2"}, {`[id*=""]`, ""}, {`[id^=""]`, ""}, {`[id~="1 2"]`, ""},
	} {
		path, err := cssToXPath(tt.css, namespaces)
		require.NoError(t, err, tt.css)
		expr, err := compileXPath(path, namespaces)
		require.NoError(t, err, tt.css)
		var got []string
		for _, n := range xmlquery.QuerySelectorAll(tree, expr) {
			got = append(got, n.SelectAttr("id"))
		}
		assert.Equal(t, tt.want, strings.Join(got, " "), "%s is %s", tt.css, path)
	}
}

func TestSelectorErrors(t *testing.T) {
	for css, want := range map[string]string{
		"":                  "here is not supported",
		"a,":                "here is not supported",
		"> a":               "a combinator at the start",
		"a >":               "here is not supported",
		"a:hover":           "the pseudo-class :hover",
		"a:nth-of-type(2)":  "the pseudo-class :nth-of-type",
		"a:nth-child(2n+1)": "a place other",
		"a:nth-child(-n)":   "a place other than",
		"a::before":         "a pseudo-element",
		"a[b":               "an operator other than",
		"a[b=]":             "a value without quotes",
		`a[b="c]`:           "a text without an end",
		`a[b="c" i]`:        "a flag",
		`a[b="\41"]`:        "an escape by number",
		"a[b>c]":            "an operator other than",
		"a[]":               "an attribute without a name",
		"a[*=b]":            "an attribute without a name",
		"xx|a":              `namespace "xx" is not known`,
		"a[xx|b]":           `namespace "xx" is not known`,
		"st|":               `namespace "st" is not known`,
		"*|":                "a namespace without a name",
		"a:not(b c)":        "a combinator in :not",
		"a:not(b > c)":      "a combinator in :not",
		"a:has(+ b)":        "+ in :has", "a:has(b + c)": "+ in :has", "a:has(> b + c)": "+ in :has",
		"a:not(b":                    "here is not supported",
		"a.":                         "here is not supported",
		"a)":                         "here is not supported",
		"a || b":                     "a namespace without a name is",
		strings.Repeat(":not(", 100): "such deep nesting",
		"0":                          "a name that begins so", "a[-b]": "a name that begins so", "*|0": "a name that begins so",
		`a\20 b`: "here is not supported",
	} {
		path, err := cssToXPath(css, nil)
		assert.ErrorContains(t, err, want, "%q: %s", css, path)
	}
}

func FuzzCSS(f *testing.F) {
	namespaces, err := treeNamespaces("ubuntu")
	require.NoError(f, err)
	f.Add(`application[name=Thunderbird] page-tab-list[attr|id="the-tabs"]>page-tab[name="Home page"]`)
	f.Add(`a:not(:has(> b, ~ c)), *|x:nth-child(2):contains('"')`)
	f.Fuzz(func(t *testing.T, css string) {
		path, err := cssToXPath(css, namespaces)
		if err != nil || strings.ContainsFunc(css, func(r rune) bool { return r >= 0x80 }) {
			return // not all letters may be in names in XML; that is an error of the other compiler
		}
		if _, err := compileXPath(path, namespaces); err != nil {
			t.Errorf("%q is %q: %v", css, path, err)
		}
	})
}

// Values of Debian's python3-levenshtein, whose ratio is rapidfuzz's divided by 100:
//
//	python3 -c 'import Levenshtein as l; print([l.ratio(a, b) for a, b in [("kitten", "sitting"), ("", ""), ("a", ""),
//	("About Profiles", "About profile"), ("naïve café", "naive cafe"), ("abcabba", "cbabac"), ("same", "same")]])'
func TestSimilarity(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{
		{"kitten", "sitting", 0.6153846153846154}, {"", "", 1}, {"a", "", 0}, {"About Profiles", "About profile", 0.8888888888888888},
		{"naïve café", "naive cafe", 0.8}, {"abcabba", "cbabac", 0.6153846153846154}, {"same", "same", 1},
		{"aaa", strings.Repeat("a", 401), 0},
	} {
		assert.InDelta(t, tt.want, similarity(tt.a, tt.b), 1e-12, "%q %q", tt.a, tt.b)
		assert.InDelta(t, tt.want, similarity(tt.b, tt.a), 1e-12, "%q %q", tt.b, tt.a)
	}
}
