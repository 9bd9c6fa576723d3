package program

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/antchfx/xmlquery"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// XPath finds what it finds for lxml, in the same tree. testdata/xpath.json was made in
// testdata by
//
//	/usr/bin/python3 xpath.py > xpath.json
func TestXPathLikeLxml(t *testing.T) {
	data, err := os.ReadFile("testdata/xpath.json")
	require.NoError(t, err)
	var golden map[string]any
	require.NoError(t, json.Unmarshal(data, &golden))
	text, err := os.ReadFile("testdata/xpath.xml")
	require.NoError(t, err)
	tree, why := parseTree(string(text))
	require.Empty(t, why)
	namespaces, err := treeNamespaces("ubuntu")
	require.NoError(t, err)
	require.Greater(t, len(golden), 70)
	for path, want := range golden {
		expr, err := compileXPath(path, namespaces)
		if !assert.NoError(t, err, path) {
			continue
		}
		got, err := evaluate(t.Context(), expr, tree)
		if !assert.NoError(t, err, path) {
			continue
		}
		if got.truth != nil {
			assert.Equal(t, want, *got.truth, path)
			continue
		}
		list := []any{}
		for _, n := range got.nodes {
			if n.Type == xmlquery.ElementNode {
				list = append(list, n.Data+"#"+n.SelectAttr("id"))
			} else {
				list = append(list, textOf(n))
			}
		}
		assert.Subset(t, want, list, path)
		assert.Subset(t, list, want, path) // some elements are found twice, which does not matter here
	}
}

// A search that would take minutes ends with its context.
func TestSearchEnds(t *testing.T) {
	tree, why := parseTree("<a>" + strings.Repeat("<b/>", 150_000) + "</a>")
	require.Empty(t, why)
	expr, err := compileXPath("//b[following-sibling::c]", nil)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	_, err = evaluate(ctx, expr, tree)
	require.EqualError(t, err, "enough")
}

// What the library evaluates wrongly is refused.
func TestXPathRefused(t *testing.T) {
	for path, ok := range map[string]bool{
		"//a[ancestor::b]":                false,
		"//a[@c and ancestor-or-self::b]": false,
		"//a[following::b]":               false,
		"//a[not( preceding :: b )]":      false,
		"//a[b][2]":                       false, "//a[b] [last()]": false, "//a[1][b]": true,
		"//a[b[2]]":                                      false,
		"//a[b[ last() ]]":                               false,
		"//a[b[position() = 1]]":                         false,
		"(//a)[last()]":                                  false,
		"(//a | //b) [ last() ]":                         false,
		"//a[position() = last()]":                       true,
		"//a/ancestor::b":                                true,
		"//a[following-sibling::b]":                      true,
		"//a[@name='ancestor::b[1] (x)[last()]']":        true,
		`//a[@name="b[position()='1']" and c[@d="]]'"]]`: true,
		"(//a)[1]":                                       true,
		"//a[2]":                                         true,
		"//a[b[c='2']]":                                  true,
		"//a[contains(@b, 'c')]/d[last()]":               true,
		"//ancestor[ancestor]":                           true,
	} {
		_, err := compileXPath(path, nil)
		if ok {
			assert.NoError(t, err, path)
		} else {
			assert.ErrorContains(t, err, "not supported", path)
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add(`<a xmlns:b="c" b:d="e"><b:f/>text<!-- g --><![CDATA[h]]></a>`, "//a[@d]/text()")
	f.Add("<a/><b/></c>", "//*[contains(., 'x')] | //@*")
	f.Fuzz(func(t *testing.T, text, path string) {
		tree, why := parseTree(text)
		expr, err := compileXPath(path, nil)
		if why == "" && err == nil {
			_, _ = treeRule{expr: expr}.judge(t.Context(), tree)
		}
	})
}
