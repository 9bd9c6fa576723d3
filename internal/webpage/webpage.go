// Package webpage makes the templates of self-contained HTML pages: style and
// script are in the page, which loads nothing and runs no other script.
package webpage

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io/fs"
	"strings"
)

// Templates parses the files page/*.html. Their functions are words, and
//
//   - style and script, the named files of the folder page one after the other,
//   - policy, the content security policy that tells the browser by the script's
//     hash to run no other (https://www.w3.org/TR/CSP3/).
func Templates(files fs.FS, styles, scripts []string, words template.FuncMap) (*template.Template, error) {
	style, err := joined(files, styles)
	if err != nil {
		return nil, err
	}
	script, err := joined(files, scripts)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256([]byte(script))
	policy := "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
		"script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	return template.New("").Funcs(words).Funcs(template.FuncMap{
		"policy": func() string { return policy },
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
	}).ParseFS(files, "page/*.html")
}

// joined returns files of the folder page one after the other.
func joined(files fs.FS, names []string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		data, err := fs.ReadFile(files, "page/"+name)
		if err != nil {
			return "", err
		}
		all.Write(data)
	}
	return all.String(), nil
}
