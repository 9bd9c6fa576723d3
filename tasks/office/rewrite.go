package office

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// rewrite returns a file in which one part is what change makes of it, and all others are
// as they were. Without that part it is [ErrNoPart].
func rewrite(file []byte, part string, change func(text []byte) ([]byte, error)) ([]byte, error) {
	from, err := readZip(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	to, done := zip.NewWriter(&out), false
	for _, f := range from.File {
		if f.Name != part {
			if err := to.Copy(f); err != nil {
				return nil, fmt.Errorf("%.80q: %w", f.Name, err)
			}
			continue
		}
		text, err := unpack(f, maxXML)
		if err == nil {
			text, err = change(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", part, err)
		}
		w, err := to.Create(part)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
		done = true
	}
	if !done {
		return nil, fmt.Errorf("%.80q: %w", part, ErrNoPart)
	}
	if err := to.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Prepend returns a Word document with a paragraph before all others.
func Prepend(document []byte, text string) ([]byte, error) {
	return rewrite(document, "word/document.xml", func(part []byte) ([]byte, error) {
		head, body, ok := strings.Cut(string(part), "<w:body>")
		if !ok {
			return nil, errors.New("it has no body")
		}
		var quoted strings.Builder
		if err := xml.EscapeText(&quoted, []byte(text)); err != nil {
			return nil, err
		}
		return []byte(head + "<w:body><w:p><w:r><w:t>" + quoted.String() + "</w:t></w:r></w:p>" + body), nil
	})
}
