package getter

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"desktop-agent/tasks"
)

// maxURL is how many bytes of a URL are looked at.
const maxURL = 2 << 20

// hasScheme finds URLs that say how they are fetched.
var hasScheme = regexp.MustCompile(`^(?i:[a-z][a-z0-9+.-]*://|about:|data:|blob:|view-source:|javascript:)`)

// url returns the URL in the address bar, "" if there is none. The bar leaves
// "https://" and "www." out: goto_prefix is put before what has no scheme.
func (g *getter) url(ctx context.Context) (string, error) {
	prefix := "https://"
	if _, ok := g.p["goto_prefix"]; ok {
		var err error
		if prefix, err = g.p.Text("goto_prefix"); err != nil {
			return "", err
		}
	}
	text, err := g.address(ctx)
	if err != nil || text == "" {
		return "", err
	}
	text = text[:min(len(text), maxURL)]
	switch {
	case g.o.Defects.Has(prefixAlways):
	case hasScheme.MatchString(text):
		return text, nil
	case strings.HasPrefix(text, "/"): // a file of the computer
		return "file://" + text, nil
	case strings.HasPrefix(text, "www."):
		prefix = strings.TrimSuffix(prefix, "www.")
	}
	return prefix + text, nil
}

// activeURL is active_url_from_accessTree.
func (g *getter) activeURL(ctx context.Context) (tasks.Value, error) {
	url, err := g.url(ctx)
	if url == "" {
		return nil, err
	}
	return url, err
}

func checkURLParse(p tasks.Params) error {
	keys, err1 := p.Texts("parse_keys")
	replace, err2 := p.Map("replace")
	_, err3 := p.Bool("split_list")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if len(keys) == 0 {
		return errors.New("parse_keys is missing")
	}
	for key := range replace {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("replace: %.60q is not among parse_keys", key)
		}
		if _, err := need(replace, key); err != nil {
			return fmt.Errorf("replace: %w", err)
		}
	}
	return nil
}

// urlParse is active_tab_url_parse: some fields of the query in the address bar,
// "" for those that are not there. replace gives them other names, split_list
// makes lists of them at commas.
func (g *getter) urlParse(ctx context.Context) (tasks.Value, error) {
	url, err := g.url(ctx)
	if url == "" {
		return nil, err
	}
	keys, _ := g.p.Texts("parse_keys")
	replace, _ := g.p.Map("replace")
	split, _ := g.p.Bool("split_list")
	fields := query(url)
	found := map[string]any{}
	for _, key := range keys {
		name := key
		if replace.Has(key) {
			name, _ = replace.Text(key)
		}
		if found[name] = fields[key]; split {
			found[name] = list(strings.Split(fields[key], ","))
		}
	}
	return found, nil
}

// query returns the first value of each field of a URL's query. Fields without a
// value are left out, as Python's parse_qs does.
func query(url string) map[string]string {
	url, _, _ = strings.Cut(url, "#")
	_, text, _ := strings.Cut(url, "?")
	fields := map[string]string{}
	for field := range strings.SplitSeq(text, "&") {
		key, value, _ := strings.Cut(field, "=")
		key, value = unquote(strings.ReplaceAll(key, "+", " ")), unquote(strings.ReplaceAll(value, "+", " "))
		if _, known := fields[key]; !known && value != "" {
			fields[key] = value
		}
	}
	return fields
}

// unquote resolves the percent signs that stand for characters, and leaves others
// as they are.
func unquote(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := digit(text[i+1]), digit(text[i+2])
			if high >= 0 && low >= 0 {
				out.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

// digit returns the value of a hexadecimal digit, -1 of any other letter.
func digit(c byte) int {
	return strings.IndexByte("0123456789abcdef", c|0x20)
}

func checkDashPart(p tasks.Params) error {
	if !p.Has("partIndex") {
		return errors.New("partIndex is missing")
	}
	n, err1 := p.Number("partIndex")
	_, err2 := p.Bool("needDeleteId")
	kind, err3 := p.Text("returnType")
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	switch {
	case n != float64(int(n)):
		return fmt.Errorf("partIndex %v is not a whole number", n)
	case kind == "json":
		_, err := need(p, "key")
		return err
	case kind != "" && kind != "string":
		return fmt.Errorf("returnType %.60q is not known: use string or json", kind)
	}
	return nil
}

// dashPart is url_dashPart: one of the parts of the URL in the address bar that
// slashes divide, counted from 0, or from the end if negative. needDeleteId leaves
// the query out. It is a text, or an object {key: text}.
func (g *getter) dashPart(ctx context.Context) (tasks.Value, error) {
	url, err := g.url(ctx)
	if url == "" {
		return nil, err
	}
	number, _ := g.p.Number("partIndex")
	parts, n := strings.Split(url, "/"), int(number)
	if n < 0 {
		n += len(parts)
	}
	if n < 0 || n >= len(parts) {
		return nil, nil
	}
	part := parts[n]
	if without, _ := g.p.Bool("needDeleteId"); without {
		part, _, _ = strings.Cut(part, "?")
	}
	if g.p["returnType"] == "json" {
		key, _ := g.p.Text("key")
		return map[string]any{key: part}, nil
	}
	return part, nil
}

// pathParse is url_path_parse, for the pages of a shop whose URLs hold what was
// chosen in their path, as in …/mens-clothing/shirts/Key_a,Key_b/Value-a,Value-b: the
// choices that parse_keys names, and whether shirts, and short sleeves, were chosen.
func (g *getter) pathParse(ctx context.Context) (tasks.Value, error) {
	url, err := g.url(ctx)
	if url == "" {
		return nil, err
	}
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	_, path, _ := strings.Cut(url, "/")
	path = unquote(path)
	chosen := map[string]string{"Men_regular_size_t": "", "Price_discount_range": ""}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i := 0; i+1 < len(parts); i++ {
		if !strings.Contains(parts[i], ",") || !strings.Contains(parts[i+1], ",") {
			continue
		}
		values := strings.Split(parts[i+1], ",")
		for n, key := range strings.Split(parts[i], ",") {
			if n < len(values) {
				chosen[strings.TrimSpace(key)] = strings.TrimSpace(values[n])
			}
		}
		break
	}
	department, sleeve := strings.ToLower(chosen["Product_department"]), strings.ToLower(chosen["Sleeve_length"])
	found := map[string]any{
		"mens_clothing": yes(strings.Contains(path, "mens-clothing")),
		"shirts":        yes(strings.Contains(path, "shirts") || department == "shirts" || department == "shirt"),
		"short_sleeve":  yes(strings.Contains(path, "short-sleeve") || sleeve == "short-sleeve" || sleeve == "short sleeve"),
	}
	keys, err := g.p.Texts("parse_keys")
	for _, key := range keys {
		value, ok := chosen[key]
		switch {
		case !ok:
		case key == "Price_discount_range":
			found[key] = discount(value)
		case value == "":
			found[key] = nil
		default:
			found[key] = value
		}
	}
	return found, err
}

// yes is true, or nothing.
func yes(b bool) any {
	if b {
		return true
	}
	return nil
}

// discount tells whether of a list of discounts that of a half was chosen alone.
func discount(value string) string {
	const half = "50_PERCENT_ off & more"
	chosen := map[string]bool{}
	for item := range strings.SplitSeq(value, "|") {
		chosen[strings.TrimSpace(item)] = true
	}
	if chosen[half] && !chosen["30_PERCENT_ off & more"] && !chosen["20_PERCENT_ off & more"] {
		return half
	}
	return "not_" + half
}
