package media

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A command is a program that reads a file, with its limits.
type command struct {
	name    string // of the program
	debian  string // the package that has it
	args    []string
	cpuTime time.Duration // the most that it may take
	slack   int           // how many times as long it may take in all; 0 means [defaultSlack]
	output  int64         // the most bytes of standard output
}

const (
	maxMemory = 4 << 30 // bytes of address space of a program
	maxFile   = 1 << 30 // bytes of a file that it writes
	// defaultSlack is how many times as long as its processor time a program may take in
	// all: it shares the machine with others, and waits for who reads what it writes.
	defaultSlack = 10
)

// programs are the programs that metrics run, by metric. Those of poppler come
// together.
var programs = map[string]command{
	"compare_image_text":           tesseract(""),
	"compare_pdfs":                 poppler("pdftotext"),
	"compare_pdf_images":           poppler("pdfimages"),
	"check_pdf_pages":              poppler("pdfinfo"),
	"is_gold_text_included_in_pdf": poppler("pdftotext"),
	"compare_audios":               ffmpeg("", 0),
	"compare_videos":               ffmpeg("", 0),
}

// Lacks says that the program that a metric runs is not installed, and what has it;
// "" if it runs none or it is there.
func Lacks(metric string) string {
	c, ok := programs[metric]
	if !ok {
		return ""
	}
	if _, err := c.find(); err != nil {
		return err.Error()
	}
	return ""
}

// find returns the path of the program.
func (c command) find() (string, error) {
	path, err := exec.LookPath(c.name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: install the Debian package %s", c.name, c.debian)
	}
	return path, nil
}

// bytes runs the program and returns what it wrote.
func (c command) bytes(ctx context.Context) (out []byte, err error) {
	err = c.run(ctx, func(r io.Reader) error {
		out, err = io.ReadAll(io.LimitReader(r, c.output+1))
		if err == nil && int64(len(out)) > c.output {
			return fmt.Errorf("%s: over %d bytes of output", c.name, c.output)
		}
		return err
	})
	return out, err
}

// limit is how long the program may take in all.
func (c command) limit() time.Duration {
	return time.Duration(cmp.Or(c.slack, defaultSlack)) * c.cpuTime
}

// run runs the program while read reads what it writes; it is killed when read
// fails. On Linux it is held to its memory and its processor time by prlimit, which every
// Debian has.
func (c command) run(ctx context.Context, read func(io.Reader) error) error {
	path, err := c.find()
	if err != nil {
		return &envError{err}
	}
	args := c.args
	if limit, err := exec.LookPath("prlimit"); err == nil {
		seconds := max(1, int64(math.Ceil(c.cpuTime.Seconds())))
		args = append([]string{fmt.Sprintf("--cpu=%d:%d", seconds, seconds+1), // it ends at the first, and is killed at the second
			fmt.Sprintf("--as=%d", maxMemory), fmt.Sprintf("--fsize=%d", maxFile), "--core=0", path}, args...)
		path = limit
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Env = []string{"LC_ALL=C.UTF-8", "OMP_THREAD_LIMIT=1"} // no secrets for a parser of untrusted files
	cmd.WaitDelay = 2 * time.Second
	stderr := &head{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return &envError{err}
	}
	if err := cmd.Start(); err != nil {
		return &envError{cmp.Or(context.Cause(ctx), err)}
	}
	defer time.AfterFunc(c.limit(), func() { cancel(errTooLong) }).Stop()
	readErr := read(stdout)
	if readErr != nil {
		cancel(readErr)
	}
	waitErr := cmd.Wait()
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch {
	case ctx.Err() != nil:
		return &envError{context.Cause(ctx)}
	case errors.Is(context.Cause(limited), errTooLong) && used < c.cpuTime: // which says nothing of the file
		return &envError{fmt.Errorf("%s: no end after %v, with less than %v of processor time: is the machine busy?", c.name, c.limit(), c.cpuTime)}
	case waitErr != nil && used > c.cpuTime*2/3: // the limit is counted in ticks: on a busy machine that is more than was used
		return fmt.Errorf("%s: took over %v of processor time", c.name, c.cpuTime)
	case readErr != nil && stderr.buf.Len() > 0:
		return fmt.Errorf("%w: %s: %s", readErr, c.name, stderr)
	case readErr != nil:
		return readErr
	case waitErr != nil:
		return fmt.Errorf("%s: %w: %s", c.name, waitErr, stderr)
	}
	return nil
}

var errTooLong = errors.New("the program takes too long")

// A head keeps the beginning of what is written to it.
type head struct{ buf bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.buf.Write(p[:min(len(p), max(0, 2000-h.buf.Len()))])
	return len(p), nil
}

// String is the beginning on one line.
func (h *head) String() string {
	text := strings.Join(strings.Fields(h.buf.String()), " ")
	return strings.ToValidUTF8(text[:min(len(text), 300)], "")
}

// readLimited reads a file of at most limit bytes.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > limit {
		return nil, fmt.Errorf("over %d bytes", limit) // before it is in memory
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("over %d bytes", limit)
	}
	return data, err
}
