package llm

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"time"
)

// A Health is what [Probe] found.
type Health struct {
	Latency time.Duration // of the call, with all attempts
	Left    string        // the colours that the model named
	Right   string
}

// probeReply is the answer to prompts/probe.tmpl.
type probeReply struct {
	Left  string `json:"left" jsonschema:"colour of the left area"`
	Right string `json:"right" jsonschema:"colour of the right area"`
}

// Probe asks the model of a role what a small picture shows, half red and half
// blue. It succeeds only if the whole way works: connection, key, model name,
// pictures and structured replies. An answer with other colours is an
// [ErrBadReply]: the model does not see pictures.
func Probe(ctx context.Context, m Model, role Role) (Health, error) {
	picture, err := probePicture()
	if err != nil {
		return Health{}, err
	}
	req, err := prompts.Request(role, "probe", probePrompt{}, Image{Data: picture, Type: "image/png", FrameID: "probe"})
	if err != nil {
		return Health{}, err
	}
	start := time.Now()
	reply, err := Decode[probeReply](ctx, m, req)
	if err != nil {
		return Health{}, err
	}
	h := Health{Latency: time.Since(start), Left: strings.ToLower(reply.Left), Right: strings.ToLower(reply.Right)}
	if !strings.Contains(h.Left, "red") || !strings.Contains(h.Right, "blue") {
		return h, &Error{Kind: ErrBadReply, Detail: fmt.Sprintf(
			"a picture is red and blue, but the model says %q and %q: it does not see pictures; choose a vision model", quote(h.Left), quote(h.Right))}
	}
	return h, nil
}

// probePicture is 96×64 pixels: some models refuse smaller ones.
func probePicture() ([]byte, error) {
	img := image.NewPaletted(image.Rect(0, 0, 96, 64), color.Palette{
		color.RGBA{R: 255, A: 255}, color.RGBA{B: 255, A: 255}})
	draw.Draw(img, image.Rect(48, 0, 96, 64), image.NewUniform(img.Palette[1]), image.Point{}, draw.Src)
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}
