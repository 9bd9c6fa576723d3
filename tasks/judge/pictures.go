package judge

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"slices"

	"golang.org/x/image/draw"

	"desktop-agent/llm"
	"desktop-agent/replay"
)

// A moment is a frame that could be shown: what the agent saw before a step, or
// before several in a row, or the last look.
type moment struct {
	frame       string
	from, index int // the first and the last index of these steps in the record; for the last look the number of steps
	before      int // number of the last step that began with it; -1 if none did
	after       int // number of the step that it came of; -1 before the first
}

// A picture is a frame that is shown.
type picture struct {
	moment
	image llm.Image
}

// moments lists the frames of a record in order.
func (r *record) moments() []moment {
	var list []moment
	add := func(m moment) {
		if n := len(list); n == 0 || list[n-1].frame != m.frame {
			list = append(list, m)
			return
		}
		last := &list[len(list)-1]
		last.index = m.index
		if m.before >= 0 {
			last.before = m.before
		}
	}
	after := -1
	for i, s := range r.steps {
		if s.before != "" {
			add(moment{s.before, i, i, s.n, after})
		}
		after = s.n
	}
	if r.last != nil {
		add(moment{r.last.FrameID, len(r.steps), len(r.steps), -1, after})
	}
	return list
}

// wanted orders moments by how much they tell: the last, the first, those before
// risky actions, those before and after actions that failed, and then the others,
// evenly spread. Risky and failed ones take no more than their part of the room.
func (r *record) wanted(room int) []moment {
	all := r.moments()
	if len(all) < 2 {
		return all
	}
	order := []moment{all[len(all)-1], all[0]}
	var risky, failed []moment
	for i, m := range all {
		if m.index >= len(r.steps) {
			continue
		}
		steps := r.steps[m.from : m.index+1]
		if slices.ContainsFunc(steps, func(s *step) bool { return s.risky }) {
			risky = append(risky, m)
		}
		if slices.ContainsFunc(steps, func(s *step) bool { return s.failed }) {
			failed = append(failed, m)
			if i+1 < len(all) {
				failed = append(failed, all[i+1])
			}
		}
	}
	order = append(order, first(spread(risky), max(room/2, 1))...)
	order = append(order, first(spread(failed), max(room/4, 1))...)
	order = append(order, spread(all)...)
	seen := map[string]bool{}
	return slices.DeleteFunc(order, func(m moment) bool {
		was := seen[m.frame]
		seen[m.frame] = true
		return was
	})
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// tries is how many frames are read for each one that may be shown: some are
// damaged, or look like another.
const tries = 4

// pictures loads the frames that tell most, in the order of the run.
func (j *Judge) pictures(run *replay.Run, r *record) (pictures []picture, damaged []string) {
	if j.Pictures == 0 {
		return nil, nil
	}
	same := map[[sha256.Size]byte]bool{}
	tokens := 0
	for _, m := range first(r.wanted(j.Pictures), tries*j.Pictures) {
		if len(pictures) == j.Pictures {
			break
		}
		img, err := j.picture(run, m.frame, r.sizes[m.frame])
		if err != nil {
			damaged = append(damaged, m.frame)
			continue
		}
		sum := sha256.Sum256(img.Data)
		cost := llm.Estimate(&llm.Request{Messages: []llm.Message{{Parts: []llm.Part{img}}}}).Input
		if same[sum] || tokens+cost > j.PictureTokens {
			continue
		}
		same[sum] = true
		tokens += cost
		pictures = append(pictures, picture{m, img})
	}
	slices.SortFunc(pictures, func(a, b picture) int { return a.index - b.index })
	return pictures, damaged
}

// maxPNG is from how many bytes on a picture is sent as a JPEG.
const maxPNG = 1 << 20

// picture makes a frame as small as it is to be sent, and encodes it. A frame of
// another size than the journal tells is damaged: places would be wrong on it.
func (j *Judge) picture(run *replay.Run, id string, told image.Point) (llm.Image, error) {
	frame, err := run.Frame(id)
	if err != nil {
		return llm.Image{}, err
	}
	if size := frame.Bounds().Size(); size != told {
		return llm.Image{}, fmt.Errorf("frame %s has %v pixels; the journal says %v", id, size, told)
	}
	size := pictureSize(told, j.PictureSide)
	small := image.NewRGBA(image.Rectangle{Max: size})
	if size == told {
		draw.Draw(small, small.Rect, frame, frame.Bounds().Min, draw.Src)
	} else {
		draw.CatmullRom.Scale(small, small.Rect, frame, frame.Bounds(), draw.Src, nil)
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, small); err != nil {
		return llm.Image{}, err
	}
	if buf.Len() <= maxPNG {
		return llm.Image{Data: buf.Bytes(), Type: "image/png", FrameID: id}, nil
	}
	buf.Reset()
	if err := jpeg.Encode(&buf, small, &jpeg.Options{Quality: 85}); err != nil {
		return llm.Image{}, err
	}
	return llm.Image{Data: buf.Bytes(), Type: "image/jpeg", FrameID: id}, nil
}
