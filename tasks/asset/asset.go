// Package asset gets the files that tasks take from the web: what they begin with,
// and what results are compared with.
//
//	folder, err := asset.Folder("cache", task.ID)
//	file := filepath.Join(folder, "gold.xlsx")
//	err = asset.Get(ctx, "https://example.com/gold.xlsx", file, nil)
//
// Files are kept, in OSWorld's layout: a cache has a folder for each task. Beside
// the files stands [lockName], which keeps their hashes. A file that is not as it
// was when it was first used is an error, whether it changed in the cache or at its
// source: a task must not be judged by another file than before.
package asset

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"desktop-agent/internal/retry"
	"desktop-agent/tasks/env"
)

// lockName is the name of the file with the hashes of the files beside it: a line
// each, with the SHA-256, the name and the URL, apart by tabs.
const lockName = "assets.lock"

// DefaultMax is how many bytes a file may have by default.
const DefaultMax = 1 << 30

const (
	// fetchLimit bounds one try to fetch a file.
	fetchLimit = 300 * time.Second
	// fetchTries is how often a file is tried to be fetched.
	fetchTries = 3
	// firstWait is the time before the second try; before the next it is twice as long.
	firstWait = 250 * time.Millisecond
	// maxWait is how long a server may ask to wait before the next try.
	maxWait = 30 * time.Second
	// maxLock is how many bytes a list of hashes may have.
	maxLock = 8 << 20
)

var (
	// ErrAbsent reports a file that is not there and may not be fetched.
	ErrAbsent = errors.New("not in the cache, and downloads are off")
	// ErrChanged reports a file that is not the one that was first used.
	ErrChanged = errors.New("has changed since it was put there")
)

// Options are the settings of a download; the zero value of each means its default.
type Options struct {
	// Offline takes what is not there from nowhere.
	Offline bool
	// Client fetches; if nil, a client with a limit of 300 s for each try, to public
	// addresses and hosts that the context allows ([Allow]).
	Client *http.Client
	// MaxBytes is how many bytes a file may have; [DefaultMax] if zero.
	MaxBytes int64
	// firstWait and maxWait are those of tests.
	firstWait, maxWait time.Duration
}

// An Asset is a file that a task needs.
type Asset struct {
	Source string // the URL, or the path in the suite
	File   string // where it lies, or will, on this machine; "" if that is not in the cache
	Lacks  bool   // it is not there
}

// Folder returns the folder of a task in a cache.
func Folder(cache, task string) (string, error) {
	switch {
	case cache == "":
		return "", errors.New("no cache folder is given")
	case task == "" || task == "." || !filepath.IsLocal(task) || strings.ContainsAny(task, "/\\\x00\r\n"):
		return "", fmt.Errorf("task id %.100q cannot be the name of a folder", task)
	}
	return filepath.Join(cache, task), nil
}

// Get sees to it that a file is there: it takes it from a URL if it is not, and
// compares it with its hash in the lock beside it, to which it adds one that is new.
// o may be nil.
//
// A server that is busy or broken is asked again, at most three times in all, and
// not before the time that it names.
func Get(ctx context.Context, source, file string, o *Options) error {
	var s Options
	if o != nil {
		s = *o
	}
	if s.Client == nil {
		s.Client = publicClient(ctx)
	}
	if s.MaxBytes == 0 {
		s.MaxBytes = DefaultMax
	}
	if s.maxWait == 0 {
		s.firstWait, s.maxWait = firstWait, maxWait
	}
	switch info, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
		if s.Offline {
			return fmt.Errorf("%w: put it at %s", ErrAbsent, file)
		}
		return s.fetch(ctx, source, file)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: remove it to download it anew", file)
	}
	sum, err := hash(file)
	if err != nil {
		return err
	}
	err = lock(file, sum, source)
	if errors.Is(err, ErrChanged) {
		return fmt.Errorf("%s %w: delete it to download it anew, or its line in %s to keep it", file, ErrChanged, lockOf(file))
	}
	return err
}

// A tryError is a failure that another try may not have.
type tryError struct {
	err   error
	after time.Duration // how long the server asks to wait; 0 if it does not say
}

func (e *tryError) Error() string { return e.err.Error() }
func (e *tryError) Unwrap() error { return e.err }

// fetch downloads a file, which gets its name when it is complete and right.
func (s *Options) fetch(ctx context.Context, source, file string) error {
	wait := s.firstWait
	for n := 1; ; n++ {
		err := s.fetchOnce(ctx, source, file)
		again, ok := errors.AsType[*tryError](err)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !ok:
			return err
		case n == fetchTries:
			return fmt.Errorf("after %d tries: %w", n, err)
		case again.after > s.maxWait:
			return fmt.Errorf("%w: it asks to wait %v, which is too long: try again then", err, again.after)
		}
		select {
		case <-time.After(max(wait, again.after)):
			wait *= 2
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// fetchOnce tries to download a file.
func (s *Options) fetchOnce(ctx context.Context, source, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return err
	}
	if scheme := request.URL.Scheme; scheme != "http" && scheme != "https" {
		return errors.New("only http and https can be fetched")
	}
	response, err := s.Client.Do(request)
	if errors.Is(err, errInside) {
		return err
	}
	if err != nil {
		return &tryError{err: err}
	}
	defer response.Body.Close()
	if code := response.StatusCode; code != http.StatusOK {
		err := fmt.Errorf("the server answers %s", response.Status)
		if code >= 500 || code == http.StatusTooManyRequests {
			return &tryError{err, retry.After(response.Header)}
		}
		return err
	}
	part, sum, err := save(response.Body, file, s.MaxBytes)
	if err != nil {
		return err
	}
	defer os.Remove(part) // fails once it has its name
	err = lock(file, sum, source)
	if errors.Is(err, ErrChanged) {
		return fmt.Errorf("%s %w: its source has another file now; delete its line in %s to take that", file, ErrChanged, lockOf(file))
	} else if err != nil {
		return err
	}
	return os.Rename(part, file)
}

// Save writes a file of at most so many bytes, which gets its name when it is
// complete.
func Save(from io.Reader, file string, most int64) error {
	part, _, err := save(from, file, most)
	if err != nil {
		return err
	}
	if err := os.Rename(part, file); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// save writes a file beside the one that it is to become, and returns its name and
// its hash. A reader that fails is worth another try, and a disk is not.
func save(from io.Reader, file string, most int64) (part, sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", "", err
	}
	to, err := os.CreateTemp(filepath.Dir(file), ".part-*")
	if err != nil {
		return "", "", err
	}
	h, in := sha256.New(), &reading{from: io.LimitReader(from, most+1)}
	n, err := io.Copy(io.MultiWriter(to, h), in)
	if in.err != nil {
		err = &tryError{err: in.err}
	} else if err == nil && n > most {
		err = fmt.Errorf("%w: more than %d bytes", env.ErrTooLarge, most)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return "", "", errors.Join(err, os.Remove(to.Name()))
	}
	return to.Name(), hex.EncodeToString(h.Sum(nil)), nil
}

// reading keeps why a reader failed.
type reading struct {
	from io.Reader
	err  error
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// lockOf returns the list of hashes that a file belongs to.
func lockOf(file string) string { return filepath.Join(filepath.Dir(file), lockName) }

// lock compares the hash of a file with the list beside it. A file that is not in
// the list is added: what lay in the cache before is trusted.
func lock(file, sum, source string) error {
	list, err := os.OpenFile(lockOf(file), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer list.Close()
	if info, err := list.Stat(); err != nil {
		return err
	} else if info.Size() > maxLock {
		return fmt.Errorf("%s has more than %d bytes: it is no list of hashes", list.Name(), maxLock)
	}
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), "\t", 3)
		if len(fields) < 3 || fields[1] != filepath.Base(file) {
			continue
		}
		if fields[0] != sum {
			return ErrChanged
		}
		return nil
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", list.Name(), err)
	}
	source = strings.Map(func(c rune) rune {
		if c < ' ' {
			return -1
		}
		return c
	}, source)
	// One write, so that lines of several processes do not mix.
	_, err = fmt.Fprintf(list, "%s\t%s\t%s\n", sum, filepath.Base(file), source)
	return err
}

// hash returns the SHA-256 of a file.
func hash(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
