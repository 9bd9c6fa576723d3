package macro

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"image"
	"image/png"

	"golang.org/x/image/draw"

	"desktop-agent/actuator"
	"desktop-agent/agent"
	"desktop-agent/llm"
	"desktop-agent/run"
	"desktop-agent/screen"
)

//go:embed prompts/*.tmpl
var promptFiles embed.FS

var prompts = llm.ParsePrompts(promptFiles)

// healPrompt is the data of the template "heal".
type healPrompt struct {
	HealRequest
	Format string
	Size   image.Point // of the live screenshot, in its pixels
	Screen string      // the live screen as text
	Shown  bool        // the recorded screenshot is shown too
}

// healBadPrompt answers a reply that is no action.
type healBadPrompt struct{ Problem string }

// A ModelHealer asks a model for the actions of a step; its method Heal is for
// [Player.Heal]. The calls have the role of the actor and the purpose "heal".
type ModelHealer struct {
	Model        llm.Model
	Format       agent.Format // how the model writes its actions
	ScreenTokens int          // budget of the screen as text; 0 for the default of [screen.Observation.Text]

	// MaxBadReplies is how many replies in a row are no action until that is an error; 0 for
	// that of [run.MacroSettings.WithDefaults].
	MaxBadReplies int
}

// Heal returns what the model wants to do. A reply that is no action is answered,
// but the last of those that there may be.
func (h *ModelHealer) Heal(ctx context.Context, q HealRequest) ([]actuator.Action, error) {
	request, err := h.request(q)
	if err != nil {
		return nil, err
	}
	most := run.MacroSettings{MaxBadReplies: h.MaxBadReplies}.WithDefaults().MaxBadReplies
	for bad := 1; ; bad++ {
		response, before, err := llm.CompleteTurn(ctx, h.Model, request)
		if err != nil {
			return nil, fmt.Errorf("heal: %w", err)
		}
		if response.Ending() == llm.Declined {
			return nil, fmt.Errorf("heal: %s", response.Refusal())
		}
		reply := agent.ReplyOf(response)
		reply.Ended = false // words alone heal nothing, and end nothing
		proposal, err := h.Format.Parser.Parse(reply, q.Live.Image.Mapping.Bounds())
		if err == nil {
			return proposal.Actions, nil
		}
		problem, ok := errors.AsType[*actuator.ParseError](err)
		if !ok || bad >= most {
			return nil, fmt.Errorf("heal: the model's reply is no action: %w", err)
		}
		request.Messages = append(request.Messages, before...)
		if err := answer(request, response, problem); err != nil {
			return nil, err
		}
	}
}

func (h *ModelHealer) request(q HealRequest) (*llm.Request, error) {
	images := []llm.Image{{Data: q.Live.Image.Data, Type: q.Live.Image.Type, FrameID: q.Live.FrameID}}
	if q.Recorded != nil {
		shown, err := smaller(q.Recorded)
		if err != nil {
			return nil, err
		}
		images = append(images, shown)
	}
	request, err := prompts.Request(llm.Actor, "heal", healPrompt{
		HealRequest: q, Format: h.Format.Name, Size: q.Live.Image.Mapping.Size, Screen: q.Live.Text(h.ScreenTokens), Shown: q.Recorded != nil,
	}, images...)
	if err != nil {
		return nil, err
	}
	request.Tools = h.Format.Tools
	return request, nil
}

// answer tells the model why its reply is no action.
func answer(request *llm.Request, response *llm.Response, problem *actuator.ParseError) error {
	text, err := prompts.Render("heal.bad", healBadPrompt{problem.Error()})
	if err != nil {
		return err
	}
	request.Messages = append(request.Messages, response.Message())
	for _, c := range response.Calls {
		request.Messages = append(request.Messages, llm.Message{From: llm.ToolReply, CallID: c.ID, Parts: []llm.Part{llm.Text(text)}})
	}
	if len(response.Calls) == 0 {
		request.Messages = append(request.Messages, llm.UserText(text))
	}
	return nil
}

// smaller encodes a recorded frame in the size that models get.
func smaller(img image.Image) (llm.Image, error) {
	size := img.Bounds().Size()
	if side := max(size.X, size.Y); side > screen.DefaultMaxSide {
		to := image.NewRGBA(image.Rect(0, 0, size.X*screen.DefaultMaxSide/side, size.Y*screen.DefaultMaxSide/side))
		draw.ApproxBiLinear.Scale(to, to.Rect, img, img.Bounds(), draw.Src, nil)
		img = to
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return llm.Image{}, fmt.Errorf("recorded frame: %w", err)
	}
	return llm.Image{Data: out.Bytes(), Type: "image/png"}, nil
}
