package llmtest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Failures runs a test on a stand-in for t, and returns what it failed with: for
// the tests of what tests are made of. What the test logs, and what it leaves to
// be cleaned up, goes to t.
func Failures(t testing.TB, test func(testing.TB)) []string {
	w := &witness{TB: t}
	done := make(chan struct{})
	go func() { // of its own: FailNow ends it
		defer close(done)
		test(w)
	}()
	<-done
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

// A witness is a test that may fail.
type witness struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (w *witness) Fail() { w.note("failed") }

func (w *witness) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, strings.TrimSpace(text))
}

func (w *witness) Failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.said) > 0
}

func (w *witness) FailNow() {
	if !w.Failed() {
		w.Fail()
	}
	runtime.Goexit()
}

func (w *witness) Helper()                           {}
func (w *witness) Error(args ...any)                 { w.note(fmt.Sprintln(args...)) }
func (w *witness) Errorf(format string, args ...any) { w.note(fmt.Sprintf(format, args...)) }

func (w *witness) Fatal(args ...any) {
	w.Error(args...)
	w.FailNow()
}

func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	w.FailNow()
}
