package report

import (
	"bufio"
	"embed"
	"html/template"
	"io"
	"sync"

	"desktop-agent/internal/webpage"
)

//go:embed page
var pageFiles embed.FS

// The parts of the page's style and of its script, in order.
var (
	styles  = []string{"colours.css", "base.css", "parts.css", "tables.css", "narrow.css"}
	scripts = []string{"tables.js", "start.js"}
)

// writeHTML writes one self-contained page. It loads nothing from elsewhere, and
// everything from results is shown as text. Its links to trajectories are relative
// to the folder of the results. Of many trials, and of long texts, it shows a
// part, and says so: with names of a usual length it stays under 5 MB.
func (r *Report) writeHTML(w io.Writer) error {
	t, err := pages()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := t.ExecuteTemplate(out, "page", newView(r)); err != nil {
		return err
	}
	return out.Flush()
}

// pages returns the templates. They hold the style and the script, and tell the
// browser by the script's hash to run no other.
var pages = sync.OnceValues(func() (*template.Template, error) {
	return webpage.Templates(pageFiles, styles, scripts, pageWords)
})

// pageWords are the functions of the page's templates.
var pageWords = template.FuncMap{
	"percent": percent, "points": points, "span": span, "pointSpan": pointSpan, "pvalue": pvalue,
	"number": number, "cost": cost, "calls": func(n int) float64 { return float64(n) }, "millis": millis, "plural": plural,
	"count":   func(n int) string { return thousands(float64(n)) },
	"clip":    func(n int, text string) string { return clip(text, n) },
	"short":   short,
	"models":  models,
	"unknown": orUnknown,
	"at":      at,
	"band":    band,
	"addr":    func(f float64) *float64 { return &f },
	"float":   func(n int) float64 { return float64(n) },
	"part":    part,
	"pair":    func(f *Figures, named bool) row { return row{f, named} },
	"sum":     func(list ...float64) float64 { return inTime(list) },
	"value":   value,
	"long":    func(n int64) *float64 { return new(float64(n)) },
	"order":   order,
}
