package agent

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"image"
	"strings"
	"text/template"
)

//go:embed prompts/*.tmpl
var promptFS embed.FS

var prompts = template.Must(template.New("").Option("missingkey=error").ParseFS(promptFS, "prompts/*.tmpl"))

// The data of the templates in prompts, one type for each.
type (
	actorPrompt struct{ Format string }

	taskPrompt struct{ Task string }

	turnPrompt struct {
		Report, Advice string
		Zoomed         bool
		FrameID        string
		Size           image.Point // of the screenshot, in its pixels
		Screen         string      // the linearised tree, delimited
	}

	pastPrompt struct{ Report, Advice, FrameID string }

	advicePrompt struct{ Text, Proposal string }

	reportPrompt struct {
		Results []resultLine
		Stopped string
		Bad     string
		Denied  string
		Answer  string
		Hint    string
	}

	// A resultLine is one action of the last batch with what became of it.
	resultLine struct {
		Action, Status, Detail string
		Output                 string // delimited; "" if there is none
	}
)

func render(name string, data any) (string, error) {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name+".tmpl", data); err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// promptHash identifies the wording of the named templates in the journal.
func promptHash(names ...string) string {
	h := sha256.New()
	for _, name := range names {
		text, err := promptFS.ReadFile("prompts/" + name + ".tmpl")
		if err != nil {
			text = []byte(err.Error())
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
