//go:build linux

package ocr_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/screen"
	"desktop-agent/screen/ocr"
)

// program writes a program that says which languages there are, as tesseract does,
// and else does what the shell is told.
func program(t *testing.T, does string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tesseract")
	script := "#!/bin/sh\nif [ \"$1\" = --list-langs ]; then printf 'List of available languages (1):\\neng\\n'; exit; fi\n" + does + "\n"
	// A process that is forked while the file is open for writing has it open too, until
	// it becomes another program; and a file that somebody writes cannot be run.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	return path
}

// striped is a white picture with some bands of ink, each other than all before.
func striped(bands int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 200, 20*bands))
	draw.Draw(m, m.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	for i := range bands {
		bits := rand.Uint64()
		for x := 5; x < 195; x += 6 { // wider than a text cursor
			if bits >>= 1; x == 5 || bits&1 == 1 {
				draw.Draw(m, image.Rect(x, 20*i+4, x+6, 20*i+14), image.NewUniform(color.Black), image.Point{}, draw.Src)
			}
		}
	}
	return m
}

func TestMissing(t *testing.T) {
	_, err := ocr.Open(limit(t), &ocr.Options{Program: filepath.Join(t.TempDir(), "tesseract")})
	require.ErrorIs(t, err, ocr.ErrMissing)
	assert.ErrorContains(t, err, "apt-get install tesseract-ocr")
	_, err = ocr.Open(limit(t), &ocr.Options{Program: program(t, ""), Languages: "eng+chi_sim"})
	require.ErrorContains(t, err, `does not know the language "chi_sim", but eng: apt-get install tesseract-ocr-chi-sim`)
	_, err = ocr.Open(limit(t), &ocr.Options{Program: "true"})
	require.ErrorContains(t, err, "it is no tesseract")
}

func TestFailures(t *testing.T) {
	for name, tt := range map[string]struct{ does, want string }{
		"says too much":  {"yes | head -c 10000000; sleep 60", "printed more than"},
		"says rubbish":   {"cat >/dev/null; echo hello", "no table of words"},
		"a broken table": {`cat >/dev/null; printf 'level\tpage_num\tx\n5\t1\n'`, "2 fields, not 12"},
		"no numbers":     {`cat >/dev/null; printf 'level\tpage_num\tx\n5\ta\tb\tc\td\te\tf\tg\th\ti\tj\tk\n'`, "invalid syntax"},
		"is killed":      {"kill -9 $$", "signal: killed"},
		"fails":          {"cat >/dev/null; echo 'no memory' >&2; exit 3", "exit status 3: no memory"},
		"hangs":          {"sleep 60", "no answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := unhurried
			o.Program, o.Again = program(t, tt.does), time.Hour
			if name == "hangs" {
				o.Limit = 200 * time.Millisecond
			}
			r := open(t, o)
			m := striped(1)
			lines, err := r.Lines(limit(t), m, []image.Rectangle{m.Rect})
			require.ErrorContains(t, err, tt.want)
			assert.Empty(t, lines)
			_, err = r.Lines(limit(t), m, []image.Rectangle{m.Rect})
			require.ErrorContains(t, err, tt.want, "it is not taken for blank")
			assert.Equal(t, 1, r.Started(), "what failed is not tried again at once")
			for range 2 {
				m = striped(1)
				_, err = r.Lines(limit(t), m, []image.Rectangle{m.Rect})
				require.ErrorContains(t, err, tt.want)
			}
			m = striped(1)
			_, err = r.Lines(limit(t), m, []image.Rectangle{m.Rect})
			require.ErrorContains(t, err, "gave up after 3 failures")
			assert.Equal(t, 3, r.Started())
		})
	}
}

// TestReadAfterFailures holds that what could not be read is read once that can be done,
// also after so many failures that none is tried for a while.
func TestReadAfterFailures(t *testing.T) {
	go1 := filepath.Join(t.TempDir(), "go")
	row := `5\t1\t1\t1\t1\t1\t24\t24\t60\t20\t95\thello`
	o := unhurried
	o.Again = 100 * time.Millisecond
	o.Program = program(t, "cat >/dev/null; [ -e "+go1+" ] || kill -9 $$; printf 'level\\tpage_num\\tx\\n"+row+"\\n'")
	r := open(t, o)
	pictures := []*image.RGBA{striped(1), striped(1), striped(1)}
	for _, m := range pictures {
		_, err := r.Lines(limit(t), m, []image.Rectangle{m.Rect})
		require.ErrorContains(t, err, "signal: killed")
	}
	require.NoError(t, os.WriteFile(go1, nil, 0o600))
	for _, m := range pictures {
		require.Eventually(t, func() bool {
			lines, err := r.Lines(limit(t), m, []image.Rectangle{m.Rect})
			return len(lines) == 1 && err == nil
		}, time.Minute, 10*time.Millisecond)
	}
}

// TestKnownAfterFailures holds that nothing is amiss with a picture that was read before,
// while the reader has given up.
func TestKnownAfterFailures(t *testing.T) {
	fails := filepath.Join(t.TempDir(), "fails")
	row := `5\t1\t1\t1\t1\t1\t24\t24\t60\t20\t95\thello`
	o := unhurried
	o.Again = time.Hour
	o.Program = program(t, "cat >/dev/null; [ -e "+fails+" ] && kill -9 $$; printf 'level\\tpage_num\\tx\\n"+row+"\\n'")
	r := open(t, o)
	known, other := striped(1), striped(1)
	lines, err := r.Lines(limit(t), known, []image.Rectangle{known.Rect})
	require.NoError(t, err)
	require.Len(t, lines, 1)
	require.NoError(t, os.WriteFile(fails, nil, 0o600))
	for range 3 {
		m := striped(1)
		_, err = r.Lines(limit(t), m, []image.Rectangle{m.Rect})
		require.ErrorContains(t, err, "signal: killed")
	}
	_, err = r.Lines(limit(t), other, []image.Rectangle{other.Rect})
	require.ErrorContains(t, err, "gave up after 3 failures")
	again, err := r.Lines(limit(t), known, []image.Rectangle{known.Rect})
	require.NoError(t, err)
	assert.Equal(t, lines, again)
	assert.Equal(t, 4, r.Started())
}

// TestSlow holds that a slow tesseract costs only the wait, and that what it reads
// is there for a later call.
func TestSlow(t *testing.T) {
	go1 := filepath.Join(t.TempDir(), "go")
	row := `5\t1\t1\t1\t1\t1\t24\t24\t60\t20\t95\thello`
	r := open(t, ocr.Options{Wait: 50 * time.Millisecond, Limit: time.Minute, Program: program(t,
		"cat >/dev/null; while [ ! -e "+go1+" ]; do sleep .05; done; printf 'level\\tpage_num\\tx\\n"+row+"\\n'")})
	m := striped(1)
	lines, err := r.Lines(limit(t), m, []image.Rectangle{m.Rect})
	require.ErrorIs(t, err, screen.ErrUnread)
	require.Empty(t, lines)
	require.NoError(t, os.WriteFile(go1, nil, 0o600))
	require.Eventually(t, func() bool {
		lines, err = r.Lines(limit(t), m, []image.Rectangle{m.Rect})
		return len(lines) == 1 && err == nil
	}, time.Minute, 10*time.Millisecond)
	assert.Equal(t, "hello", lines[0].Text)
	assert.InDelta(t, .95, lines[0].Confidence, 1e-9)
	assert.True(t, lines[0].Box.In(m.Rect), "%v", lines[0].Box)
	assert.Equal(t, 1, r.Started())
}

// TestEnds holds that nothing of a process is left when the context ends, when the
// reader is closed, and when the program is killed.
func TestEnds(t *testing.T) {
	folder := t.TempDir()
	pids := filepath.Join(folder, "pids")
	does := "sleep 300 & echo $! $$ > " + pids + ".new; mv " + pids + ".new " + pids + "; wait"
	begun := func(t *testing.T) (list []int) {
		require.Eventually(t, func() bool {
			text, err := os.ReadFile(pids)
			if err != nil {
				return false
			}
			require.NoError(t, os.Remove(pids))
			for word := range strings.FieldsSeq(string(text)) {
				n, err := strconv.Atoi(word)
				require.NoError(t, err)
				list = append(list, n)
			}
			return true
		}, time.Minute, 5*time.Millisecond)
		require.Len(t, list, 2)
		return list
	}
	gone := func(t *testing.T, pid int) {
		require.Eventually(t, func() bool { return !alive(pid) }, time.Minute, 5*time.Millisecond, "process %d", pid)
	}
	path := program(t, does)
	t.Run("the context ends", func(t *testing.T) {
		o := unhurried
		o.Program = path
		r := open(t, o)
		ctx, cancel := context.WithCancelCause(limit(t))
		failed := make(chan error, 1)
		go func() {
			m := striped(1)
			_, err := r.Lines(ctx, m, []image.Rectangle{m.Rect})
			failed <- err
		}()
		list := begun(t)
		cancel(fmt.Errorf("enough"))
		require.ErrorContains(t, <-failed, "enough")
		gone(t, list[0])
		gone(t, list[1])
	})
	t.Run("the reader is closed", func(t *testing.T) {
		r, err := ocr.Open(limit(t), &ocr.Options{Program: path, Wait: time.Millisecond, Limit: time.Minute})
		require.NoError(t, err)
		m := striped(1)
		_, err = r.Lines(limit(t), m, []image.Rectangle{m.Rect})
		require.ErrorIs(t, err, screen.ErrUnread)
		list := begun(t)
		require.NoError(t, r.Close())
		gone(t, list[0])
		gone(t, list[1])
		_, err = r.Lines(limit(t), striped(1), []image.Rectangle{m.Rect})
		require.ErrorContains(t, err, "closed")
	})
	t.Run("the program is killed", func(t *testing.T) {
		self := exec.Command(os.Args[0])
		self.Env = append(os.Environ(), readerVariable+"="+path, "GORACE=atexit_sleep_ms=0")
		require.NoError(t, self.Start())
		list := begun(t)
		require.NoError(t, self.Process.Kill())
		_ = self.Wait()
		gone(t, list[1])
		_ = syscall.Kill(list[0], syscall.SIGKILL) // the kernel kills the process, not what that started
	})
}

// alive reports whether a process runs, and is no zombie that nobody waits for.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}

// readerVariable makes the test binary read a picture with the program that it names.
const readerVariable = "OCR_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if path := os.Getenv(readerVariable); path != "" {
		r, err := ocr.Open(context.Background(), &ocr.Options{Program: path, Wait: time.Hour, Limit: time.Hour})
		if err == nil {
			_, err = r.Lines(context.Background(), striped(1), []image.Rectangle{image.Rect(0, 0, 200, 20)})
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestLarge holds that a picture of 8K is bounded in time and memory, whatever it
// shows: here noise, which no text is in.
func TestLarge(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 7680, 4320))
	noise := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(m.Pix); i += 4 {
		v := noise.Uint32()
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = uint8(v), uint8(v>>8), uint8(v>>16), 0xff
	}
	r := open(t, ocr.Options{Wait: time.Millisecond, Limit: time.Second})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := r.Lines(limit(t), m, []image.Rectangle{m.Rect})
	require.ErrorIs(t, err, screen.ErrUnread)
	require.NoError(t, r.Close())
	runtime.ReadMemStats(&after)
	t.Logf("%d MB allocated", (after.TotalAlloc-before.TotalAlloc)>>20)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(600<<20))
}
