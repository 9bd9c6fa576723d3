package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"desktop-agent/tasks"
	"desktop-agent/tasks/osworld/metric/media/picture"
)

// ffmpeg is a command that reads a file and writes to standard output. Only
// formats that hold their own data are allowed: no playlists that name other
// files, and no network.
func ffmpeg(path string, output int64, args ...string) command {
	const formats = "aac,aiff,amr,ape,asf,au,avi,flac,flv,gif,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,mp3,mpeg,mpegts,mpegvideo,ogg,wav,w64,wv"
	all := append([]string{
		"-nostdin", "-v", "error", "-threads", "1", "-max_alloc", strconv.Itoa(1 << 30),
		"-protocol_whitelist", "file", "-format_whitelist", formats, "-i", "file:" + path,
	}, args...)
	return command{name: "ffmpeg", debian: "ffmpeg", args: append(all, "-"), cpuTime: 3 * time.Minute, output: output}
}

const (
	maxFrames      = 10_000     // of a film that are compared
	maxFramePixels = 40_000_000 // of one frame, which is more than 8K
)

// readFrames returns a reader of the hashes of a film's first n frames.
func readFrames(n int) reader[[]uint64] {
	return func(ctx context.Context, path string) ([]uint64, error) {
		var hashes []uint64
		c := ffmpeg(path, 0, "-map", "0:v:0", "-an", "-sn", "-frames:v", strconv.Itoa(n), "-fps_mode", "passthrough",
			"-c:v", "ppm", "-pix_fmt", "rgb24", "-f", "image2pipe")
		err := c.run(ctx, func(r io.Reader) error {
			in := bufio.NewReader(r)
			for {
				frame, err := readPPM(in)
				switch {
				case errors.Is(err, io.EOF):
					return nil
				case err != nil:
					return err
				}
				hashes = append(hashes, picture.PHash(frame))
			}
		})
		if err == nil && len(hashes) == 0 {
			err = errors.New("no frames")
		}
		return hashes, err
	}
}

// readPPM reads one image of a stream of binary pixmaps. At the end of the stream
// it returns io.EOF.
func readPPM(in *bufio.Reader) (*picture.Image, error) {
	var w, h, depth int
	if _, err := in.Peek(1); err != nil {
		return nil, err
	}
	if _, err := fmt.Fscanf(in, "P6\n%d %d\n%d\n", &w, &h, &depth); err != nil {
		return nil, fmt.Errorf("not a frame: %v", err)
	}
	if w <= 0 || h <= 0 || depth != 255 || w > maxFramePixels/h {
		return nil, fmt.Errorf("a frame of %dx%d: over %d pixels", w, h, maxFramePixels)
	}
	m := &picture.Image{Mode: picture.RGB, W: w, H: h, Pix: make([]byte, w*h*3)}
	if _, err := io.ReadFull(in, m.Pix); err != nil {
		return nil, fmt.Errorf("half a frame: %v", err)
	}
	return m, nil
}

// compareVideos compares the first frames by how they look: max_frames_to_check
// of them, or 100. More than threshold pairs, or 5, whose hashes differ in more
// than as many bits are too many; and one film must not end before the other.
func (m metrics) compareVideos(ctx context.Context, result, expected tasks.Value, options tasks.Params) (tasks.Score, error) {
	n, err := options.Number("max_frames_to_check")
	if err != nil {
		return tasks.Score{}, err
	}
	threshold, err := options.Number("threshold")
	if err != nil {
		return tasks.Score{}, err
	}
	if !options.Has("max_frames_to_check") {
		n = 100
	}
	if !options.Has("threshold") {
		threshold = hashDistance
	}
	if n < 1 || n > maxFrames {
		return tasks.Score{}, fmt.Errorf("max_frames_to_check: %v is not from 1 to %d", n, maxFrames)
	}
	want, errWant := load(ctx, expected, readFrames(int(n)))
	if errWant != nil && (!m.Has(bothBlind) || !damaged(errWant)) {
		return tasks.Score{}, fmt.Errorf("expected: %w", errWant)
	}
	got, err := load(ctx, result, readFrames(int(n)))
	if err != nil && errWant != nil && damaged(err) {
		return tasks.Yes(), nil // the defect: both end at once
	}
	if err != nil {
		return fault(err)
	}
	return compareFrames(got, want, threshold)
}

func compareFrames(got, want []uint64, threshold float64) (tasks.Score, error) {
	differ := 0
	for i := range min(len(got), len(want)) {
		if float64(picture.HashDistance(got[i], want[i])) > threshold {
			differ++
		}
		if float64(differ) > threshold {
			return tasks.No(fmt.Sprintf("%d of the first %d frames look different", differ, i+1)), nil
		}
	}
	return when(len(got) == len(want), "%d frames, not %d", len(got), len(want))
}

// damaged reports whether an error of load is the fault of a file that is there.
func damaged(err error) bool {
	_, env := errors.AsType[*envError](err)
	return !env && !errors.Is(err, tasks.ErrNoFile)
}
