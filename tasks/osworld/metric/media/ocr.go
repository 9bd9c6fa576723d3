package media

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/media/picture"
)

// readImageText returns the English text in an image, its words with one space
// between them. The original has another recogniser, so they may read single
// characters differently.
func readImageText(ctx context.Context, path string) (string, error) {
	if _, err := picture.Open(path); err != nil {
		return "", err
	}
	out, err := tesseract(path).bytes(ctx)
	return strings.Join(strings.Fields(string(out)), " "), err
}

// tesseract is a command that recognises the text in an image.
func tesseract(path string) command {
	return command{
		name: "tesseract", debian: "tesseract-ocr", args: []string{path, "stdout", "-l", "eng"},
		cpuTime: 2 * time.Minute, output: 1 << 20,
	}
}

// imageText asks that a text can be read in an image.
func (metrics) imageText(result string, rules tasks.Params) (tasks.Score, error) {
	kind, err := rules.Text("type")
	if err != nil {
		return tasks.Score{}, err
	}
	if kind != "text" {
		return tasks.Score{}, fmt.Errorf("type: unknown type %.20q: use text", kind)
	}
	if !rules.Has("text") {
		return tasks.Score{}, errors.New("no text to look for")
	}
	text, err := rules.Text("text")
	if err != nil {
		return tasks.Score{}, err
	}
	return when(strings.Contains(result, text), "%.40q is not in the image's text %.100q", text, result)
}
