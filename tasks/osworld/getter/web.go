package getter

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"desktop-agent/tasks"
	"desktop-agent/tasks/asset"
)

// pdf is pdf_from_url: a page as the browser prints it.
func (g *getter) pdf(ctx context.Context) (tasks.Value, error) {
	url, err1 := need(g.p, "path")
	dest, err2 := need(g.p, "dest")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	file, err := g.place(dest)
	if err != nil {
		return nil, err
	}
	b, err := g.browser(ctx, true)
	if err != nil {
		return nil, err
	}
	err = b.open(ctx, url, func(s *session) error {
		ctx, cancel := context.WithTimeout(ctx, loadLimit)
		defer cancel()
		var printed struct{ Data string }
		if err := s.call(ctx, "Page.printToPDF", map[string]any{}, &printed); err != nil {
			return err
		}
		return asset.Save(base64.NewDecoder(base64.StdEncoding, strings.NewReader(printed.Data)), file, g.o.MaxFile)
	})
	if err != nil {
		return nil, err
	}
	return tasks.File{Path: file}, nil
}

// maxInfos is how many texts of a page may be asked for.
const maxInfos = 200

func checkWebsite(p tasks.Params) error {
	if err := needs("url")(p); err != nil {
		return err
	}
	infos, err := p.Maps("infos")
	if err != nil {
		return err
	}
	if len(infos) == 0 || len(infos) > maxInfos {
		return fmt.Errorf("infos has %d, and should have 1 to %d", len(infos), maxInfos)
	}
	for i, info := range infos {
		if _, err := readInfo(info); err != nil {
			return fmt.Errorf("infos: %d: %w", i, err)
		}
	}
	return nil
}

// An info is one text of a page.
type info struct {
	click     string // what is clicked before; "" for nothing
	selector  string
	attribute string // "" for the text itself
}

func readInfo(p tasks.Params) (info, error) {
	kind, err := p.Text("action")
	if err != nil {
		return info{}, err
	}
	kind, click := strings.CutPrefix(kind, "click_and_")
	selectors, err := p.Texts("selector")
	if err != nil {
		return info{}, err
	}
	wanted := 1
	if click {
		wanted = 2
	}
	if len(selectors) != wanted {
		return info{}, fmt.Errorf("selector has %d texts, and should have %d", len(selectors), wanted)
	}
	in := info{selector: selectors[len(selectors)-1]}
	if click {
		in.click = selectors[0]
	}
	switch kind {
	case "", "inner_text":
	case "attribute":
		in.attribute, err = need(p, "attribute")
	default:
		err = fmt.Errorf("action %.60q is not known: use inner_text, attribute, click_and_inner_text or click_and_attribute", kind)
	}
	return in, err
}

// website is info_from_website: texts of a page, or its backups where that
// cannot be had.
func (g *getter) website(ctx context.Context) (tasks.Value, error) {
	url, err := need(g.p, "url")
	if err != nil {
		return nil, err
	}
	infos, err := g.p.Maps("infos")
	if err != nil {
		return nil, err
	}
	b, err := g.browser(ctx, true)
	if err != nil {
		return nil, err
	}
	texts := make([]any, len(infos))
	for i, p := range infos {
		in, err := readInfo(p)
		if err != nil {
			return nil, err
		}
		err = b.open(ctx, url, func(s *session) (err error) {
			texts[i], err = s.text(ctx, in)
			return err
		})
		if err != nil && ctx.Err() == nil && g.p.Has("backups") {
			g.o.Log.WarnContext(ctx, "the page cannot be read, the texts of the task are used", "url", url, "err", err)
			return g.p.List("backups"), nil
		} else if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// text returns a text of a page, which may come late.
func (s *session) text(ctx context.Context, in info) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*pageLimit, fmt.Errorf("%q is not in the page", in.selector))
	defer cancel()
	clicked := in.click == ""
	for {
		var found struct {
			There bool
			Text  string
		}
		selector, what := in.selector, "e.innerText"
		if !clicked {
			selector, what = in.click, `(e.click(), "")`
		} else if in.attribute != "" {
			what = "e.getAttribute(" + quoted(in.attribute) + ")"
		}
		script := fmt.Sprintf(`(e => e ? {There: true, Text: String(%s ?? "").slice(0, %d)} : {There: false})(document.querySelector(%s))`,
			what, maxString, quoted(selector))
		if err := s.eval(ctx, script, &found); err != nil {
			if s.world = 0; ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
		}
		if found.There && clicked {
			return found.Text, nil
		}
		clicked = clicked || found.There
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
}

// quoted writes a text as JavaScript does.
func quoted(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""` // texts can be written
	}
	return string(quoted)
}
