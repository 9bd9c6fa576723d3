package dialect

import "desktop-agent/actuator"

// The rules by which servers resize pictures, and the sizes that are sent. A grid covers
// the picture whatever its size is: then the shape of the screen is kept.
var (
	qwen25Image = Image{Multiple: 28, Min: 4 * 28 * 28, Max: 16384 * 28 * 28, Side: 1920}
	gridImage   = Image{Side: 1920}
)

// dialects are all that there are, in the order in which they are told of.
var dialects = []*Dialect{
	{
		Name: "ui-tars-1.0", Family: "UI-TARS 1.0", Scale: 1000, Image: gridImage, Screenshots: 5,
		form: uitars(boxToken, "start_box", "end_box"), prompt: "uitars", talk: rulesInTask, past: boxTokens,
	},
	{
		Name: "ui-tars-doubao", Family: "Doubao-1.5-UI-TARS", Scale: 1000, Image: gridImage, Screenshots: 5,
		form: uitars(pointTag, "point", "end_point"), prompt: "uitars", talk: rulesInTask, past: boxTokens,
	},
	{
		Name: "ui-tars-1.5", Family: "UI-TARS-1.5", Image: Image{Multiple: 28, Min: 100 * 28 * 28, Max: 16384 * 28 * 28, Side: 1920}, Screenshots: 5,
		form: uitars(pointTag, "point", "end_point"), prompt: "uitars", talk: rulesInTask, past: boxTokens,
	},
	{
		Name: "ui-tars-2", Family: "UI-TARS-2 and Seed", Scale: 1000, Image: gridImage, Screenshots: 5,
		form: seed, prompt: "seed", talk: rulesApart,
	},
	{
		Name: "qwen2.5-vl", Family: "Qwen2.5-VL", Image: qwen25Image, Screenshots: 4,
		form: qwen(nil), prompt: "qwen", talk: rulesApart,
	},
	{
		Name: "qwen3-vl", Family: "Qwen3-VL and Qwen3.5", Scale: 1000, Image: gridImage, Screenshots: 4,
		form: qwen(nil), prompt: "qwen", talk: rulesApart,
	},
	{
		Name: "evocua", Family: "EvoCUA", Scale: 999, Image: gridImage, Screenshots: 4,
		form: either{qwen(nil)}, prompt: "qwen", talk: rulesApart,
	},
	{
		Name: "glm-4.5v", Family: "GLM-4.5V and GLM-4.6V", Scale: 999, Image: gridImage, Screenshots: 5,
		form: glm, prompt: "glm", talk: talkGLM,
	},
	{
		Name: "opencua", Family: "OpenCUA", Image: qwen25Image, Screenshots: 3,
		form: python{}, prompt: "opencua", talk: rulesApart,
	},
	{
		Name: "holo1.5", Family: "Holo1 and Holo1.5", Image: Image{Multiple: 28, Min: 4 * 28 * 28, Max: 14 * 14 * 4 * 1280, Side: 1920}, Screenshots: 3,
		form: holo, prompt: "holo", talk: rulesApart,
	},
	{
		Name: "holo2", Family: "Holo2", Scale: 1000, Image: gridImage, Screenshots: 3,
		form: holo, prompt: "holo", talk: rulesApart,
	},
	{
		Name: "fara", Family: "Fara-7B", Image: Image{Multiple: 28, Min: 4 * 28 * 28, Max: 16384 * 28 * 28, Side: 1440}, Screenshots: 3,
		form: qwen(faraVerbs), prompt: "fara", talk: rulesApart,
	},
	{
		Name: "fara-1.5", Family: "Fara-1.5", Scale: 1000, Image: gridImage, Screenshots: 3,
		form: qwen(faraVerbs), prompt: "fara", talk: rulesApart,
	},
}

var _ actuator.Parser = parser{}
