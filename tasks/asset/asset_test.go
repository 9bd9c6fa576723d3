package asset

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"desktop-agent/tasks/env"
)

// A web is a server that gives answers in order, the last of them for ever.
type web struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer
	asked   []time.Time
}

type answer struct {
	code  int
	after string // Retry-After
	body  string
}

func serve(t *testing.T, answers ...answer) *web {
	w := &web{answers: answers}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		a := w.answers[min(len(w.asked), len(w.answers)-1)]
		w.asked = append(w.asked, time.Now())
		if a.after != "" {
			rw.Header().Set("Retry-After", a.after)
		}
		if a.code == 0 { // breaks off
			rw.Header().Set("Content-Length", "100")
			_, _ = rw.Write([]byte(a.body))
			panic(http.ErrAbortHandler)
		}
		rw.WriteHeader(a.code)
		_, _ = rw.Write([]byte(a.body))
	}))
	t.Cleanup(w.Close)
	return w
}

// times returns when it was asked.
func (w *web) times() []time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// quick does not make tests wait.
func (w *web) quick() *Options {
	return &Options{Client: w.Client(), firstWait: time.Millisecond, maxWait: 2 * time.Second}
}

func content(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// echo -n content | sha256sum
const sum = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"

func TestGet(t *testing.T) {
	w := serve(t, answer{code: 200, body: "content"}, answer{code: 200, body: "another"})
	file := filepath.Join(t.TempDir(), "task", "sub", "a b.txt")
	offline := w.quick()
	offline.Offline = true
	require.ErrorIs(t, Get(t.Context(), w.URL, file, offline), ErrAbsent)
	assert.NoFileExists(t, filepath.Dir(file))

	require.NoError(t, Get(t.Context(), w.URL+"/x", file, w.quick()))
	assert.Equal(t, "content", content(t, file))
	lock := filepath.Join(filepath.Dir(file), lockName)
	assert.Equal(t, sum+"\ta b.txt\t"+w.URL+"/x\n", content(t, lock))
	require.NoError(t, Get(t.Context(), w.URL, file, offline), "it is there now")
	assert.Len(t, w.times(), 1)
	assert.Equal(t, 1, strings.Count(content(t, lock), "\n"))
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing else is left")
}

// A file is what it was when it was first used, or an error.
func TestChanged(t *testing.T) {
	w := serve(t, answer{code: 200, body: "content"}, answer{code: 200, body: "another"})
	file := filepath.Join(t.TempDir(), "gold.txt")
	require.NoError(t, Get(t.Context(), w.URL, file, w.quick()))

	// In the cache.
	require.NoError(t, os.WriteFile(file, []byte("changed"), 0o644))
	err := Get(t.Context(), w.URL, file, w.quick())
	require.ErrorIs(t, err, ErrChanged)
	assert.ErrorContains(t, err, file+" has changed since it was put there: delete it to download it anew, or its line in ")
	assert.Equal(t, "changed", content(t, file), "it is for a person to see")

	// At its source: the new file does not get into the cache.
	require.NoError(t, os.Remove(file))
	err = Get(t.Context(), w.URL, file, w.quick())
	require.ErrorIs(t, err, ErrChanged)
	assert.ErrorContains(t, err, "its source has another file now")
	assert.NoFileExists(t, file)
	assert.Len(t, w.times(), 2, "it is not asked for again")
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1, "the lock alone is left")

	// Without its line it is new.
	require.NoError(t, os.Remove(lockOf(file)))
	require.NoError(t, Get(t.Context(), w.URL, file, w.quick()))
	assert.Equal(t, "another", content(t, file))

	// What lay in the cache before is trusted once.
	own := filepath.Join(filepath.Dir(file), "own")
	require.NoError(t, os.WriteFile(own, []byte("own"), 0o644))
	require.NoError(t, Get(t.Context(), "http://a\t\nb", own, w.quick()))
	assert.Contains(t, content(t, lockOf(own)), "\town\thttp://ab\n")
	require.NoError(t, os.WriteFile(own, []byte("xyz"), 0o644))
	require.ErrorIs(t, Get(t.Context(), w.URL, own, w.quick()), ErrChanged)
}

func TestRetry(t *testing.T) {
	good := answer{code: 200, body: "content"}
	for _, tt := range []struct {
		name    string
		answers []answer
		asked   int
		least   time.Duration // between the first two
		want    string        // part of the error; "" for none
	}{
		{"429, then 200", []answer{{code: 429, after: "1"}, good}, 2, time.Second, ""},
		{"429 without a time", []answer{{code: 429}, good}, 2, time.Millisecond, ""},
		{"503 twice", []answer{{code: 503}, {code: 503, after: "0"}, good}, 3, 0, ""},
		{"broken off", []answer{{body: "con"}, good}, 2, 0, ""},
		{"always busy", []answer{{code: 429}}, 3, 0, "after 3 tries: the server answers 429"},
		{"always broken off", []answer{{body: "con"}}, 3, 0, "after 3 tries: "},
		{"asks for too much", []answer{{code: 429, after: "3600"}, good}, 1, 0, "it asks to wait 1h0m0s"},
		{"not there", []answer{{code: 404, after: "0"}, good}, 1, 0, "the server answers 404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tt.answers...)
			file := filepath.Join(t.TempDir(), "a")
			err := Get(t.Context(), w.URL, file, w.quick())
			asked := w.times()
			require.Len(t, asked, tt.asked)
			if tt.asked > 1 {
				assert.GreaterOrEqual(t, asked[1].Sub(asked[0]), tt.least)
			}
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				assert.NoFileExists(t, file)
				assert.NoFileExists(t, lockOf(file))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "content", content(t, file))
		})
	}
}

// A wait ends with the context.
func TestStopped(t *testing.T) {
	w := serve(t, answer{code: 429, after: "3600"})
	o := w.quick()
	o.maxWait = time.Hour
	why := errors.New("nobody waits")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
	defer cancel()
	begun := time.Now()
	require.ErrorIs(t, Get(ctx, w.URL, filepath.Join(t.TempDir(), "a"), o), why)
	assert.Less(t, time.Since(begun), time.Minute)
}

func TestBadInput(t *testing.T) {
	w := serve(t, answer{code: 200, body: "content"})
	file := filepath.Join(t.TempDir(), "a")
	require.ErrorContains(t, Get(t.Context(), "ftp://127.0.0.1/a", file, nil), "only http and https")
	require.ErrorContains(t, Get(t.Context(), "http://[", file, nil), "missing ']'")
	small := w.quick()
	small.MaxBytes = 6
	require.ErrorIs(t, Get(t.Context(), w.URL, file, small), env.ErrTooLarge)
	assert.Len(t, w.times(), 1, "what is too large is not asked for again")
	assert.NoFileExists(t, file)
	small.MaxBytes = 7
	require.NoError(t, Get(t.Context(), w.URL, file, small))

	folder := filepath.Join(t.TempDir(), "b")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.ErrorContains(t, Get(t.Context(), w.URL, folder, w.quick()), "not a regular file")
	require.NoError(t, os.WriteFile(lockOf(folder), make([]byte, maxLock+1), 0o644))
	require.ErrorContains(t, Get(t.Context(), w.URL, filepath.Join(filepath.Dir(folder), "c"), w.quick()), "no list of hashes")

	for _, bad := range []string{"", ".", "..", "a/b", "/a", `a\b`, "a\x00"} {
		_, err := Folder("cache", bad)
		assert.ErrorContains(t, err, "cannot be the name of a folder", "%q", bad)
	}
	_, err := Folder("", "id")
	require.ErrorContains(t, err, "no cache")
	got, err := Folder("cache", "id")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join("cache", "id"), got)
}

func TestSave(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "a")
	require.NoError(t, Save(strings.NewReader("content"), file, 7))
	assert.Equal(t, "content", content(t, file))
	require.ErrorIs(t, Save(strings.NewReader("contents"), file, 7), env.ErrTooLarge)
	assert.Equal(t, "content", content(t, file))
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}
