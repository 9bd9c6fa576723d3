package pyautogui

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/syntax"
)

const plus = syntax.PLUS

// methods are those of texts, lists and dicts.
var methods = map[string]func(t *translator, of value, a *args) (value, error){
	"format": formatMethod,
	"join":   joinMethod,
	"append": func(t *translator, of value, a *args) (value, error) {
		l, ok := of.(*list)
		if !ok || l.tuple || len(a.positional) != 1 {
			return nil, errors.New("append needs a list and one value")
		}
		l.items = append(l.items, a.positional[0])
		return nil, t.spend(1)
	},
	"items": func(t *translator, of value, a *args) (value, error) {
		d, err := needDict(of)
		if err != nil {
			return nil, err
		}
		out := &list{}
		for _, k := range d.keys {
			out.items = append(out.items, &list{[]value{k, d.items[k]}, true})
		}
		return out, t.spend(2 * len(d.keys))
	},
	"keys": func(t *translator, of value, a *args) (value, error) {
		d, err := needDict(of)
		if err != nil {
			return nil, err
		}
		items, err := t.items(d)
		return &list{items: items}, err
	},
	"values": func(t *translator, of value, a *args) (value, error) {
		d, err := needDict(of)
		if err != nil {
			return nil, err
		}
		out := &list{}
		for _, k := range d.keys {
			out.items = append(out.items, d.items[k])
		}
		return out, t.spend(len(d.keys))
	},
	"upper":      plainText(strings.ToUpper),
	"lower":      plainText(strings.ToLower),
	"strip":      plainText(strings.TrimSpace),
	"lstrip":     plainText(func(s string) string { return strings.TrimLeft(s, " \t\n\r") }),
	"rstrip":     plainText(func(s string) string { return strings.TrimRight(s, " \t\n\r") }),
	"replace":    replaceMethod,
	"split":      splitMethod,
	"splitlines": func(t *translator, of value, a *args) (value, error) { return split(t, of, "\n", true) },
}

func needDict(v value) (*dict, error) {
	d, ok := v.(*dict)
	if !ok {
		return nil, fmt.Errorf("a %s has no keys; write a dict", kind(v))
	}
	return d, nil
}

func needText(v value) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("this needs a text, not a %s", kind(v))
	}
	return s, nil
}

// plainText is a method of texts without arguments.
func plainText(change func(string) string) func(t *translator, of value, a *args) (value, error) {
	return func(t *translator, of value, a *args) (value, error) {
		s, err := needText(of)
		if err != nil {
			return nil, err
		}
		if err := a.bind(); err != nil {
			return nil, err
		}
		return change(s), nil
	}
}

func joinMethod(t *translator, of value, a *args) (value, error) {
	sep, err := needText(of)
	if err != nil {
		return nil, err
	}
	if err := a.bind("items"); err != nil {
		return nil, err
	}
	items, err := t.items(a.values["items"])
	if err != nil {
		return nil, err
	}
	var texts []string
	size := 0
	for _, item := range items {
		s, err := needText(item)
		if err != nil {
			return nil, err
		}
		texts = append(texts, s)
		if size += len(s) + len(sep); size > 8*maxWork {
			return nil, errWork
		}
	}
	if err := t.spend(size / 8); err != nil {
		return nil, err
	}
	return strings.Join(texts, sep), nil
}

func replaceMethod(t *translator, of value, a *args) (value, error) {
	s, err := needText(of)
	if err != nil {
		return nil, err
	}
	if err := a.bind("old", "new"); err != nil {
		return nil, err
	}
	from, err := a.text("old")
	if err != nil {
		return nil, err
	}
	to, err := a.text("new")
	if err != nil {
		return nil, err
	}
	n := strings.Count(s, from)
	if len(to) > 0 && n > maxWork/len(to) {
		return nil, errWork
	}
	if err := t.spend(len(s)/8 + n*len(to)); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s, from, to), nil
}

func splitMethod(t *translator, of value, a *args) (value, error) {
	if err := a.bind("sep"); err != nil {
		return nil, err
	}
	sep, _ := a.values["sep"].(string)
	if a.values["sep"] != nil && sep == "" {
		return nil, errors.New("a text can be split only by a text that is not empty")
	}
	return split(t, of, sep, false)
}

// split cuts a text at sep, or at blanks if that is empty.
func split(t *translator, of value, sep string, lines bool) (value, error) {
	s, err := needText(of)
	if err != nil {
		return nil, err
	}
	if err := t.spend(len(s)); err != nil {
		return nil, err
	}
	parts := strings.Split(s, sep)
	if sep == "" {
		parts = strings.Fields(s)
	} else if lines && len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	out := &list{}
	for _, p := range parts {
		out.items = append(out.items, p)
	}
	return out, nil
}

// formatMethod is "…".format(…): fields {}, {0} and {name}, with a format.
func formatMethod(t *translator, of value, a *args) (value, error) {
	s, err := needText(of)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	next := 0
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			break
		}
		out.WriteString(s[:i])
		s = s[i:]
		if strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}") {
			out.WriteByte(s[0])
			s = s[2:]
			continue
		}
		field, rest, ok := strings.Cut(s[1:], "}")
		if s[0] == '}' || !ok {
			return nil, errors.New("a { or } in the text stands alone; write {{ or }} for the character")
		}
		text, err := t.formatField(field, a, &next)
		if err != nil {
			return nil, err
		}
		if err := t.spend(len(text) / 8); err != nil {
			return nil, err
		}
		out.WriteString(text)
		s = rest
	}
	out.WriteString(s)
	return out.String(), t.spend(out.Len() / 8)
}

func (t *translator) formatField(field string, a *args, next *int) (string, error) {
	name, spec, _ := strings.Cut(field, ":")
	name, repr := strings.CutSuffix(name, "!r")
	name = strings.TrimSuffix(name, "!s")
	if v, ok := a.values[name]; ok {
		return t.format(v, repr, spec)
	}
	i := *next
	if name == "" {
		*next++
	} else if n, rest := digits(name, -1); n < 0 || rest != "" {
		return "", fmt.Errorf("there is no value for {%s}; give it as %s=…", shorten(name), shorten(name))
	} else {
		i = n
	}
	if i >= len(a.positional) {
		return "", errors.New("there are fewer values than { } in the text; write {{ and }} for the characters")
	}
	return t.format(a.positional[i], repr, spec)
}
